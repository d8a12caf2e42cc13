"""Where the browser comes back to after a login: one address on this machine, for one answer."""

import asyncio
from urllib.parse import parse_qsl

from toolwright.mcp.exchange import Exchange, read_request


class Callback:
    """Listens while it is open. Opening it raises OSError where the port cannot be used; 0 takes any."""

    def __init__(self, port: int, path: str) -> None:
        self.answered: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        """What the browser brings."""
        self.port, self._path = port, path
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Callback":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        exchange = Exchange(reader, writer)
        try:
            if await read_request(exchange) and exchange.path == self._path and exchange.method == "GET":
                if not self.answered.done():
                    self.answered.set_result(dict(parse_qsl(exchange.query)))
                await exchange.page("You can close this page and go back to the terminal.")
            else:
                await exchange.accept(404)
        except (OSError, ValueError):
            return
        finally:
            writer.close()

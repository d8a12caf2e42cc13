"""The address that the browser comes back to after a login: on this machine, for one answer."""

import asyncio
from urllib.parse import parse_qsl

from toolwright.deadline import time_limit
from toolwright.machine.own_ports import listen

SECONDS = 30.0
"""Seconds that a browser may take for its request."""
_PAGE = b"You can close this page and go back to the terminal."


class Callback:
    """Listens while it is open. Opening it raises OSError where the port cannot be used; 0 takes any."""

    def __init__(self, port: int, path: str, *, tunnel: bool = False) -> None:
        """`tunnel` lets programs in that cannot be seen, such as tunnels of ssh."""
        self.answered: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        """Parameters that the browser brings."""
        self.port, self._path, self._tunnel = port, path, tunnel
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Callback":
        door = listen("login", "127.0.0.1", self.port, tunnel=self._tunnel)
        self._server = await asyncio.start_server(self._connected, sock=door)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the address that is asked for; nothing else of the request matters."""
        try:
            async with time_limit(SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            method, _, rest = head.decode("latin-1").partition(" ")
            path, _, query = rest.partition(" ")[0].partition("?")
            if method == "GET" and path == self._path:
                if not self.answered.done():
                    self.answered.set_result(dict(parse_qsl(query)))
                writer.write(_answer("200 OK", _PAGE))
            else:
                writer.write(_answer("404 Not Found", b""))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # it hung up, said nothing, or is no browser
        finally:
            writer.close()


def _answer(status: str, body: bytes) -> bytes:
    about = f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"HTTP/1.1 {status}\r\n{about}\r\n\r\n".encode() + body

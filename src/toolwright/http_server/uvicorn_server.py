"""uvicorn as our servers use it: without its signals, its log and its word of itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import uvicorn

from toolwright.http_server.connection import HttpConnection
from toolwright.http_server.guard import App

LONGEST = 1024 * 1024
"""Bytes of one message over a WebSocket."""
PATIENCE = 2
"""Seconds that open connections are given at the end."""


class Server(uvicorn.Server):
    """Serves an application of the ASGI form."""

    def __init__(self, app: App, *, sockets: bool = False) -> None:
        """`sockets` is whether it answers WebSockets too, where what they need is installed."""
        super().__init__(
            uvicorn.Config(
                app,
                http=HttpConnection,
                ws="websockets-sansio" if sockets and find_spec("websockets") else "none",
                ws_max_size=LONGEST,
                lifespan="off",
                loop="asyncio",
                log_config=None,
                # What a stranger sends is answered; it is no reason to fill the person's terminal.
                log_level="error",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=PATIENCE,
                timeout_keep_alive=75,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to whoever runs it."""
        yield

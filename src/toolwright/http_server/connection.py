"""One connection: what is written to it in one go of the event loop leaves as one piece.

The head of an answer and its body would go out one by one, and every client would wake twice for each answer.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST = 64 * 1024
"""Bytes that are held back; beyond, they leave at once."""


class HttpConnection(HttpToolsProtocol):
    """The protocol as it is, over a transport that joins."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(_Joined(transport))


class _Joined(asyncio.Transport):
    """Holds what is written until the event loop comes round."""

    def __init__(self, transport: Any) -> None:
        super().__init__()
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> None:
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > LARGEST:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            joined = self._held[0] if len(self._held) == 1 else b"".join(self._held)
            self._held.clear()
            self._size = 0
            self._transport.write(joined)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._held.clear()
        self._transport.abort()

    def is_closing(self) -> bool:
        return bool(self._transport.is_closing())

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._transport.set_protocol(protocol)

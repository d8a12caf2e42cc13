"""Both ends of a socket pair: at one a peer speaks, and at the other its messages are taken out and put in."""

import json
import socket
from asyncio import StreamReader, StreamWriter, open_connection
from collections.abc import AsyncIterator
from typing import Any

from toolwright.mcp.client.link import LARGEST, Handlers
from toolwright.protocols.framing import LineFraming
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import MCP, Peer


class LinkPipes:
    """The peer at one end, we at the other."""

    def __init__(self, peer: Peer, reader: StreamReader, writer: StreamWriter) -> None:
        self.peer = peer
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, handlers: Handlers) -> "LinkPipes":
        theirs_end, ours_end = socket.socketpair()
        theirs = await open_connection(sock=theirs_end)
        reader, writer = await open_connection(sock=ours_end)
        peer = Peer(*theirs, MCP, answer=handlers.answer, notified=handlers.notified, largest=LARGEST)
        peer.start()
        return cls(peer, reader, writer)

    async def outgoing(self) -> AsyncIterator[Json]:
        frames = LineFraming(LARGEST)
        while data := await self._reader.read(64 * 1024):
            for line in frames.feed(data):
                yield json.loads(line)

    def send_nowait(self, message: Any) -> None:
        if message is not None and not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def send(self, message: Any) -> None:
        """The same, waiting while the peer is slow to take it."""
        self.send_nowait(message)
        if not self._writer.is_closing():
            await self._writer.drain()

    def send_eof(self) -> None:
        """Let the peer know that no more will come, after what was put."""
        if not self._writer.is_closing() and self._writer.can_write_eof():
            self._writer.write_eof()

    def close(self) -> None:
        self._writer.close()

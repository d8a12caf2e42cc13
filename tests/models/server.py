"""A provider on loopback that answers with exactly the bytes a test has written, in the pieces it wants."""

import asyncio
import json
import socket
import struct
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server does with one request. A number among the pieces is a pause in seconds."""

    pieces: Sequence[bytes | float] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait: float = 0.0
    """Seconds before the first byte."""
    end: Literal["whole", "close", "reset"] = "whole"
    """Whether the body is completed, or the connection closed or reset in the middle of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request the server got."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


class Server:
    """Gives its answers in order; the last one again and again."""

    def __init__(self) -> None:
        self.answers: deque[Answer] = deque()
        self.seen: list[Seen] = []
        self.asked = asyncio.Event()
        self.connections = 0
        self.url = ""

    def answer(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    def stream(self, *events: bytes | float, **options: Any) -> None:
        self.answer(Answer(pieces=events, **options))

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (seen := await _request(reader)) is not None:
                self.seen.append(seen)
                self.asked.set()
                answer = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
                await _play(answer, writer)
                if answer.end != "whole":
                    return
        except (ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def serving(port: int = 0) -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.handle, "127.0.0.1", port)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listening.close()


@asynccontextmanager
async def listened_to(server: asyncio.Server) -> AsyncIterator[None]:
    """Close a server at the end. `async with server` would wait for all its connections, from Python 3.12 on."""
    try:
        yield
    finally:
        server.close()


async def _request(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(path=first.split()[1], headers=headers, raw=raw)


async def _play(answer: Answer, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(answer.wait)
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **answer.headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} Said\r\n{lines}\r\n".encode())
    for piece in answer.pieces:
        if isinstance(piece, float):
            await writer.drain()
            await asyncio.sleep(piece)
        elif piece:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    if answer.end == "reset":
        await writer.drain()
        await asyncio.sleep(0.05)
        plain: socket.socket = writer.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return
    if answer.end == "whole":
        writer.write(b"0\r\n\r\n")
    await writer.drain()

"""One request over HTTP and its answer, for servers that break off where no library would."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import field
from http import HTTPStatus

from toolwright.protocols.json_types import Json
from toolwright.record import record


@record(slots=True)
class Exchange:
    """What was asked, and the way to answer: at once as JSON, or as events if something is said before."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    method: str = ""
    path: str = ""
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    more: dict[str, str] = field(default_factory=dict[str, str])
    """Headers to send with the answer."""
    goes_on: bool = True
    """Whether the connection can take another request."""
    streaming: bool = False

    async def answer(self, message: Json, status: int = 200) -> None:
        if self.streaming:
            await self.event(message)
        else:
            await self._send(status, "application/json", json.dumps(message).encode())

    async def event(self, message: Json) -> None:
        """Say something before the answer; from then on the answer is a stream of events."""
        if not self.streaming:
            self.streaming, self.goes_on = True, False
            self._head(200, {"content-type": "text/event-stream", "cache-control": "no-cache", "connection": "close"})
        self.writer.write(b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n")
        await self.writer.drain()

    async def accept(self, status: int = 202) -> None:
        await self._send(status, "", b"")

    async def _send(self, status: int, kind: str, body: bytes) -> None:
        about = {"content-length": str(len(body))} if status != HTTPStatus.NO_CONTENT else {}
        self._head(status, about | ({"content-type": kind} if kind else {}))
        self.writer.write(body)
        await self.writer.drain()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += (f"{name}: {value}" for name, value in {**headers, **self.more}.items())
        self.more = {}
        self.writer.write("\r\n".join([*lines, "", ""]).encode())


async def read_request(exchange: Exchange) -> bool:
    """Take in the next request; False if there is none."""
    try:
        head = await exchange.reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return False
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    exchange.method = words[0]
    exchange.path, _, exchange.query = words[1].partition("?")
    exchange.headers = {}
    for line in filter(None, lines):
        name, _, value = line.partition(":")
        key = name.strip().lower()
        exchange.headers[key] = (
            f"{exchange.headers[key]}, {value.strip()}" if key in exchange.headers else value.strip()
        )
    exchange.body = await exchange.reader.readexactly(int(exchange.headers.get("content-length", "0")))
    exchange.goes_on = exchange.headers.get("connection", "").lower() != "close"
    return True

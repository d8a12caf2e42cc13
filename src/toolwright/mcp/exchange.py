"""One request over HTTP and its answer: just as much of HTTP as the protocol needs."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import field
from http import HTTPStatus

from toolwright.jsontypes import Json
from toolwright.record import record
from toolwright.rpc import INVALID_REQUEST

HEAD = 64 * 1024
"""Bytes that the headers of a request may have."""
BODY = 32 * 1024 * 1024
"""Bytes that a request may have."""
IDLE = 300.0
"""Seconds that a connection is kept without a request."""


class RpcProblem(Exception):
    """A request that is not carried out: the status of the answer, and why."""

    def __init__(
        self,
        status: int,
        text: str,
        headers: Mapping[str, str] | None = None,
        *,
        code: int = INVALID_REQUEST,
        message: Json | None = None,
    ) -> None:
        super().__init__(text)
        self.status, self.code = status, code
        self.headers = dict(headers or {})
        self.request_id = (message or {}).get("id")


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

    async def page(self, text: str) -> None:
        """A line for a person in a browser."""
        await self._send(200, "text/plain; charset=utf-8", text.encode())

    async def refuse(self, problem: RpcProblem) -> None:
        self.more |= problem.headers
        error = {"code": problem.code, "message": str(problem)}
        body = {"jsonrpc": "2.0", "id": problem.request_id, "error": error}
        await self._send(problem.status, "application/json", json.dumps(body).encode())

    async def hung_up(self) -> None:
        """Return once the client has closed the connection; it says nothing more before it has its answer."""
        if await self.reader.read(1):
            self.goes_on = False
            await asyncio.get_running_loop().create_future()

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
        async with asyncio.timeout(IDLE):
            head = await exchange.reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        return False
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(head) > HEAD or len(words) != 3 or not words[2].startswith("HTTP/1."):
        exchange.goes_on = False
        raise RpcProblem(400, "This is not an HTTP request.")
    exchange.method = words[0]
    exchange.path, _, exchange.query = words[1].partition("?")
    exchange.headers = {}
    for line in filter(None, lines):
        name, _, value = line.partition(":")
        key = name.strip().lower()
        exchange.headers[key] = (
            f"{exchange.headers[key]}, {value.strip()}" if key in exchange.headers else value.strip()
        )
    exchange.body = await _body(exchange)
    exchange.goes_on = exchange.headers.get("connection", "").lower() != "close"
    return True


async def _body(exchange: Exchange) -> bytes:
    length = exchange.headers.get("content-length", "0")
    if "transfer-encoding" in exchange.headers or not length.isdigit():
        exchange.goes_on = False
        raise RpcProblem(411, "The request needs a Content-Length.")
    if int(length) > BODY:
        exchange.goes_on = False
        raise RpcProblem(413, f"A request has at most {BODY:,} bytes.")
    return await exchange.reader.readexactly(int(length))

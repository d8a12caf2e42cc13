"""Our own client, judged by httpx2: from the same server both read the same, and fail at the same."""

import asyncio
import gzip
import os
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest

from tests.models.server import listened_to
from toolwright.models.transport.connections import ConnectionPool, NoConnection
from toolwright.protocols.http_answer import BadAnswer

HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nx: 1\r\n\r\n"
Read = tuple[int, bytes] | None
"""What a client has read: the status and the content; None where it says that it failed."""
Ask = Callable[[str], Awaitable[Read]]


class Played:
    """A server that gives everybody one answer, and then hangs up, cuts the connection or waits for more."""

    def __init__(self, answer: bytes, end: str) -> None:
        self.answer, self.end = answer, end
        self.connections = 0
        self.requests: list[tuple[bytes, dict[bytes, bytes]]] = []
        """First line and headers of what was asked."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                first, *lines = (await reader.readuntil(b"\r\n\r\n")).strip().split(b"\r\n")
                headers = dict(line.lower().split(b": ", 1) for line in lines)
                self.requests.append((first, headers))
                await reader.readexactly(int(headers.get(b"content-length", b"0")))
                writer.write(self.answer)
                await writer.drain()
                if self.end == "cuts":
                    writer.transport.abort()
                if self.end != "waits":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def played(answer: bytes, end: str = "waits") -> AsyncIterator[tuple[Played, str]]:
    server = Played(answer, end)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with listened_to(listening):
        yield server, f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def ours(*, local: bool = True) -> AsyncIterator[Ask]:
    pool = ConnectionPool(local=local, silence=30)

    async def ask(url: str) -> Read:
        try:
            async with pool.post(url, b"{}", {"content-type": "application/json"}) as answer:
                return answer.head.status, b"".join([piece async for piece in answer.pieces])
        except (BadAnswer, NoConnection, OSError):
            return None

    try:
        yield ask
    finally:
        await pool.close()


@asynccontextmanager
async def judge(*, local: bool = True) -> AsyncIterator[Ask]:
    async with httpx2.AsyncClient(trust_env=not local, headers={"content-type": "application/json"}) as client:

        async def ask(url: str) -> Read:
            try:
                answer = await client.post(url, content=b"{}")
                return answer.status_code, answer.content
            except httpx2.HTTPError:
                return None

        yield ask


def packed(coding: str, data: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def moved(status: int) -> bytes:
    return f"HTTP/1.1 {status} X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nno".encode()


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (HELLO, "waits"),
        (CHUNKED, "waits"),
        (packed("gzip", gzip.compress(b"hello " * 1000, mtime=0)), "waits"),
        (packed("deflate", zlib.compress(b"hello")), "waits"),
        (packed("gzip", gzip.compress(b"hello", mtime=0)[:-9]), "hangs up"),
        (packed("gzip", b"hello"), "hangs up"),
        (HELLO.replace(b"5", b"7"), "hangs up"),
        (HELLO.replace(b"content-length", b"connection: close\r\ncontent-length"), "hangs up"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", "hangs up"),
        (b"HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n" + HELLO, "waits"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "waits"),
        (b"HTTP/1.1 500 Broken\r\ncontent-length: 2\r\n\r\nno", "waits"),
        (b"HTTP/1.1 429 Later\r\nretry-after: 7\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", "waits"),
        (CHUNKED.replace(b"3;x=y", b"zz"), "hangs up"),
        (b"SSH-2.0-x\r\n\r\n", "hangs up"),
        *((moved(status), "waits") for status in (301, 302, 303, 307, 308)),
    ],
)
async def test_answers_are_read_and_connections_kept_alike(answer: bytes, end: str) -> None:
    async with played(answer, end) as (server, place), ours() as ask, judge() as judged:
        read = [await ask(f"http://{place}/v1?a=b") for _ in range(3)]
        assert end != "waits" or None not in read
        connections, requests = server.connections, [*server.requests]
        assert read == [await judged(f"http://{place}/v1?a=b") for _ in range(3)]
        assert server.connections - connections == connections
        theirs = server.requests[len(requests) :]
        assert [line for line, _ in requests] == [line for line, _ in theirs]
        for name in (b"host", b"content-length", b"content-type"):
            assert {headers[name] for _, headers in requests} == {headers[name] for _, headers in theirs}


@pytest.mark.parametrize("answer", [HELLO, CHUNKED], ids=["by its length", "in chunks"])
@pytest.mark.parametrize("end", ["hangs up", "cuts"])
async def test_an_answer_that_breaks_off_at_any_byte_fails_alike(answer: bytes, end: str) -> None:
    async with played(b"", end) as (server, place), ours() as ask, judge() as judged:
        for size in range(len(answer)):
            server.answer = answer[:size]
            assert await ask(f"http://{place}/") == await judged(f"http://{place}/"), answer[:size]


@pytest.mark.parametrize(
    ("host", "past"),
    [
        ("model.invalid", ""),
        ("model.invalid", "other.invalid"),
        ("model.invalid", "model.invalid"),
        ("model.invalid", ".invalid"),
        ("model.invalid", "invalid"),
        ("model.invalid", "*"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1, x.invalid"),
        ("127.0.0.1", "localhost"),
    ],
)
async def test_proxies_are_used_and_passed_alike(host: str, past: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    async with played(HELLO) as (proxy, way), played(HELLO.replace(b"hello", b"there")) as (_, place):
        monkeypatch.setenv("http_proxy", f"http://me:p%40ss@{way}")
        monkeypatch.setenv("no_proxy", past)
        port = place.rpartition(":")[2]
        async with ours(local=False) as ask, judge(local=False) as judged:
            read = await ask(f"http://{host}:{port}/v1")
            assert read == await judged(f"http://{host}:{port}/v1")
    assert len({(line, headers.get(b"proxy-authorization")) for line, headers in proxy.requests}) <= 1
    assert read in (None, (200, b"there")) or len(proxy.requests) == 2

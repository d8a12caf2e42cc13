"""Connections to a provider: what the rules of HTTP allow is read, anything else is told, and nothing is sent twice."""

import asyncio
import gzip
import itertools
import os
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.server import listened_to
from tests.models.test_tls import certificate
from tests.waiting import until
from toolwright.models.transport.connections import (
    KEPT,
    BadHeader,
    BadUrl,
    ConnectionPool,
    NoConnection,
    NoWay,
    Silence,
)
from toolwright.models.transport.proxies import BadProxy, proxy_of
from toolwright.protocols.http_answer import HEAD, AnswerBody, BadAnswer, Head, read_head

__all__ = ["certificate"]

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[bool]]
"""Answers one request; whether the connection stays."""


@asynccontextmanager
async def listening(handler: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An address, and the heads of the requests that have come there."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                heads.append(head)
                length = next((line[16:] for line in head.split(b"\r\n") if line.startswith(b"content-length")), b"0")
                await reader.readexactly(int(length))
                if not await handler(head, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with listened_to(server):
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


def saying(*pieces: bytes, stays: bool = True) -> Handler:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> bool:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        return stays

    return answer


async def asked(connections: ConnectionPool, url: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    async with connections.post(url, b"{}", headers or {}) as answer:
        content = b"".join([piece async for piece in answer.pieces])
        return answer.head.status, content


@asynccontextmanager
async def opened(*, local: bool = False, silence: float = 30) -> AsyncIterator[ConnectionPool]:
    made = ConnectionPool(local=local, silence=silence)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def connections() -> AsyncIterator[ConnectionPool]:
    async with opened(local=True) as made:
        yield made


@pytest.fixture
async def proxied(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ConnectionPool]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    async with opened() as made:
        yield made


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 200\r\nContent-Length:5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nx-trailer: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\ncontent-length: 9\r\n\r\n05\r\nhello\r\n000\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-length: 5\r\n\r\nhello",
    ],
)
async def test_an_answer_is_read_in_every_form_it_may_have(connections: ConnectionPool, answer: bytes) -> None:
    async with listening(saying(answer)) as (place, heads):
        for _ in range(3):
            assert await asked(connections, f"http://{place}/v1") == (200, b"hello")
    assert len(heads) == 3


async def test_an_answer_may_end_with_its_connection(connections: ConnectionPool) -> None:
    async with listening(saying(b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo", stays=False)) as (place, _):
        assert await asked(connections, f"http://{place}/v1") == (200, b"hello")
        assert await asked(connections, f"http://{place}/v1") == (200, b"hello")


@pytest.mark.parametrize(("coding", "packed"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_an_answer_that_is_compressed_all_the_same_is_read(
    connections: ConnectionPool, coding: str, packed: Callable[[bytes], bytes]
) -> None:
    text = b"hello " * 1_000_000
    data = packed(text)
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {len(data)}\r\n\r\n".encode()
    async with listening(saying(head, data)) as (place, _):
        assert await asked(connections, f"http://{place}/") == (200, text)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"SSH-2.0-x\r\n\r\n", "no HTTP answer"),
        (b"HTTP/2 200\r\n\r\n", "no HTTP answer"),
        (b"HTTP/1.1 OK\r\n\r\n", "no HTTP answer"),
        (b"HTTP/1.1 2000\r\n\r\n", "no HTTP answer"),
        (b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "no header"),
        (b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "no header"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "another protocol"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "the length '-1'"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\n", "the length"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhello", "more bytes than were announced"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", "transfer encoding"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n", "content encoding"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nhell", "compressed data"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", "a chunk of the size"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\n", "a chunk of the size"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n", "longer than announced"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nmore", "more bytes than were announced"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 2 * HEAD + b"\r\n\r\n", "a head of more than"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"0" * 2 * HEAD, "a line without an end"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel", "before the end of the answer"),
        (b"", "closed without an answer"),
    ],
)
async def test_what_is_no_answer_is_told(connections: ConnectionPool, answer: bytes, words: str) -> None:
    async with listening(saying(answer, stays=False)) as (place, heads):
        with pytest.raises(BadAnswer, match=words):
            await asked(connections, f"http://{place}/")
    assert len(heads) == 1


@given(st.lists(st.binary(max_size=50), max_size=6), st.lists(st.integers(0, 400), max_size=8))
def test_chunks_say_the_same_however_they_are_split(contents: list[bytes], cuts: list[int]) -> None:
    data = b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in contents if one) + b"0\r\n\r\n"
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    body = AnswerBody(Head(status=200, headers={"transfer-encoding": "chunked"}))
    got = [piece for start, end in itertools.pairwise(places) for piece in body.feed(data[start:end])]
    assert b"".join(got) == b"".join(contents)
    assert body.done


def test_a_header_that_comes_twice_is_one() -> None:
    assert read_head(b"HTTP/1.1 200 OK\r\nVia: a\r\nvia: b\r\n\r\n").headers == {"via": "a, b"}


async def test_a_connection_that_was_hung_up_on_meanwhile_is_not_used_again(connections: ConnectionPool) -> None:
    hello = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
    async with listening(saying(hello, stays=False)) as (place, heads):
        for number in range(1, 4):
            assert await asked(connections, f"http://{place}/") == (200, b"hello")
            assert len(heads) == number


async def test_a_request_that_was_read_and_not_answered_is_tried_on_no_new_connection_again(
    connections: ConnectionPool,
) -> None:
    async with listening(saying(stays=False)) as (place, heads):
        with pytest.raises(BadAnswer):
            await asked(connections, f"http://{place}/")
    assert len(heads) == 1


async def test_an_answer_that_was_left_closes_its_connection(connections: ConnectionPool) -> None:
    async with listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 500000\r\n\r\nhello")) as (place, _):
        async with connections.post(f"http://{place}/", b"", {}) as answer:
            assert await anext(answer.pieces) == b"hello"
        assert not connections._kept


async def test_silence_is_told() -> None:
    async with (
        listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel")) as (place, _),
        opened(local=True, silence=0.05) as connections,
    ):
        with pytest.raises(Silence):
            await asked(connections, f"http://{place}/")


@pytest.mark.parametrize("headers", [{"x-key": "a\r\nevil: 1"}, {"x\r\ny": "a"}, {"x-key": "schlüssel"}, {"": "a"}])
async def test_a_header_that_would_break_the_request_is_not_sent(
    connections: ConnectionPool, headers: dict[str, str]
) -> None:
    async with listening(saying()) as (place, heads):
        with pytest.raises(BadHeader):
            await asked(connections, f"http://{place}/", headers)
    assert not heads


async def test_a_login_in_the_address_and_odd_letters_in_its_path_are_sent_as_they_should(
    connections: ConnectionPool,
) -> None:
    async with listening(saying(b"HTTP/1.1 204 None\r\n\r\n")) as (place, heads):
        assert await asked(connections, f"http://me:p%40ss@{place}/v 1/ü?a=b c") == (204, b"")
    assert heads[0].startswith(b"POST /v%201/%C3%BC?a=b%20c HTTP/1.1\r\n")
    assert b"authorization: Basic bWU6cEBzcw==\r\n" in heads[0]
    assert b"p%40ss" not in heads[0].split(b"\r\n")[1]


# Proxies


async def test_a_proxy_gets_the_whole_address(proxied: ConnectionPool, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")) as (place, heads):
        monkeypatch.setenv("http_proxy", f"http://{place}")
        assert await asked(proxied, "http://model.invalid:8080/v1/x?y=1") == (200, b"hi")
    assert heads[0].startswith(b"POST http://model.invalid:8080/v1/x?y=1 HTTP/1.1\r\nhost: model.invalid:8080\r\n")


async def test_what_is_on_this_machine_or_excepted_goes_past_the_proxy(
    connections: ConnectionPool, proxied: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    async with listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")) as (place, _):
        assert await asked(connections, f"http://{place}/") == (200, b"hi")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert await asked(proxied, f"http://{place}/") == (200, b"hi")


@pytest.mark.parametrize("proxy", ["socks5://me:secret@proxy.invalid:1080", "https://me:secret@proxy.invalid", "://"])
async def test_a_proxy_of_another_kind_is_told_without_its_login(
    proxied: ConnectionPool, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    with pytest.raises(NoConnection, match="the proxy ") as caught:
        await asked(proxied, "http://model.invalid/")
    assert "secret" not in str(caught.value)


async def test_tls_goes_through_a_proxy(
    proxied: ConnectionPool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.parent / "key.pem")
    async with listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"), context) as (place, heads):
        port = int(place.rpartition(":")[2])
        async with tunnel(port) as (proxy, asked_for):
            monkeypatch.setenv("https_proxy", f"http://me:secret@{proxy}")
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            for _ in range(2):
                assert await asked(proxied, f"https://localhost:{port}/v1") == (200, b"hi")
            await proxied.close()
    assert len(heads) == 2
    assert [head.splitlines()[0] for head in asked_for] == [f"CONNECT localhost:{port} HTTP/1.1".encode()]
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in asked_for[0]


@asynccontextmanager
async def tunnel(port: int) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that connects everybody to one port."""
    heads: list[bytes] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listened_to(server):
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


async def test_a_proxy_that_refuses_is_told(proxied: ConnectionPool, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(saying(b"HTTP/1.1 407 Login\r\ncontent-length: 0\r\n\r\n")) as (place, _):
        monkeypatch.setenv("https_proxy", place)
        with pytest.raises(NoWay, match=r"the proxy 127\.0\.0\.1 wants another login; write it as http://user:pass"):
            await asked(proxied, "https://model.invalid/v1")
    async with listening(saying(b"HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n")) as (place, _):
        monkeypatch.setenv("https_proxy", place)
        with pytest.raises(NoConnection, match=r"the proxy 127\.0\.0\.1 answered with 502"):
            await asked(proxied, "https://model.invalid/v1")


@pytest.mark.parametrize(
    ("excepted", "url", "direct"),
    [
        ("*", "http://model.invalid/", True),
        (".invalid", "http://model.invalid/", True),
        ("*.invalid", "http://model.invalid/", True),
        ("*.invalid", "http://invalid/", False),
        ("del.invalid", "http://model.invalid/", False),
        ("x, model.invalid:8080 ", "http://MODEL.invalid:8080/", True),
        ("model.invalid:8080", "http://model.invalid/", False),
        ("10.0.0.0/8", "http://10.1.2.3/", True),
        ("10.0.0.0/8", "http://11.1.2.3/", False),
        ("10.0.0.0/8", "http://model.invalid/", False),
        ("[fd00::1]", "http://[fd00::1]:8080/", True),
        ("fd00::1", "http://[fd00::1]/", True),
        ("fd00::/8", "http://[fd00::1]/", True),
    ],
)
def test_what_no_proxy_names_is_reached_directly(
    excepted: str, url: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    monkeypatch.setenv("no_proxy", excepted)
    assert (proxy_of(urlsplit(url)) is None) is direct


async def test_a_proxy_of_plain_http_is_told_its_login(
    proxied: ConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")) as (place, heads):
        monkeypatch.setenv("http_proxy", f"http://m%40e:secret@{place}")
        assert await asked(proxied, "http://model.invalid/v1") == (200, b"hi")
    assert b"proxy-authorization: Basic bUBlOnNlY3JldA==\r\n" in heads[0]


# What goes wrong on the way.


async def test_what_comes_unasked_on_a_connection_is_not_taken_for_the_next_answer(connections: ConnectionPool) -> None:
    late = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"
    said = asyncio.Event()

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
        if not said.is_set():
            await said.wait()
            writer.write(late)
        return True

    async with listening(answer) as (place, heads):
        assert await asked(connections, f"http://{place}/") == (200, b"hi")
        (kept,) = connections._kept
        said.set()
        await until(lambda: kept.reader.came > kept.read)
        assert await asked(connections, f"http://{place}/") == (200, b"hi")
    assert len(heads) == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\ncontent-length: 2\r\n\r\nhi",
    ],
)
async def test_servers_that_are_not_quite_exact_are_understood(connections: ConnectionPool, answer: bytes) -> None:
    async with listening(saying(answer)) as (place, _):
        for _ in range(2):
            assert await asked(connections, f"http://{place}/") == (200, b"hi")


def test_compressed_pieces_one_after_the_other_are_one_content() -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0"
    for size in (1, 7, len(data)):
        body = AnswerBody(Head(status=200, headers={"content-encoding": "gzip", "content-length": str(len(data))}))
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert b"".join(one for piece in pieces for one in body.feed(piece)) == b"one two"


async def test_an_answer_that_comes_before_the_request_was_read_is_heard(connections: ConnectionPool) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 9\r\n\r\ntoo large")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with listened_to(server):
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with connections.post(url, b"x" * 20_000_000, {}) as answer:
            assert answer.head.status == 413
            assert b"".join([piece async for piece in answer.pieces]) == b"too large"
    assert not connections._kept


async def test_a_server_that_only_ever_promises_an_answer_is_left(connections: ConnectionPool) -> None:
    async with listening(saying(b"HTTP/1.1 102 Processing\r\n\r\n" * 100)) as (place, _):
        with pytest.raises(BadAnswer, match="20 times that one would come"):
            await asked(connections, f"http://{place}/")


@pytest.mark.parametrize("url", [f"http://{'ä' * 80}.example/", "http://127.0.0.1:0/", "ftp://127.0.0.1/", "http:///x"])
async def test_a_host_that_no_name_can_be_is_no_address(connections: ConnectionPool, url: str) -> None:
    with pytest.raises(BadUrl):
        await asked(connections, url)


@pytest.mark.parametrize("proxy", ["http://proxy.invalid:0", "http://:80", "http://[broken"])
def test_a_proxy_without_a_host_or_a_port_that_can_be_is_named(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(BadProxy, match="is no web address"):
        proxy_of(urlsplit("http://model.invalid/"))


@pytest.mark.parametrize("phase", ["connect", "handshake", "head", "upload", "content"])
async def test_a_request_that_is_given_up_leaves_nothing_behind(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, gone = asyncio.Event(), asyncio.Event()
    reply = {"content": b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi"}

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(reply.get(phase, b""))
        reached.set()
        with suppress(ConnectionError):
            while await reader.read(65536):
                pass
        writer.close()
        gone.set()

    if phase == "connect":

        async def hang(*_: object, **__: object) -> None:
            reached.set()
            gone.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", hang)
    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    async with listened_to(server), opened(local=True) as connections:
        before = asyncio.all_tasks()
        scheme = "https" if phase == "handshake" else "http"
        url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        asking = asyncio.create_task(_read(connections, url, b"x" * (20_000_000 if phase == "upload" else 2)))
        await reached.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await gone.wait()
        assert not connections._kept
        await until(lambda: not asyncio.all_tasks() - before)


async def _read(connections: ConnectionPool, url: str, body: bytes) -> None:
    async with connections.post(url, body, {}) as answer:
        async for _ in answer.pieces:
            pass


async def test_two_hundred_requests_at_once_are_all_answered(connections: ConnectionPool) -> None:
    async with listening(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")) as (place, _):
        answers = await asyncio.gather(*(asked(connections, f"http://{place}/") for _ in range(200)))
        assert answers == [(200, b"hi")] * 200
        assert len(connections._kept) == KEPT
        await connections.close()

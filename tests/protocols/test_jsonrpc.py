"""Two programs that talk JSON-RPC: requests and notifications both ways, faults, cancellation, the end."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from toolwright.protocols.framing import LineFraming
from toolwright.protocols.jsonrpc import (
    ACP,
    AT_ONCE,
    BUSY,
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LSP,
    MCP,
    METHOD_NOT_FOUND,
    Dialect,
    Peer,
    RpcClosed,
    RpcError,
)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Streams, Streams]]:
    """Both ends of a connection."""
    one, other = socket.socketpair()
    here = await asyncio.open_connection(sock=one)
    there = await asyncio.open_connection(sock=other)
    try:
        yield here, there
    finally:
        for _, writer in (here, there):
            writer.transport.abort()


@asynccontextmanager
async def talking(dialect: Dialect = MCP, **there: Any) -> AsyncIterator[tuple[Peer, Peer]]:
    async with connected() as (here, other), Peer(*here, dialect) as near, Peer(*other, dialect, **there) as far:
        yield near, far


class Stranger:
    """The other side as plain lines, to say what no Peer would."""

    def __init__(self, streams: Streams) -> None:
        self.reader, self.writer = streams
        self.frames = LineFraming()

    def say(self, value: Any) -> None:
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.writer.write(self.frames.pack(text))

    async def hear(self) -> Any:
        return json.loads(await self.reader.readline())


@asynccontextmanager
async def facing_a_stranger(**options: Any) -> AsyncIterator[tuple[Peer, Stranger]]:
    async with connected() as (here, there), Peer(*here, MCP, **options) as peer:
        yield peer, Stranger(there)


async def echo(method: str, params: Any) -> Any:
    return {"method": method, "params": params}


@pytest.mark.parametrize("dialect", [LSP, MCP, ACP])
@pytest.mark.parametrize(
    "params", [None, {}, [1, 2], {"text": "é\n\u2028\r\nContent-Length: 9\r\n\r\n"}, {"x": "a" * 300_000}]
)
async def test_a_request_is_answered(dialect: Dialect, params: Any) -> None:
    async with talking(dialect, answer=echo) as (near, _):
        assert await near.request("say", params) == {"method": "say", "params": params}


async def test_half_a_surrogate_pair_comes_through() -> None:
    async with talking(answer=echo) as (near, _):
        assert (await near.request("say", ["\ud800"]))["params"] == ["\ud800"]


async def test_notifications_come_in_order() -> None:
    heard: list[Any] = []
    done = asyncio.Event()

    def notified(method: str, params: Any) -> None:
        heard.append((method, params))
        if method == "last":
            done.set()

    async with talking(LSP, notified=notified) as (near, _):
        for number in range(100):
            await near.notify("more", number)
        await near.notify("last")
        await done.wait()
    assert heard == [*(("more", number) for number in range(100)), ("last", None)]


async def test_both_sides_may_ask_at_once() -> None:
    async with connected() as (here, there):

        async def ask_back(method: str, params: Any) -> Any:
            return await far.request("inner", params)

        near = Peer(*here, LSP, answer=echo)
        far = Peer(*there, LSP, answer=ask_back)
        async with near, far:
            answers = await asyncio.gather(*(near.request("outer", number) for number in range(100)))
        assert [answer["params"] for answer in answers] == list(range(100))


async def test_answers_may_come_in_any_order() -> None:
    async with facing_a_stranger() as (peer, stranger):
        first, second = asyncio.create_task(peer.request("a")), asyncio.create_task(peer.request("b"))
        ids = [(await stranger.hear())["id"] for _ in range(2)]
        stranger.say({"jsonrpc": "2.0", "id": ids[1], "result": "second"})
        stranger.say({"jsonrpc": "2.0", "id": ids[0], "result": "first"})
        assert [*await asyncio.gather(first, second)] == ["first", "second"]


async def test_the_message_is_as_the_standard_says() -> None:
    async with facing_a_stranger() as (peer, stranger):
        await peer.notify("hello")
        assert await stranger.hear() == {"jsonrpc": "2.0", "method": "hello"}
        asking = asyncio.create_task(peer.request("ask", {"a": 1}))
        assert await stranger.hear() == {"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"a": 1}}
        stranger.say({"jsonrpc": "2.0", "id": 1, "result": None})
        assert await asking is None


CHILD = """
import json, sys
stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
print("a greeting that is no message", flush=True)
while line := stdin.readline():
    length = int(line.split(b":")[1])
    stdin.readline()
    message = json.loads(stdin.read(length))
    if message["method"] == "exit":
        break
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message["params"]}).encode()
    stdout.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
    stdout.flush()
"""


async def test_a_program_is_talked_to_over_its_pipes() -> None:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, stdin=pipe, stdout=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    async with Peer(child.stdout, child.stdin, LSP) as peer:
        assert await peer.request("echo", {"text": "é"}) == {"text": "é"}
        with pytest.raises(RpcClosed):
            await peer.request("exit")
    assert await child.wait() == 0


# Faults


@pytest.mark.parametrize(
    ("said", "message", "code"),
    [
        ({"code": -5, "message": "no"}, "no", -5),
        ({"message": "no"}, "no", INTERNAL_ERROR),
        ({"code": "x"}, "", INTERNAL_ERROR),
        ("plain", "plain", INTERNAL_ERROR),
    ],
)
async def test_an_error_of_the_other_side_is_raised(said: Any, message: str, code: int) -> None:
    async with facing_a_stranger() as (peer, stranger):
        asking = asyncio.create_task(peer.request("ask"))
        stranger.say({"jsonrpc": "2.0", "id": (await stranger.hear())["id"], "error": said})
        with pytest.raises(RpcError) as raised:
            await asking
        assert (str(raised.value), raised.value.code) == (message, code)


async def test_an_unknown_method_is_refused() -> None:
    async with talking() as (near, _):
        with pytest.raises(RpcError, match="no method 'nothing'") as raised:
            await near.request("nothing")
        assert raised.value.code == METHOD_NOT_FOUND


async def test_an_answer_that_fails_is_an_error_and_no_end() -> None:
    async def answer(method: str, params: Any) -> Any:
        match method:
            case "refuse":
                raise RpcError("not so", -7, {"why": "because"})
            case "break":
                raise ZeroDivisionError("by nothing")
            case "nonsense":
                return {1, 2}
            case "endless":
                return float("inf")
        return "well"

    async with talking(answer=answer) as (near, _):
        with pytest.raises(RpcError, match="not so") as refused:
            await near.request("refuse")
        assert (refused.value.code, refused.value.data) == (-7, {"why": "because"})
        for method in ("break", "nonsense", "endless"):
            with pytest.raises(RpcError, match=method) as broken:
                await near.request(method)
            assert broken.value.code == INTERNAL_ERROR
        assert await near.request("work") == "well"


async def test_a_notification_that_cannot_be_taken_is_no_end() -> None:
    def notified(method: str, params: Any) -> None:
        raise ZeroDivisionError

    async with talking(answer=echo, notified=notified) as (near, _):
        await near.notify("bad")
        assert (await near.request("say"))["method"] == "say"


@pytest.mark.parametrize(
    "noise",
    [b"hello, I am a server", b"{", b"[1, 2]", b"null", b"7", b'{"id": 99, "result": 1}', b'{"id": [], "error": 1}'],
)
async def test_what_makes_no_sense_is_passed_over(noise: bytes) -> None:
    async with facing_a_stranger(answer=echo) as (peer, stranger):
        stranger.say(noise)
        stranger.say({"jsonrpc": "2.0", "id": "x", "method": "say"})
        assert (await stranger.hear())["id"] == "x"
        assert not peer.ended.is_set()


@pytest.mark.parametrize("request_id", [None, [], {}, 1.5])
async def test_a_request_without_a_usable_id_is_refused(request_id: Any) -> None:
    async with facing_a_stranger(answer=echo) as (_, stranger):
        stranger.say({"jsonrpc": "2.0", "id": request_id, "method": "say"})
        answer = await stranger.hear()
        assert (answer["id"], answer["error"]["code"]) == (None, INVALID_REQUEST)


async def test_several_messages_may_come_in_one_list() -> None:
    async with facing_a_stranger(answer=echo) as (_, stranger):
        stranger.say([{"jsonrpc": "2.0", "id": number, "method": "say"} for number in (1, 2)])
        assert {(await stranger.hear())["id"] for _ in range(2)} == {1, 2}


async def test_more_requests_than_can_be_worked_on_are_refused() -> None:
    free = asyncio.Event()

    async def answer(method: str, params: Any) -> Any:
        await free.wait()

    async with facing_a_stranger(answer=answer) as (_, stranger):
        for number in range(AT_ONCE + 1):
            stranger.say({"jsonrpc": "2.0", "id": number, "method": "wait"})
        refused = await stranger.hear()
        assert (refused["id"], refused["error"]["code"]) == (AT_ONCE, BUSY)
        free.set()
        assert {(await stranger.hear())["id"] for _ in range(AT_ONCE)} == set(range(AT_ONCE))


# Cancellation


@pytest.mark.parametrize("dialect", [LSP, MCP, ACP])
async def test_a_caller_that_gives_up_stops_the_work_on_the_other_side(dialect: Dialect) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def answer(method: str, params: Any) -> Any:
        if method == "quick":
            return "done"
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with talking(dialect, answer=answer) as (near, _):
        asking = asyncio.create_task(near.request("long"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await stopped.wait()
        assert await near.request("quick") == "done"


async def test_a_cancelled_request_is_answered_as_such() -> None:
    begun = asyncio.Event()

    async def answer(method: str, params: Any) -> Any:
        begun.set()
        await asyncio.Event().wait()

    async with facing_a_stranger(answer=answer) as (_, stranger):
        stranger.say({"jsonrpc": "2.0", "id": 7, "method": "long"})
        await begun.wait()
        stranger.say({"jsonrpc": "2.0", "method": MCP.cancel, "params": {"requestId": 8}})
        stranger.say({"jsonrpc": "2.0", "method": MCP.cancel, "params": "nonsense"})
        stranger.say({"jsonrpc": "2.0", "method": MCP.cancel, "params": {"requestId": 7}})
        answered = await stranger.hear()
        assert (answered["id"], answered["error"]["code"]) == (7, CANCELLED)


async def test_a_request_that_is_cancelled_in_the_same_breath_is_answered_as_such() -> None:
    async def answer(method: str, params: Any) -> Any:
        await asyncio.Event().wait()

    async with facing_a_stranger(answer=answer) as (_, stranger):
        for _ in range(2):  # the second time shows that nothing of the first is left
            request = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "long"})
            cancel = json.dumps({"jsonrpc": "2.0", "method": MCP.cancel, "params": {"requestId": 7}})
            stranger.say(f"{request}\n{cancel}".encode())
            answered = await stranger.hear()
            assert (answered["id"], answered["error"]["code"]) == (7, CANCELLED)


async def test_a_notification_is_taken_after_the_requests_before_it_are_begun() -> None:
    order: list[str] = []
    done = asyncio.Event()

    async def answer(method: str, params: Any) -> Any:
        order.append(method)

    def notified(method: str, params: Any) -> None:
        order.append(method)
        done.set()

    async with facing_a_stranger(answer=answer, notified=notified) as (_, stranger):
        stranger.say(b'{"jsonrpc": "2.0", "id": 1, "method": "prompt"}\n{"jsonrpc": "2.0", "method": "stop"}')
        await done.wait()
    assert order == ["prompt", "stop"]


# What goes out


class Counted:
    """A writer that keeps what it is given, piece by piece."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(data)
        self._writer.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


async def test_what_is_sent_without_waiting_in_between_goes_out_in_one_piece() -> None:
    async with connected() as ((reader, writer), there):
        counted: Any = Counted(writer)
        async with Peer(reader, counted, MCP) as peer:
            stranger = Stranger(there)
            for number in range(3):
                await peer.notify("more", number)
            asking = asyncio.gather(peer.request("a"), peer.request("b"))
            heard = [await stranger.hear() for _ in range(5)]
            for message in heard[3:]:
                stranger.say({"jsonrpc": "2.0", "id": message["id"], "result": message["method"]})
            assert [*await asking] == ["a", "b"]
            await peer.notify("last")
        assert await stranger.hear() == {"jsonrpc": "2.0", "method": "last"}
    assert [message["method"] for message in heard] == ["more", "more", "more", "a", "b"]
    assert [piece.count(b"\n") for piece in counted.pieces if piece] == [5, 1]


# The end


async def test_a_request_that_cannot_be_sent_fails_and_one_before_it_is_still_answered() -> None:
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), open_pipe(ours_in, "rb"))
    writing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), open_pipe(ours_out, "wb")
    )
    async with Peer(reader, asyncio.StreamWriter(writing, protocol, None, loop), MCP) as peer:
        first = asyncio.create_task(peer.request("first"))
        await asyncio.to_thread(os.read, theirs_in, 1000)
        os.close(theirs_in)
        with pytest.raises(RpcClosed):
            await peer.request("second")
        os.write(theirs_out, b'{"jsonrpc": "2.0", "id": 1, "result": "well"}\n')
        assert await first == "well"
        with pytest.raises(RpcClosed, match="takes nothing any more"):
            await peer.notify("third")
    os.close(theirs_out)
    reading.close()


def open_pipe(descriptor: int, mode: str) -> Any:
    return os.fdopen(descriptor, mode, 0)


async def test_whoever_waits_is_told_when_the_other_side_goes() -> None:
    async with facing_a_stranger() as (peer, stranger):
        asking = asyncio.create_task(peer.request("ask"))
        await stranger.hear()
        stranger.writer.close()
        with pytest.raises(RpcClosed, match="the other side closed it"):
            await asking
        await peer.ended.wait()
        with pytest.raises(RpcClosed):
            await peer.request("again")
        with pytest.raises(RpcClosed):
            await peer.notify("again")


async def test_whoever_waits_is_told_when_this_side_closes() -> None:
    async with facing_a_stranger() as (peer, stranger):
        asking = asyncio.create_task(peer.request("ask"))
        await stranger.hear()
        await peer.close()
        with pytest.raises(RpcClosed, match="closed here"):
            await asking
        await peer.close()
        assert await stranger.reader.read() == b""


async def test_the_work_for_the_other_side_stops_when_it_goes() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def answer(method: str, params: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with facing_a_stranger(answer=answer) as (_, stranger):
        stranger.say({"jsonrpc": "2.0", "id": 1, "method": "long"})
        await begun.wait()
        stranger.writer.transport.abort()
        await stopped.wait()


async def test_a_message_that_is_too_large_ends_it() -> None:
    async with facing_a_stranger(largest=1000) as (peer, stranger):
        asking = asyncio.create_task(peer.request("ask"))
        await stranger.hear()
        stranger.say(b"x" * 2000)
        with pytest.raises(RpcClosed, match="more than 1,000 bytes"):
            await asking


async def test_a_peer_that_was_not_started_sends_nothing() -> None:
    async with connected() as (here, _):
        with pytest.raises(RpcClosed, match="not started"):
            await Peer(*here, MCP).request("ask")


async def test_no_task_is_left() -> None:
    before = asyncio.all_tasks()
    async with talking(answer=echo) as (near, _):
        await near.request("say")
    assert asyncio.all_tasks() == before

"""Messages on a stream of bytes, in whatever pieces the bytes arrive."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.protocols.framing import Headers, LineFraming

MESSAGES = st.lists(st.binary(min_size=1, max_size=200).filter(lambda one: b"\n" not in one and one == one.strip()))


@settings(deadline=None)
@given(messages=MESSAGES, size=st.integers(1, 50), kind=st.sampled_from([LineFraming, Headers]))
def test_what_is_packed_comes_out_again(
    messages: list[bytes], size: int, kind: type[LineFraming] | type[Headers]
) -> None:
    frames = kind()
    stream = b"".join(map(frames.pack, messages))
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [found for piece in pieces for found in frames.feed(piece)] == messages


def test_a_message_with_headers_may_hold_anything() -> None:
    frames = Headers()
    assert list(frames.feed(frames.pack(b"a\r\n\r\nContent-Length: 3\r\n\r\n"))) == [
        b"a\r\n\r\nContent-Length: 3\r\n\r\n"
    ]


def test_headers_are_read_as_servers_write_them() -> None:
    stream = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2 \r\n\r\n{}"
    assert list(Headers().feed(stream + b"Content-Length: 2\n\n[]")) == [b"{}", b"[]"]


def test_what_is_printed_among_messages_is_passed_over() -> None:
    assert list(Headers().feed(b"Starting...\n\nready\nContent-Length: 2\r\n\r\n{}")) == [b"{}"]


@pytest.mark.parametrize(
    "stream",
    [
        b"Content-Length: 1001\r\n\r\n",
        b"Content-Length: 999999999999999\r\n\r\n",
        b"x" * 70_000,
        (b"x" * 1000 + b"\n") * 1100,
    ],
)
def test_headers_that_promise_too_much_or_never_come_break_the_stream(stream: bytes) -> None:
    with pytest.raises(ValueError, match="message"):
        list(Headers(1000).feed(stream))


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_a_line_that_is_too_long_breaks_the_stream(size: int) -> None:
    frames = LineFraming(1000)
    pieces = [b"x" * size for _ in range(0, 2000, size)]
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        [list(frames.feed(piece)) for piece in pieces]


def test_empty_lines_are_no_messages() -> None:
    assert list(LineFraming().feed(b"\n\r\n{}\r\n\n[]\n")) == [b"{}", b"[]"]

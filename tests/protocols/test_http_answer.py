"""Answers of HTTP/1.1 that follow the rules, and all that do not."""

import gzip

import pytest

from toolwright.protocols.http_answer import AnswerBody, BadAnswer, Head, read_head


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", 200),
        (b"HTTP/1.1 200\r\n\r\n", 200),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", 404),
        (b"HTTP/1.1 2000 OK\r\n\r\n", None),
        (b"HTTP/1.1 20x OK\r\n\r\n", None),
        (b"HTTP/1.1 2\xb20 OK\r\n\r\n", None),
        (b"HTTP/1.1  200 OK\r\n\r\n", None),
        (b"HTTP/2 200 OK\r\n\r\n", None),
        (b"SSH-2.0-x 200\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\nName: x\r\n\r\n", 200),
        (b"HTTP/1.1 200 OK\r\nName:\r\n\r\n", 200),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\nname\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\n: x\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\nName : x\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\n Name: x\r\n\r\n", None),
    ],
)
def test_a_head_is_read_or_refused(head: bytes, status: int | None) -> None:
    if status is None:
        with pytest.raises(BadAnswer):
            read_head(head)
    else:
        assert read_head(head).status == status


@pytest.mark.parametrize(
    ("head", "stays"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", True),
    ],
)
def test_a_connection_is_kept_where_the_head_does_not_end_it(head: bytes, stays: bool) -> None:
    assert read_head(head).stays_open is stays


CHUNKED = {"transfer-encoding": "chunked"}


@pytest.mark.parametrize(
    ("status", "headers", "data", "content", "done", "overrun"),
    [
        (204, {"content-length": "5"}, b"", b"", True, False),
        (304, CHUNKED, b"", b"", True, False),
        (200, {}, b"abc", b"abc", False, False),
        (200, {"content-length": "0"}, b"", b"", True, False),
        (200, {"content-length": "3"}, b"ab", b"ab", False, False),
        (200, {"content-length": "3"}, b"abc", b"abc", True, False),
        (200, {"content-length": "3, 3"}, b"abc", b"abc", True, False),
        (200, {"content-length": "3"}, b"abc\r\n", b"abc", True, True),
        (200, {"content-length": "3"}, b"abcd", None, False, False),
        (200, {"content-length": "3, 4"}, b"", None, False, False),
        (200, {"content-length": "-3"}, b"", None, False, False),
        (200, {"content-length": "\u00b2"}, b"", None, False, False),
        (200, {"content-length": "x"}, b"", None, False, False),
        (200, {"content-length": ""}, b"", None, False, False),
        (200, {"content-length": "0" * 17 + "3"}, b"abc", b"abc", True, False),
        (200, {"content-length": "0" * 18 + "3"}, b"abc", None, False, False),
        (200, {"transfer-encoding": "gzip"}, b"", None, False, False),
        (200, {"transfer-encoding": "identity", "content-length": "1"}, b"a", b"a", True, False),
        (200, {**CHUNKED, "content-length": "9"}, b"3\r\nabc\r\n0\r\n\r\n", b"abc", True, False),
        (200, CHUNKED, b"3\r\nabc\r\n", b"abc", False, False),
        (200, CHUNKED, b"3\r\nabc\r\n0\r\n", b"abc", False, False),
        (200, CHUNKED, b"3;name=x\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n", b"abc0123456789", True, False),
        (200, CHUNKED, b"0\r\nTrailer: x\r\n\r\n", b"", True, False),
        (200, CHUNKED, b"0\r\n\r\n\r\n", b"", True, True),
        (200, CHUNKED, b"0\r\n\r\nmore", None, False, False),
        (200, CHUNKED, b"3\r\nabcd\r\n", None, False, False),
        (200, CHUNKED, b"\r\n", None, False, False),
        (200, CHUNKED, b"-3\r\nabc\r\n", None, False, False),
        (200, CHUNKED, b"3_0\r\nabc\r\n", None, False, False),
        (200, CHUNKED, b"0x3\r\nabc\r\n", None, False, False),
        (200, CHUNKED, b"0" * 15 + b"3\r\nabc\r\n", b"abc", False, False),
        (200, CHUNKED, b"0" * 16 + b"3\r\nabc\r\n", None, False, False),
        (200, CHUNKED, b"x" * 65_536, b"", False, False),
        (200, CHUNKED, b"x" * 65_537, None, False, False),
        (200, {"content-encoding": "gzip"}, gzip.compress(b"abc", mtime=0), b"abc", False, False),
        (
            200,
            {"content-encoding": "gzip"},
            gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0) + b"\0\0",
            b"ab",
            False,
            False,
        ),
        (200, {"content-encoding": "gzip"}, b"abc", None, False, False),
        (200, {"content-encoding": "identity"}, b"abc", b"abc", False, False),
        (200, {"content-encoding": "br"}, b"abc", None, False, False),
    ],
)
def test_a_body_ends_where_its_head_says_and_nothing_may_follow(
    status: int, headers: dict[str, str], data: bytes, content: bytes | None, done: bool, overrun: bool
) -> None:
    for size in (len(data) or 1, 1 if len(data) < 100 else 4096):
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        try:
            body = AnswerBody(Head(status=status, headers=headers))
            came = b"".join(part for piece in pieces for part in body.feed(piece))
        except BadAnswer:
            assert content is None
            continue
        assert (came, body.done, body.overrun) == (content, done, overrun)


@pytest.mark.parametrize(
    ("headers", "is_open"), [({}, True), (CHUNKED, False), ({"content-length": "1"}, False), ({"x": "y"}, True)]
)
def test_only_a_body_without_a_length_ends_with_its_connection(headers: dict[str, str], is_open: bool) -> None:
    assert AnswerBody(Head(status=200, headers=headers)).is_open is is_open

"""HTTP/1.1 answers as they come: the head read once, the body decoded piece by piece."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from toolwright.record import record

if TYPE_CHECKING:
    import zlib

HEAD = 64 * 1024
"""Bytes a head may have."""
PIECE = 1024 * 1024
"""Bytes of one piece of a compressed body, however far it would expand."""


class BadAnswer(Exception):
    """The answer breaks the rules of HTTP."""


class Unreadable(BadAnswer):
    """The answer is in a form that is not known here, and would be the next time."""


@record(frozen=True, slots=True, kw_only=True)
class Head:
    """Status and headers of an answer; the names are in small letters."""

    status: int
    headers: Mapping[str, str]

    @property
    def stays_open(self) -> bool:
        """Return whether the connection can take another request afterwards."""
        return "close" not in self.headers.get("connection", "").lower()


def read_head(data: bytes) -> Head:
    """The head of an answer, from its first byte to the empty line."""
    first, *lines = data.decode("latin-1").rstrip("\r\n").split("\r\n")
    version, _, rest = first.partition(" ")
    number = rest[:3]
    if not version.startswith("HTTP/1.") or not (number.isascii() and number.isdigit()) or rest[3:4] not in ("", " "):
        raise BadAnswer(f"no HTTP answer, but {first[:80]!r}")
    headers = dict[str, str]()
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadAnswer(f"no header: {line[:80]!r}")
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return Head(status=int(number), headers=headers)


class Framed:
    """Finds the bytes of a body among those that come, by the length or the chunks that its head announces."""

    def __init__(self, head: Head) -> None:
        self.done = False
        """Whether all of it has come; a body that ends with its connection is never done."""
        self.overrun = False
        """Whether anything came after it."""
        self.excess = False
        """Whether that was more than line ends, as some servers write them."""
        self._length: int | None = None
        self._chunks: _Chunks | None = None
        if head.status in (204, 304):
            self._length = 0
        elif (coding := head.headers.get("transfer-encoding", "").strip().lower()) not in ("", "identity"):
            if coding != "chunked":
                raise Unreadable(f"the transfer encoding {coding[:40]!r}, which was not asked for")
            self._chunks = _Chunks()
        elif (length := head.headers.get("content-length")) is not None:
            self._length = _length(length)
        self.done = self._length == 0

    @property
    def is_open(self) -> bool:
        """Return whether the end of the connection is the end of the body."""
        return self._chunks is None and self._length is None

    def feed(self, data: bytes) -> bytes:
        """Return what of the next bytes is of the body."""
        rest = b""
        if self._chunks is not None:
            data, rest = self._chunks.feed(data)
            self.done = self._chunks.done
        elif self._length is not None:
            data, rest = data[: self._length], data[self._length :]
            self._length -= len(data)
            self.done = not self._length
        self.overrun = self.overrun or bool(rest)
        self.excess = self.excess or bool(rest.strip(b"\r\n"))
        return data


class AnswerBody:
    """Decodes the body that belongs to a head. Fed with bytes as they come, it gives the content that is in them."""

    def __init__(self, head: Head) -> None:
        self._content = _decoder(head.headers.get("content-encoding", "").strip().lower())
        self._framed = Framed(head)

    @property
    def done(self) -> bool:
        return self._framed.done

    @property
    def overrun(self) -> bool:
        return self._framed.overrun

    @property
    def is_open(self) -> bool:
        return self._framed.is_open

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The content in the next bytes. What comes after the end of the body is an error, unless it is a line end."""
        data = self._framed.feed(data)
        if self._framed.excess:
            raise BadAnswer("more bytes than were announced")
        return self._expanded(data) if self._content is not None else iter((data,) if data else ())

    def _expanded(self, data: bytes) -> Iterator[bytes]:
        import zlib

        assert self._content is not None
        try:
            piece = b""
            while data or len(piece) == PIECE:
                if self._content.eof:  # Compressed pieces one after the other are one content, and zeros may follow.
                    data = data.lstrip(b"\0")
                    if not data:
                        return
                    self._content = _decompressor()
                if piece := self._content.decompress(data, PIECE):
                    yield piece
                data = self._content.unconsumed_tail or self._content.unused_data
        except zlib.error as error:
            raise BadAnswer(f"compressed data that cannot be read ({error})") from error


class _Chunks:
    """The chunked transfer encoding."""

    def __init__(self) -> None:
        self.done = False
        self._left = 0
        """Bytes of the chunk that are still to come, with the line end after them."""
        self._line = b""
        """The beginning of a line whose end has not come yet."""
        self._last = False
        """Whether only trailers are still to come."""

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the content, and what came after the last chunk."""
        pieces = list[bytes]()
        position, end = 0, len(data)
        rest = b""
        while position < end:
            if self.done:
                rest = data[position:]
                break
            if self._left:
                position = self._take(data, position, pieces)
                continue
            newline = data.find(b"\n", position)
            if newline < 0:
                self._keep(data[position:])
                break
            line, self._line = self._line + data[position:newline], b""
            position = newline + 1
            self._take_line(line.rstrip(b"\r"))
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces)), rest

    def _take(self, data: bytes, position: int, pieces: list[bytes]) -> int:
        """As much of the chunk as is there; the two bytes of its line end are no content."""
        content = self._left - 2
        piece = data[position : position + self._left]
        self._left -= len(piece)
        if content > 0:
            pieces.append(piece[:content])
        if piece[max(content, 0) :].strip(b"\r\n"):
            raise BadAnswer("a chunk that is longer than announced")
        return position + len(piece)

    def _keep(self, rest: bytes) -> None:
        self._line += rest
        if len(self._line) > HEAD:
            raise BadAnswer("a line without an end between two chunks")

    def _take_line(self, line: bytes) -> None:
        if self._last:
            self.done = not line
            return
        size = line.partition(b";")[0].strip()
        if not size or len(size) > 16 or size.strip(b"0123456789abcdefABCDEF"):
            raise BadAnswer(f"a chunk of the size {line[:40]!r}")
        length = int(size, 16)
        self._last = not length
        self._left = length + 2 if length else 0


def _length(given: str) -> int:
    # A server may repeat the header; two lengths are none.
    values = {one.strip() for one in given.split(",")}
    value = values.pop()
    if values or not (value.isascii() and value.isdigit()) or len(value) > 18:
        raise BadAnswer(f"the length {given[:40]!r}")
    return int(value)


def _decoder(coding: str) -> "zlib._Decompress | None":
    if coding in ("", "identity"):
        return None
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise Unreadable(f"the content encoding {coding[:40]!r}, which was not asked for")
    return _decompressor()


def _decompressor() -> "zlib._Decompress":
    import zlib

    return zlib.decompressobj(zlib.MAX_WBITS | 32)

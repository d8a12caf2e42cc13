"""Framing of messages on a stream of bytes: by lines, or by headers that give their length."""

import re
from collections.abc import Iterator
from typing import Protocol

LARGEST = 64 * 1024 * 1024
"""Bytes that one message may have before the stream counts as broken."""
_NOISE = 1024 * 1024
"""Bytes that are passed over while looking for the headers of a message."""
_LINE = 64 * 1024
"""Bytes that a line among the headers may have."""
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,15})[ \t]*", re.IGNORECASE)


class Frames(Protocol):
    """Feed it bytes as they come, get the messages that are complete; a ValueError if the stream is broken."""

    def feed(self, data: bytes) -> Iterator[bytes]: ...
    def pack(self, message: bytes) -> bytes: ...


class LineFraming:
    """Each message is a line."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        *complete, rest = data.split(b"\n")
        for line in complete:
            self._keep(line)
            whole = b"".join(self._pieces)
            self._pieces, self._size = [], 0
            if whole := whole.strip():
                yield whole
        self._keep(rest)

    def pack(self, message: bytes) -> bytes:
        return message + b"\n"

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._largest:
            raise ValueError(f"a message of more than {self._largest:,} bytes")
        if piece:
            self._pieces.append(piece)


class Headers:
    """Each message has headers before it, as language servers write them.

    What a program prints among the messages by mistake is passed over, as long as it is not much.
    """

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._buffer = bytearray()
        self._length: int | None = None
        self._in_headers = True
        self._noise = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._buffer += data
        while True:
            if self._in_headers and not self._read_headers():
                return
            assert self._length is not None
            if len(self._buffer) < self._length:
                return
            message = bytes(self._buffer[: self._length])
            del self._buffer[: self._length]
            self._length, self._in_headers, self._noise = None, True, 0
            yield message

    def pack(self, message: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n%s" % (len(message), message)

    def _read_headers(self) -> bool:
        """Take the lines up to the empty one that ends the headers; whether it has come."""
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end]).rstrip(b"\r")
            del self._buffer[: end + 1]
            if match := _LENGTH.fullmatch(line):
                self._length = int(match.group(1))
                if self._length > self._largest:
                    raise ValueError(f"a message of {self._length:,} bytes; at most {self._largest:,} are possible")
            elif not line and self._length is not None:
                self._in_headers = False
                return True
            else:
                self._pass_over(len(line) + 1)
        if len(self._buffer) > _LINE:
            raise ValueError("no headers of a message")
        return False

    def _pass_over(self, size: int) -> None:
        self._noise += size
        if self._noise > _NOISE:
            raise ValueError("no headers of a message")

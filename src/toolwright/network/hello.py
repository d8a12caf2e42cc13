"""The name that a program asks for as it begins to speak TLS. Bytes in, a name out."""

import struct
from typing import Final

HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST = 0x16, 1, 0, 0
LONGEST: Final = 65_536
_RECORD: Final = 5
_FIXED: Final = 34
"""Bytes of the version and of what is random."""


class Incomplete(Exception):
    """More has to come before anything can be said."""


def server_name(data: bytes) -> str:
    """Return the name in a greeting of TLS; empty if there is none, or if it is something else. Incomplete if not all
    of it has come."""
    if data[:1] != bytes([HANDSHAKE]):
        return ""
    hello = _hello(data)
    try:
        at = 4 + _FIXED
        at += 1 + hello[at]
        at += 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 1 + hello[at]
        end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 2
        while at + 4 <= end:
            kind, size = struct.unpack_from(">HH", hello, at)
            if kind == SERVER_NAME:
                _, named, length = struct.unpack_from(">HBH", hello, at + 4)
                name = hello[at + 9 : at + 9 + length]
                return name.decode("ascii", "replace").lower().rstrip(".") if named == HOST else ""
            at += 4 + size
    except (IndexError, struct.error):
        return ""
    return ""


def _hello(data: bytes) -> bytes:
    """Put the greeting together from the records that it came in."""
    hello, at = b"", 0
    while len(hello) < 4 or len(hello) < 4 + int.from_bytes(hello[1:4], "big"):
        record = data[at : at + _RECORD]
        size = int.from_bytes(record[3:5], "big")
        if len(record) == _RECORD and (record[0] != HANDSHAKE or not size):
            return b""
        if len(record) < _RECORD or len(data) < at + _RECORD + size:
            raise Incomplete
        hello += data[at + _RECORD : at + _RECORD + size]
        if hello[0] != CLIENT_HELLO:
            return b""
        at += _RECORD + size
    return hello

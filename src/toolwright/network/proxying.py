"""Requests of programs to a proxy: HTTP CONNECT, plain HTTP, SOCKS 5 with names. Bytes in, values out."""

import socket
import struct
from collections.abc import Sequence
from typing import Final, Literal
from urllib.parse import urlsplit

from toolwright.network.destination import Destination
from toolwright.record import record

LONGEST_HEAD: Final = 65_536
SOCKS: Final = 5
SOCKS_CHOICE: Final = b"\x05\x00"
"""No password is wanted."""
SOCKS_FINE: Final = b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
SOCKS_REFUSED: Final = b"\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"
SOCKS_UNREACHABLE: Final = b"\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00"
CONNECTED: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"
_ON_THE_WAY: Final = ("proxy-authorization", "proxy-connection", "connection", "keep-alive")
_SHORT: Final = 200
"""Characters of a reason in the first line of an answer."""
_NAMED, _IPV4, _IPV6 = 3, 1, 4
_FAMILIES: Final = {_IPV4: socket.AF_INET, _IPV6: socket.AF_INET6}


class Malformed(Exception):
    """Bytes that are no request to a proxy."""


@record(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A destination, and what is to be sent there first."""

    destination: Destination
    how: Literal["connect", "http", "socks", "key"]
    first: bytes = b""


def read_head(data: bytes) -> Wanted:
    """Read all that came up to the end of the head, and what came after it."""
    head, _, rest = data.partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    words = line.decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Malformed(f"{line[:80]!r} is no request of HTTP")
    method, target, version = words
    if method == "CONNECT":
        return Wanted(destination=_authority(target), how="connect", first=rest)
    if target.startswith("/"):
        return _for_key(method, target, version, headers, rest)
    try:
        url = urlsplit(target)
        host, port = url.hostname, url.port or 80
    except ValueError as error:
        raise Malformed(f"{target[:80]!r} is no address") from error
    if url.scheme != "http" or not host:
        raise Malformed(f"{target[:80]!r} is no address of the web: this port is a proxy")
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    kept = [one for one in headers if _name_of(one) not in _ON_THE_WAY]
    # One request for each connection: a further one may be for another host.
    lines = [f"{method} {path} {version}".encode("latin-1"), *kept, b"Connection: close", b"", rest]
    return Wanted(destination=_destination(host, port), how="http", first=b"\r\n".join(lines))


def _for_key(method: str, target: str, version: str, headers: Sequence[bytes], rest: bytes) -> Wanted:
    """Read `/api.example.com/v1/shops`: a host that a key is put in for, and what is wanted of it."""
    host, _, path = target[1:].partition("/")
    if "." not in host:
        raise Malformed(f"{target[:80]!r} is no address of the web: this port is a proxy")
    kept = [one for one in headers if _name_of(one) not in (*_ON_THE_WAY, "host")]
    lines = [f"{method} /{path} {version}".encode("latin-1"), b"Host: " + host.encode("latin-1")]
    first = b"\r\n".join([*lines, *kept, b"Connection: close", b"", rest])
    return Wanted(destination=_destination(host, 443), how="key", first=first)


def _name_of(header: bytes) -> str:
    return header.partition(b":")[0].strip().decode("latin-1").lower()


def socks_greeting(data: bytes) -> int | None:
    """Return how long the greeting is; None if it has not come whole."""
    return None if len(data) < 2 or len(data) < 2 + data[1] else 2 + data[1]


def socks_request(data: bytes) -> tuple[Wanted, int] | None:
    """Read a request to connect, and how long it is; None if it has not come whole."""
    if len(data) < 5:
        return None
    version, command, _, kind = data[:4]
    if version != SOCKS or command != 1 or kind not in (_NAMED, _IPV4, _IPV6):
        raise Malformed("only connections by SOCKS 5 are taken")
    start, size = (5, data[4]) if kind == _NAMED else (4, 4 if kind == _IPV4 else 16)
    end = start + size
    if len(data) < end + 2:
        return None
    address = data[start:end]
    try:
        host = address.decode("ascii") if kind == _NAMED else socket.inet_ntop(_FAMILIES[kind], address)
    except UnicodeDecodeError as error:
        raise Malformed("the name of the host is not ASCII") from error
    port = struct.unpack_from(">H", data, end)[0]
    return Wanted(destination=_destination(host, port), how="socks"), end + 2


def refusal(destination: Destination, reason: str) -> bytes:
    """Say no by HTTP, in the first line too: many programs show no more of it."""
    return _refusal_page(403, f"{destination} was refused: {reason}")


def failure(reason: str) -> bytes:
    """Say that it could not be reached."""
    return _refusal_page(502, reason)


def bad_request(reason: str) -> bytes:
    return _refusal_page(400, reason)


def _refusal_page(code: int, reason: str) -> bytes:
    text = f"{reason}\n".encode()
    short = "".join(one if " " <= one <= "~" else "?" for one in reason)[:_SHORT]
    head = f"HTTP/1.1 {code} {short}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(text)}\r\n"
    return head.encode("ascii") + b"Connection: close\r\n\r\n" + text


def _authority(text: str) -> Destination:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise Malformed(f"{text[:80]!r} is no host with a port")
    return _destination(host, int(port))


def _destination(host: str, port: int) -> Destination:
    place = Destination.of(host, port)
    if not 0 < port < 65_536 or not place.host or len(place.host) > 253 or not place.host.isascii():
        raise Malformed(f"{host[:80]!r} is no host")
    if any(one.isspace() or not one.isprintable() or one in "/*?@%#\\" for one in place.host):
        raise Malformed(f"{host[:80]!r} is no host")
    return place

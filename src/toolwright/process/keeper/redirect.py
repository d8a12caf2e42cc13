"""Tells the kernel of a network namespace by netlink: every address is here, connections come to one port.

The tables are those of nftables; its program need not be installed.
"""

import os
import socket
import struct
from collections.abc import Iterable

ROUTE, NETFILTER = 0, 12
"""The parts of the kernel that are spoken to."""
REQUEST, ACKNOWLEDGED, CREATED, EXCLUSIVE = 0x1, 0x4, 0x400, 0x200
ERROR = 2
NEW_ROUTE = 24
LOCAL_TABLE, BY_HAND, ON_THIS_HOST, LOCAL = 255, 3, 254, 2
DESTINATION, THROUGH_DEVICE, OF_TABLE = 1, 4, 15
LOOPBACK = 1
"""The number of the loopback in every namespace."""
BEGIN, END, TABLES = 0x10, 0x11, 10
NEW_TABLE, NEW_CHAIN, NEW_RULE = (TABLES << 8 | kind for kind in (0, 3, 6))
NESTED = 0x8000
OUTGOING, BEFORE_ROUTES = 3, -100
IP, IP6, TCP = 2, 10, 6
EQUAL, DIFFERENT = 0, 1
PROTOCOL, NETWORK_HEADER, REGISTER, TO_PORT = 16, 1, 1, 2
TABLE, CHAIN = b"toolwright\0", b"out\0"


def lead_every_address_here(family: socket.AddressFamily) -> None:
    """Say that whatever address there is belongs to this namespace: `ip route add local 0.0.0.0/0 dev lo`."""
    body = struct.pack("BBBBBBBBI", family, 0, 0, 0, LOCAL_TABLE, BY_HAND, ON_THIS_HOST, LOCAL, 0)
    body += _attribute(THROUGH_DEVICE, struct.pack("I", LOOPBACK)) + _attribute(OF_TABLE, struct.pack("I", LOCAL_TABLE))
    _ask(ROUTE, [_message(NEW_ROUTE, REQUEST | ACKNOWLEDGED | CREATED | EXCLUSIVE, body)], answers=1)


def redirect_connections(family: socket.AddressFamily, port: int) -> None:
    """Have every connection that is not for the loopback come to a port of the loopback."""
    kind = IP if family == socket.AF_INET else IP6
    hook = _attribute(1, _number(OUTGOING)) + _attribute(2, struct.pack(">i", BEFORE_ROUTES))
    chain = _attribute(1, TABLE) + _attribute(3, CHAIN) + _attribute(4 | NESTED, hook) + _attribute(7, b"nat\0")
    steps = b"".join(_attribute(1 | NESTED, step) for step in _steps(family, port))
    rule = _attribute(1, TABLE) + _attribute(2, CHAIN) + _attribute(4 | NESTED, steps)
    flags = REQUEST | CREATED | ACKNOWLEDGED
    messages = [
        _message(BEGIN, REQUEST, _head(0, TABLES)),
        _message(NEW_TABLE, flags, _head(kind) + _attribute(1, TABLE)),
        _message(NEW_CHAIN, flags, _head(kind) + chain),
        _message(NEW_RULE, flags, _head(kind) + rule),
        _message(END, REQUEST, _head(0, TABLES)),
    ]
    _ask(NETFILTER, messages, answers=3)


def _steps(family: socket.AddressFamily, port: int) -> Iterable[bytes]:
    """TCP, to an address that is not of the loopback, goes to the port."""
    yield _step(b"meta\0", _attribute(1, _number(REGISTER)), _attribute(2, _number(PROTOCOL)))
    yield _compared(EQUAL, bytes([TCP]))
    at, value = (16, b"\x7f") if family == socket.AF_INET else (24, socket.inet_pton(socket.AF_INET6, "::1"))
    where = (REGISTER, NETWORK_HEADER, at, len(value))
    yield _step(b"payload\0", *(_attribute(number, _number(one)) for number, one in enumerate(where, 1)))
    yield _compared(DIFFERENT, value)
    yield _step(b"immediate\0", _attribute(1, _number(REGISTER)), _value(2, struct.pack(">H", port)))
    yield _step(b"redir\0", _attribute(1, _number(REGISTER)), _attribute(3, _number(TO_PORT)))


def _compared(how: int, value: bytes) -> bytes:
    return _step(b"cmp\0", _attribute(1, _number(REGISTER)), _attribute(2, _number(how)), _value(3, value))


def _step(name: bytes, *attributes: bytes) -> bytes:
    return _attribute(1, name) + _attribute(2 | NESTED, b"".join(attributes))


def _value(kind: int, value: bytes) -> bytes:
    return _attribute(kind | NESTED, _attribute(1, value))


def _number(value: int) -> bytes:
    return struct.pack(">I", value)


def _head(family: int, part: int = 0) -> bytes:
    return struct.pack(">BBH", family, 0, part)


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def _message(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("IHHII", 16 + len(body), kind, flags, 0, 0) + body


def _ask(part: int, messages: list[bytes], *, answers: int) -> None:
    """Send all at once; OSError if the kernel refuses any of them."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, part) as kernel:
        kernel.send(b"".join(messages))
        while answers > 0:
            data = kernel.recv(65536)
            while len(data) >= 20:
                length, kind = struct.unpack_from("IH", data)
                if kind == ERROR:
                    answers -= 1
                    if number := struct.unpack_from("i", data, 16)[0]:
                        raise OSError(-number, os.strerror(-number))
                data = data[(length + 3) & ~3 :]

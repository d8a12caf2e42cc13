"""Connections where there are no namespaces: the leader makes them for its programs, to our own door.

Sockets of the internet are made by us and are tied to the loopback, so that a program which gets past us reaches no
other machine. Each call to connect is held until we have connected to the door in its place and said whereto it was:
the door decides, and passes on what is said. What a program has in its memory is read once, by us.
"""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH115, PTH123

import errno
import fcntl
import os
import signal
import socket
import struct

from .capture import listener as kernel
from .capture.calls import ARCHITECTURE
from .gated_calls import GATED
from .order import GateOrder
from .space import NAMES, PROXY

PREAMBLE = struct.Struct("!64s46sH")
"""The first message to the door: the secret, the address, the port."""
LONGEST_ADDRESS = 128
PATIENCE = 5.0
"""Seconds for the door, which is on this machine, to take a connection."""
_ADD = 0x40182103
_ADDITION = struct.Struct("=QIIII")
_REPLACE = 1
_KIND, _NOT_WAITING, _CLOSED_LATER = 0xF, os.O_NONBLOCK, os.O_CLOEXEC
_OUTGOING = (0, socket.IPPROTO_TCP)
_OWN = ("127.", "::1", "::ffff:127.", "0.0.0.0")  # noqa: S104 - what programs mean their own machine by
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


class ScopeConnections:
    """The connections of one scope."""

    def __init__(self, gate: GateOrder) -> None:
        self._gate = gate
        self._secret = gate["secret"].encode()
        self._calls = GATED[os.uname().machine]
        self._ours = ARCHITECTURE[os.uname().machine]

    def run(self, listener: int) -> None:
        """Answer until all have ended, in a thread of its own, where nothing else is to be heard of."""
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        request = bytearray(kernel.SIZE)
        try:
            while True:
                held = kernel.receive(listener, request)
                if held is not None:
                    self.answer(listener, held)
                elif kernel.is_over(listener):
                    return
        finally:
            os.close(listener)

    def takes(self, held: kernel.HeldCall) -> bool:
        """Tell whether a call is of our concern."""
        return held.architecture == self._ours and held.number in self._calls

    def answer(self, listener: int, held: kernel.HeldCall) -> None:
        """Do in the place of a program what it has asked for, or refuse it. Whatever fails, the call fails."""
        try:
            if not self.takes(held):
                raise PermissionError(errno.EACCES, "")
            if self._calls[held.number] == "socket":
                value = _new_socket(listener, held)
            elif self._connect(listener, held):
                value = 0
            else:
                kernel.let_go_on(listener, held)
                return
        except Exception as problem:  # noqa: BLE001 - whatever it is, the program must be answered
            number = problem.errno if isinstance(problem, OSError) else None
            kernel.refuse(listener, held, number or errno.EACCES)
            return
        kernel.answer(listener, held, value)

    def _connect(self, listener: int, held: kernel.HeldCall) -> bool:
        """Connect to the door for a program; False for what is no business of ours, as local sockets."""
        descriptor, address, size = (argument & 0xFFFFFFFFFFFFFFFF for argument in held.arguments[:3])
        descriptor &= 0xFFFFFFFF
        place = _memory(held.task, address, min(size, LONGEST_ADDRESS))
        if not kernel.is_still_held(listener, held):
            raise ProcessLookupError(errno.ESRCH, "")
        family = int.from_bytes(place[:2], "little")
        if family not in _FAMILIES:
            return False
        if len(place) < (8 if family == socket.AF_INET else 24):
            raise OSError(errno.EINVAL, "")
        host = socket.inet_ntop(family, place[4:8] if family == socket.AF_INET else place[8:24])
        port = int.from_bytes(place[2:4], "big")
        if host.startswith(_OWN) and port not in (PROXY, NAMES) and not _is_listened_on(port):
            raise ConnectionRefusedError(errno.ECONNREFUSED, "")
        flags = _flags(held.task, descriptor)
        with socket.socket(socket.AF_INET) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(("127.0.0.1", self._gate["port"]))
            connection.sendall(PREAMBLE.pack(self._secret, host.encode(), port))
            connection.setblocking(not flags & _NOT_WAITING)
            _hand_over(listener, held, connection, flags & _CLOSED_LATER, instead_of=descriptor)
        return True


def _new_socket(listener: int, held: kernel.HeldCall) -> int:
    """Make a socket that leads nowhere but to this machine; its number in the program."""
    family, kind, protocol = (argument & 0xFFFFFFFF for argument in held.arguments[:3])
    if family not in _FAMILIES or kind & _KIND != socket.SOCK_STREAM or protocol not in _OUTGOING:
        raise PermissionError(errno.EACCES, "")
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        connection.setblocking(not kind & socket.SOCK_NONBLOCK)
        return _hand_over(listener, held, connection, _CLOSED_LATER if kind & socket.SOCK_CLOEXEC else 0)


def _hand_over(
    listener: int, held: kernel.HeldCall, connection: socket.socket, flags: int, *, instead_of: int | None = None
) -> int:
    how, number = (0, 0) if instead_of is None else (_REPLACE, instead_of)
    addition = bytearray(_ADDITION.pack(held.id, how, connection.fileno(), number, flags))
    return int(fcntl.ioctl(listener, _ADD, addition))


def _is_listened_on(port: int) -> bool:
    """Tell whether anybody on this machine would take a connection: programs wait for each other by trying."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as file:
                if any(f":{port:04X} " in line[:50] and line.split()[3] == "0A" for line in file):
                    return True
        except OSError:
            continue
    return False


def _memory(task: int, address: int, size: int) -> bytes:
    opened = os.open(f"/proc/{task}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(opened, size, address)
    finally:
        os.close(opened)


def _flags(task: int, descriptor: int) -> int:
    """Return the flags of a program's socket. OSError if it is none."""
    if not os.readlink(f"/proc/{task}/fd/{descriptor}").startswith("socket:"):
        raise OSError(errno.ENOTSOCK, "")
    with open(f"/proc/{task}/fdinfo/{descriptor}") as file:
        return next(int(line.split()[1], 8) for line in file if line.startswith("flags:"))

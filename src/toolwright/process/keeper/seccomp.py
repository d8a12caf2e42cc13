"""No network: a filter on system calls under which only local sockets can be made."""

import ctypes
import errno
import os

from .system import PR_SET_SECCOMP, prctl

FILTER_MODE = 2
LOAD, EQUAL, AT_LEAST, ANSWER = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
NUMBER_AT, MACHINE_AT, FAMILY_AT = 0, 4, 16
UNIX, NETLINK = 1, 16
FOREIGN_NUMBERS = 0x40000000
"""From here on numbers belong to the x32 form of system calls, which has a socket of its own."""
IO_URING = 425
"""Its queues make sockets without a system call for each."""
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The name of each machine in a filter, and the number of `socket` on it."""


def refuse_network() -> None:
    """Refuse sockets of all kinds but those within the machine, to this process and all it starts."""
    machine = os.uname().machine
    known = MACHINES.get(machine)
    if known is None:
        raise OSError(0, f"the network cannot be switched off on {machine}")
    filters = _filters(*known)
    program = _Program(len(filters), (_Filter * len(filters))(*filters))
    prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program))


class _Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.POINTER(_Filter)))


def _filters(machine: int, socket: int) -> list[_Filter]:
    """Jumps count the instructions they skip; the last two are the answers."""
    return [
        _Filter(LOAD, 0, 0, MACHINE_AT),
        _Filter(EQUAL, 0, 8, machine),
        _Filter(LOAD, 0, 0, NUMBER_AT),
        _Filter(AT_LEAST, 6, 0, FOREIGN_NUMBERS),
        _Filter(EQUAL, 5, 0, IO_URING),
        _Filter(EQUAL, 0, 3, socket),
        _Filter(LOAD, 0, 0, FAMILY_AT),
        _Filter(EQUAL, 1, 0, UNIX),
        _Filter(EQUAL, 0, 1, NETLINK),
        _Filter(ANSWER, 0, 0, ALLOW),
        _Filter(ANSWER, 0, 0, REFUSE),
    ]

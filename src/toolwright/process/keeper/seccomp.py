"""Filters on system calls: no network but local sockets, and for root no files that make others root, and no keys."""

import ctypes
import errno
import os
from collections.abc import Iterator
from functools import cache

from .system import PR_SET_SECCOMP, prctl

FILTER_MODE = 2
LOAD, EQUAL, AT_LEAST, ANY_BIT, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
NUMBER_AT, MACHINE_AT, FIRST_ARGUMENT_AT, ARGUMENT_SIZE = 0, 4, 16, 8
UNIX, INTERNET, INTERNET_6, NETLINK = 1, 2, 10, 16
LOCAL = (UNIX, NETLINK)
OF_NAMESPACE = (UNIX, INTERNET, INTERNET_6, NETLINK)
"""Sockets that lead nowhere from a network namespace without a way out. Others (to the machine around a virtual one)
know nothing of namespaces."""
SET_USER_ID = 0o4000
FOREIGN_NUMBERS = 0x40000000
"""From here on numbers belong to the x32 form of system calls, which has a socket of its own."""
IO_URING, OPENAT2 = 425, 437
"""Queues that make sockets and files without a system call for each, and a call whose mode no filter can see."""
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The name of each machine in a filter, and the number of `socket` on it."""
KEYS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
"""The calls for keys that the kernel keeps: those of root are for all of root's processes."""
MODES = {
    "x86_64": {2: 2, 85: 1, 90: 1, 91: 1, 133: 1, 257: 3, 259: 2, 268: 2, 452: 2},
    "aarch64": {33: 2, 52: 1, 53: 2, 56: 3, 452: 2},
}
"""The calls that give a file its mode, and which of their arguments it is."""


def refuse(*, network: bool, root: bool) -> None:
    """Put a filter on this process and all it starts: for those without network, and for root."""
    rules = _filters(families=None if network else LOCAL, root=root)
    program = _Program(len(rules), rules)
    prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program))


def filter_for_bubblewrap(*, network: bool, root: bool) -> bytes:
    """What its namespaces do not see to, in the form that it reads; empty for a machine that is not known."""
    known = os.uname().machine in MACHINES
    return bytes(_filters(families=None if network else OF_NAMESPACE, root=root)) if known else b""


def put_together(*, root: bool) -> None:
    """The filters there may be need of, once and not by each leader."""
    if os.uname().machine in MACHINES:
        for families in (None, LOCAL, OF_NAMESPACE) if root else (LOCAL, OF_NAMESPACE):
            _filters(families=families, root=root)


class _Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.POINTER(_Filter)))


@cache
def _filters(*, families: tuple[int, ...] | None, root: bool) -> "ctypes.Array[_Filter]":
    """Each step falls through to the next, or refuses. The last two instructions are the answers."""
    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError(0, f"system calls cannot be filtered on {machine}")
    steps = list(_steps(machine, families=families, root=root))
    refusal = len(steps) + 1
    made = [
        _Filter(code, refusal - at - 1 if yes < 0 else yes, refusal - at - 1 if no < 0 else no, value)
        for at, (code, yes, no, value) in enumerate(steps)
    ]
    rules = [*made, _Filter(ANSWER, 0, 0, ALLOW), _Filter(ANSWER, 0, 0, REFUSE)]
    return (_Filter * len(rules))(*rules)


_Step = tuple[int, int, int, int]
"""An instruction, how many to skip if it holds and if not, and its value; -1 is a jump to the refusal."""


def _steps(machine: str, *, families: tuple[int, ...] | None, root: bool) -> Iterator[_Step]:
    name, socket = MACHINES[machine]
    yield LOAD, 0, 0, MACHINE_AT
    yield EQUAL, 0, -1, name
    yield LOAD, 0, 0, NUMBER_AT
    yield AT_LEAST, -1, 0, FOREIGN_NUMBERS
    yield EQUAL, -1, 0, IO_URING
    if root:
        for number in (OPENAT2, *KEYS[machine]):
            yield EQUAL, -1, 0, number
        for number, argument in MODES[machine].items():
            yield EQUAL, 0, 3, number
            yield LOAD, 0, 0, _at(argument)
            yield ANY_BIT, -1, 0, SET_USER_ID
            yield LOAD, 0, 0, NUMBER_AT
    if families is not None:
        *most, last = families
        yield EQUAL, 0, len(families) + 1, socket
        yield LOAD, 0, 0, _at(0)
        yield from ((EQUAL, len(most) - at, 0, family) for at, family in enumerate(most))
        yield EQUAL, 0, -1, last


def _at(argument: int) -> int:
    return FIRST_ARGUMENT_AT + argument * ARGUMENT_SIZE

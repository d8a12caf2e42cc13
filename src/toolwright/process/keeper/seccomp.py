"""Filters on system calls: no network but local sockets, and for root no files that make others root, and no keys."""

import ctypes
import errno
import os
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .capture.calls import ARCHITECTURE, BROKERED_NUMBERS, CALLS, UNSEEN, WRITING
from .gated_calls import FAST_OPEN, GATED, SENDING
from .system import PR_SET_SECCOMP, prctl

FILTER_MODE = 2
LOAD, EQUAL, AT_LEAST, ANY_BIT, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, MISSING, NOTIFY = 0x7FFF0000, 0x00050000 | errno.EACCES, 0x00050000 | errno.ENOSYS, 0x7FC00000
NUMBER_AT, MACHINE_AT, FIRST_ARGUMENT_AT, ARGUMENT_SIZE = 0, 4, 16, 8
UNIX, INTERNET, INTERNET_6, NETLINK = 1, 2, 10, 16
LOCAL = (UNIX, NETLINK)
OF_NAMESPACE = (UNIX, INTERNET, INTERNET_6, NETLINK)
"""Sockets that lead nowhere from a network namespace without a way out. Others (to the machine around a virtual one)
know nothing of namespaces."""
SET_USER_ID = 0o4000
ANY = 0xFFFFFFFF
FOREIGN_NUMBERS = 0x40000000
"""From here on numbers belong to the x32 form of system calls, which has a socket of its own."""
IO_URING, OPENAT2 = 425, 437
"""Queues that make sockets and files without a system call for each, and a call whose mode no filter can see."""
MACHINES = {"x86_64": (ARCHITECTURE["x86_64"], 41), "aarch64": (ARCHITECTURE["aarch64"], 198)}
"""The name of each machine in a filter, and the number of `socket` on it."""
KEYS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
"""The calls for keys that the kernel keeps: those of root are for all of root's processes."""
MODES = {
    "x86_64": {2: 2, 85: 1, 90: 1, 91: 1, 133: 1, 257: 3, 259: 2, 268: 2, 452: 2},
    "aarch64": {33: 2, 52: 1, 53: 2, 56: 3, 452: 2},
}
"""The calls that give a file its mode, and which of their arguments it is."""


def refuse(*, network: bool, own_space: bool, root: bool) -> None:
    """Put a filter on this process and all it starts: for those without network, or with one of their own, and for
    root."""
    families = OF_NAMESPACE if own_space else None if network else LOCAL
    program = program_of(_filters(families=families, root=root))
    prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program))


def filter_for_bubblewrap(*, network: bool, root: bool) -> bytes:
    """Return a filter for what its namespaces do not see to, in its form; empty for a machine that is not known."""
    known = os.uname().machine in MACHINES
    return bytes(_filters(families=None if network else OF_NAMESPACE, root=root)) if known else b""


class HeardCalls(NamedTuple):
    """Calls that are heard of before they are made."""

    files: bool = False
    """Those that change files."""
    brokered: bool = False
    """More of these, for whom changes are made."""
    reads: bool = False
    """All that open anything."""
    gated: bool = False
    """Connections, for those that reach others by our door alone."""


NOTHING = HeardCalls()


@cache
def hearing(heard: HeardCalls, *, network: bool, own_space: bool, root: bool) -> "FilterProgram":
    """Return the same as `refuse` puts on, with notifications."""
    families = LOCAL if heard.gated or not (network or own_space) else OF_NAMESPACE if own_space else None
    return program_of(_filters(families=families, root=root, heard=heard))


def put_together(*, root: bool) -> None:
    """The filters there may be need of, once and not by each leader."""
    if os.uname().machine in MACHINES:
        for families in (None, LOCAL, OF_NAMESPACE) if root else (LOCAL, OF_NAMESPACE):
            _filters(families=families, root=root)
        for own_space, network in ((True, True), (False, True), (False, False)):
            for brokered in (True, False):
                hearing(HeardCalls(files=True, brokered=brokered), network=network, own_space=own_space, root=root)


def program_of(rules: "ctypes.Array[_Filter]") -> "FilterProgram":
    return FilterProgram(len(rules), rules)


class _Filter(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint32))


class FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.POINTER(_Filter)))


@cache
def _filters(*, families: tuple[int, ...] | None, root: bool, heard: HeardCalls = NOTHING) -> "ctypes.Array[_Filter]":
    """Each step falls through to the next, or jumps to an answer. Those are the last instructions."""
    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError(0, f"system calls cannot be filtered on {machine}")
    steps = list(_steps(machine, families=families, root=root, heard=heard))
    first = len(steps)
    filters = [
        _Filter(code, first - yes - at - 1 if yes < 0 else yes, first - no - at - 1 if no < 0 else no, value)
        for at, (code, yes, no, value) in enumerate(steps)
    ]
    rules = [*filters, *(_Filter(ANSWER, 0, 0, answer) for answer in (ALLOW, REFUSE, MISSING, NOTIFY))]
    return (_Filter * len(rules))(*rules)


REFUSED, NOT_THERE, NOTED = -1, -2, -3
"""Targets that a step may jump to: the answers after the first one, which is to allow."""
_Step = tuple[int, int, int, int]
"""An instruction, how many to skip if it holds and if not, and its value; negative is a jump to an answer."""


def _steps(machine: str, *, families: tuple[int, ...] | None, root: bool, heard: HeardCalls) -> Iterator[_Step]:
    name, socket = MACHINES[machine]
    captured = heard.files
    yield LOAD, 0, 0, MACHINE_AT
    # A program of another machine is let go on where nothing is to be refused: what it does is noted as not seen.
    yield EQUAL, 0, REFUSED if root or families is not None else NOTED, name
    yield LOAD, 0, 0, NUMBER_AT
    yield AT_LEAST, NOT_THERE if captured else REFUSED, 0, FOREIGN_NUMBERS
    for number in UNSEEN[machine] if captured else (IO_URING,):
        yield EQUAL, NOT_THERE if captured else REFUSED, 0, number
    if root:
        for number in KEYS[machine] if captured else (OPENAT2, *KEYS[machine]):
            yield EQUAL, REFUSED, 0, number
        for number, argument in MODES[machine].items():
            yield EQUAL, 0, 3, number
            yield LOAD, 0, 0, _at(argument)
            yield ANY_BIT, REFUSED, 0, SET_USER_ID
            yield LOAD, 0, 0, NUMBER_AT
    if captured:
        yield from _notifications(machine, heard)
    if heard.gated:
        yield from _of_gate(machine)
    if families is not None:
        *most, last = families
        yield EQUAL, 0, len(families) + 1, socket
        yield LOAD, 0, 0, _at(0)
        yield from ((EQUAL, len(most) - at, 0, family) for at, family in enumerate(most))
        yield EQUAL, 0, REFUSED, last


def _of_gate(machine: str) -> Iterator[_Step]:
    """Sockets and connections of the internet are made by us; what connects as it sends is refused."""
    for number, name in GATED[machine].items():
        if name == "connect":
            yield EQUAL, NOTED, 0, number
            continue
        yield EQUAL, 0, 4, number
        yield LOAD, 0, 0, _at(0)
        yield EQUAL, NOTED, 0, INTERNET
        yield EQUAL, NOTED, 0, INTERNET_6
        yield LOAD, 0, 0, NUMBER_AT
    for number, argument in SENDING[machine].items():
        yield EQUAL, 0, 3, number
        yield LOAD, 0, 0, _at(argument)
        yield ANY_BIT, REFUSED, 0, FAST_OPEN
        yield LOAD, 0, 0, NUMBER_AT


def _notifications(machine: str, heard: HeardCalls) -> Iterator[_Step]:
    """Yield the steps for calls heard of: opening only if the file may be written, times only if given by a path."""
    for number, call in CALLS[machine].items():
        if number in BROKERED_NUMBERS[machine] and not heard.brokered:
            continue
        if call.kind != "times" and (heard.reads or call.kind != "open"):
            yield EQUAL, NOTED, 0, number
            continue
        yield EQUAL, 0, 3, number
        yield LOAD, 0, 0, _at(call.flags if call.kind == "open" else call.path)
        yield ANY_BIT, NOTED, 0, WRITING if call.kind == "open" else ANY
        yield LOAD, 0, 0, NUMBER_AT


def _at(argument: int) -> int:
    return FIRST_ARGUMENT_AT + argument * ARGUMENT_SIZE

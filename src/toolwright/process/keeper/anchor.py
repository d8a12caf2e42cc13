"""An anchor: the first process of a namespace. When it ends, however it ends, the kernel ends all that it holds."""

import json
import os
import select
import signal
from typing import Any, NamedTuple, NoReturn

from .confine import NEW_PROCESSES, enter
from .launch import Failure, could_not, launch, when_there_is_room
from .order import Order
from .system import call_myself, prctl

PR_SET_PDEATHSIG = 1


class Anchored(NamedTuple):
    """The program runs, below its anchor."""

    pid: int
    """The anchor's own."""
    program: int
    reports: int
    """Where the anchor tells how the program ended, as one JSON object."""


def drop_anchor(order: Order, standard: list[int]) -> Anchored | Failure:
    """Start the program below a new anchor, which goes when the calling process does."""
    reports, reporting = os.pipe()
    try:
        enter(NEW_PROCESSES)
        pid = when_there_is_room(os.fork)
    except OSError as problem:
        return Failure(could_not("make a namespace for processes", problem))
    if not pid:
        os.close(reports)
        _hold_and_exit(order, standard, reporting)
    os.close(reporting)
    first = json.loads(_line(reports) or b'{"failed": "the process that starts it was killed"}')
    if "failed" in first:
        os.waitpid(pid, 0)
        return Failure(first["failed"])
    return Anchored(pid, first["started"], reports)


def _line(reports: int) -> bytes:
    """Up to a line end; the first line is short and comes in one piece, with nothing after it for a while."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(reports, 1)
        if not piece:
            break
        line += piece
    return line


def _hold_and_exit(order: Order, standard: list[int], reporting: int) -> NoReturn:
    try:
        _hold(order, standard, reporting)
    finally:
        os._exit(0)


def _hold(order: Order, standard: list[int], reporting: int) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if _is_alone(reporting):
        return
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    call_myself("toolwright-hold")
    started = launch(order, standard)
    for descriptor in standard:
        os.close(descriptor)
    if isinstance(started, Failure):
        _report(reporting, failed=started.reason)
        return
    _report(reporting, started=started.pid)
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == started.pid:
            _report(reporting, **started.end(status))


def _is_alone(reporting: int) -> bool:
    """Whether whoever should hear our reports was gone before its death could reach us."""
    poll = select.poll()
    poll.register(reporting, select.POLLERR)
    return bool(poll.poll(0))


def _report(reporting: int, **message: Any) -> None:
    os.write(reporting, json.dumps(message).encode() + b"\n")

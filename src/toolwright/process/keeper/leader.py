"""A leader: starts one program, tells what becomes of it, and ends everything below when told to or left alone."""

import json
import os
import select
import signal
import socket
import time
from functools import partial
from typing import Any

from . import family
from .launch import LaunchFailure, Started, launch
from .order import StartOrder
from .usage import ScopeUsage

RESWEEP = 0.02
"""Seconds between looks for processes that a first SIGKILL has missed."""
LONGEST_HELD = 15.0
"""Seconds for which a call may be held while we look at what it is about to change."""
EVERYBODY = -1
"""To the first process of a namespace: all others in it."""


def lead(
    order: StartOrder, standard: list[int], control: socket.socket, wakeup: int, *, anchored: bool = False
) -> None:
    """Stay until the scope is empty. The control socket carries one JSON object per line, both ways.

    `anchored` says that we are the first process of a namespace, with which the kernel ends all others in it.
    """
    started = launch(order, standard, partial(tell, control), anchored=anchored)
    for descriptor in standard:
        os.close(descriptor)
    if isinstance(started, LaunchFailure):
        tell(control, failed=started.reason)
        return
    tell(control, started=started.pid, leader=family.ourselves())
    Leader(started, order, control, anchored=anchored).run(wakeup)


class Leader:
    """The life of one scope: the program runs, it has ended and others linger, all is being ended, nothing is left."""

    def __init__(self, started: Started, order: StartOrder, control: socket.socket, *, anchored: bool) -> None:
        self._started = started
        self._anchored = anchored
        self._linger = order["linger"]
        self._usage = ScopeUsage(order)
        self._control = control
        self._commands = b""
        self._ended: dict[str, Any] | None = None
        """The end of the program, until that has been told."""
        self._told = False
        self._tell_at: float | None = None
        self._kill_at: float | None = None
        self._count_at: float | None = time.monotonic() + self._usage.pause
        self._excess = ""
        self._empty = False
        self._watch = started.watch

    def run(self, wakeup: int) -> None:
        while not self._empty:
            ready, _, _ = select.select([self._control.fileno(), wakeup], [], [], self._patience())
            if wakeup in ready:
                os.read(wakeup, 4096)
                self._reap()
            if self._control.fileno() in ready and not self._empty:
                self._listen()
            self._act_on_time()

    def _patience(self) -> float | None:
        moments = [moment for moment in (self._tell_at, self._kill_at, self._count_at) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _reap(self) -> None:
        """Having no children left proves the scope empty: every descendant is a child or has a parent that is one."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._empty = True
                self._tell_end()
                return
            if not pid:
                return
            if pid == self._started.pid:
                self._ended = self._started.end(status)
                self._tell_at = time.monotonic() + self._linger

    def _tell_end(self) -> None:
        """Told once the scope is empty, or when what lingers has had its time; and then again when it is empty."""
        self._tell_at = None
        message: dict[str, Any] = {"empty": True} if self._empty else {}
        if self._ended is not None and not self._told:
            self._told = True
            refused = self._watch.refused() if self._watch is not None else []
            left = [] if self._empty else _left()
            message |= self._ended | {"left": left, "excess": self._excess, "refused": refused}
        if message:
            silent = self._watch is not None and self._watch.is_silent
            tell(self._control, **message, **({"silent": True} if silent else {}))

    def _listen(self) -> None:
        """`{"stop": seconds}` asks for an end, `{"mark": number}` for what is captured to be noted anew, `{"answer":
        number}` is for a call that is held; a socket that is closed means that nobody waits any more."""
        try:
            data = self._control.recv(4096)
        except ConnectionError:
            data = b""
        if not data:
            self._control.close()
            self._control = _nobody()
            return self._end(0)
        *lines, self._commands = (self._commands + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))
        return None

    def _obey(self, command: dict[str, Any]) -> None:
        if "stop" in command:
            self._end(command["stop"])
            return
        if "answer" in command:
            if self._watch is not None and self._watch.questions is not None:
                self._watch.questions.answer(command["answer"], allow=command["allow"])
            return
        if self._watch is not None:
            self._watch.mark(command["mark"])
        tell(self._control, marked=True)

    def _end(self, grace: float) -> None:
        if self._watch is not None and self._watch.questions is not None:
            self._watch.questions.end()
        if grace:
            for number in (signal.SIGTERM, signal.SIGCONT):
                self._signal_everybody(number)
        self._kill_at = time.monotonic() + grace

    def _signal_everybody(self, number: int) -> None:
        if not self._anchored:
            family.signal_all(os.getpid(), number)
            return
        try:
            os.kill(EVERYBODY, number)
        except ProcessLookupError:
            return

    def _kill_everybody(self) -> None:
        """Within a namespace one call reaches all, and nobody can be born meanwhile."""
        if self._anchored:
            self._signal_everybody(signal.SIGKILL)
        else:
            family.kill_all(os.getpid())

    def _act_on_time(self) -> None:
        now = time.monotonic()
        if self._tell_at is not None and now >= self._tell_at:
            self._tell_end()
        if self._count_at is not None and now >= self._count_at:
            self._count()
        if self._kill_at is not None and now >= self._kill_at and not self._empty:
            self._kill_everybody()
            self._kill_at = time.monotonic() + RESWEEP

    def _count(self) -> None:
        held = self._watch is not None and self._watch.held_for() > LONGEST_HELD
        self._excess = "held" if held else self._usage.excess(family.descendants(family.ourselves()))
        self._count_at = None if self._excess else time.monotonic() + self._usage.pause
        if self._excess:
            self._end(0)


def _left() -> list[dict[str, Any]]:
    """Return what still runs, for people to read, without those that only wait for others, such as bubblewrap."""
    named = [(pid, family.command_line(pid)) for pid in family.descendants(family.ourselves())]
    return [{"pid": pid, "command": line} for pid, line in named if line and not _only_waits(line)]


def _only_waits(line: str) -> bool:
    return line.split(" ", 1)[0].rpartition("/")[2] == "bwrap"


def _nobody() -> socket.socket:
    """A socket on which nothing ever arrives."""
    ours, theirs = socket.socketpair()
    theirs.detach()
    return ours


def tell(control: socket.socket, **message: object) -> None:
    """Say something to our master, who may be gone."""
    try:
        control.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        return

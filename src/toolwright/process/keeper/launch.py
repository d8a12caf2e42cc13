"""From an order to a running program: spawned as it is, or forked where limits come first."""

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from . import inspection, landlock, seccomp
from .confine import confine
from .order import FILTER, OFFLINE, READY, STATUS, Confinement, Order
from .system import die_with_parent

IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these, and what is ignored stays so in a program unless it is reset."""
NO_ROOM, TRIES = 0.05, 300
"""Seconds between two tries to make a process, and how many there are."""


class Failure(NamedTuple):
    """The program never ran, and why."""

    reason: str


class Started(NamedTuple):
    """The program runs."""

    pid: int
    status: int | None
    """Where bubblewrap tells how it went."""

    def end(self, status: int) -> dict[str, Any]:
        """How the program ended, from what the system says of the process we started."""
        number = os.waitstatus_to_exitcode(status)
        how = {"code": number} if number >= 0 else {"code": None, "signal": -number}
        return how | {"ran": self._ran(number)}

    def _ran(self, number: int) -> bool:
        """Bubblewrap writes the exit code only if it came as far as the program; one that was killed writes none."""
        if self.status is None or number < 0:
            return True
        os.set_blocking(self.status, False)
        try:
            report = os.read(self.status, 4096)
        except BlockingIOError:
            return True
        return b"exit-code" in report


def launch(order: Order, standard: list[int]) -> Started | Failure:
    """Start the program in a session of its own; return when it runs or cannot."""
    try:
        os.chdir(order["cwd"])
    except OSError as problem:
        return Failure(f"could not enter {order['cwd']}: {problem.strerror}")
    if order["scoped"]:
        landlock.keep_to_ourselves()
    if order["confinement"] is None:
        return _spawn(order, standard)
    return _fork(order, standard, order["confinement"])


def _spawn(order: Order, standard: list[int]) -> Started | Failure:
    """Faster than a fork by half, for it copies nothing."""
    status, gate, handed = None, -1, dict[str, int]()
    if STATUS in order["argv"]:
        status, handed[STATUS] = os.pipe()
    for word in (FILTER, OFFLINE):
        if word in order["argv"]:
            handed[word] = _filter(network=word == FILTER)
    if READY in order["argv"]:
        handed[READY], gate = inspection.full_pipe()
    for descriptor in handed.values():
        os.set_inheritable(descriptor, True)
    argv = [str(handed[word]) if word in handed else word for word in order["argv"]]
    files = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(standard)]
    try:
        pid = when_there_is_room(
            lambda: os.posix_spawn(
                order["path"], argv, order["env"], file_actions=files, setsid=True, setsigdef=IGNORED
            )
        )
    except (OSError, ValueError) as problem:
        return Failure(could_not(f"start {order['path']}", problem))
    finally:
        for descriptor in handed.values():
            os.close(descriptor)
    return Started(pid, status) if gate < 0 else _inspected(Started(pid, status), gate, order["exact"])


def _inspected(started: Started, gate: int, exact: list[str]) -> Started | Failure:
    """Let the program begin, or all that there is of it end. So far that is bubblewrap alone, which is one group."""
    came_out = inspection.came_out(gate, exact)
    if not came_out:
        os.killpg(started.pid, signal.SIGKILL)
        os.waitpid(started.pid, 0)
    os.close(gate)
    return started if came_out else Failure("a link was put in the place of a folder while its sandbox was set up")


def _filter(*, network: bool) -> int:
    """A pipe that holds all of the filter, which is far less than a pipe can hold."""
    reading, writing = os.pipe()
    os.write(writing, seccomp.filter_for_bubblewrap(network=network, root=os.geteuid() == 0))
    os.close(writing)
    return reading


def when_there_is_room(make: Callable[[], int]) -> int:
    """Make a process, and wait for a while if the user or the machine has as many as it may."""
    for _ in range(TRIES):
        try:
            return make()
        except BlockingIOError:
            time.sleep(NO_ROOM)
    return make()


def _fork(order: Order, standard: list[int], confinement: Confinement) -> Started | Failure:
    """A fork, because what the new process does to itself cannot be undone."""
    report, reporting = os.pipe()
    leader = os.getpid()
    try:
        pid = when_there_is_room(os.fork)
    except OSError as problem:
        return Failure(could_not("make another process", problem))
    if not pid:
        _become(order, standard, confinement, reporting, leader)
    os.close(reporting)
    refusal = os.read(report, 4096)
    os.close(report)
    if not refusal:
        return Started(pid, None)
    os.waitpid(pid, 0)
    return Failure(json.loads(refusal))


def _become(order: Order, standard: list[int], confinement: Confinement, reporting: int, leader: int) -> NoReturn:
    """Turn into the program. Whatever stands in the way goes to the leader as a sentence."""
    step = "set up the sandbox"
    try:
        os.setsid()
        for ignored in IGNORED:
            signal.signal(ignored, signal.SIG_DFL)
        for number, descriptor in enumerate(standard):
            os.dup2(descriptor, number)
        confine(confinement)
        # Once more, for the folder may lie under something that was just mounted.
        os.chdir(order["cwd"])
        step = f"start {order['path']}"
        die_with_parent(leader, signal.SIGKILL)
        os.execve(order["path"], order["argv"], order["env"])  # noqa: S606 - which is the point
    except (OSError, ValueError) as problem:
        os.write(reporting, json.dumps(could_not(step, problem)).encode())
    finally:
        os._exit(127)


def could_not(step: str, problem: OSError | ValueError) -> str:
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return f"could not {step}: {reason}"[:500]

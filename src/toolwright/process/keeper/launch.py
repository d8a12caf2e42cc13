"""From an order to a running program: spawned as it is, or forked where limits come first."""

import _thread
import errno
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from . import inspection, landlock, limits, seccomp
from .capture.listener import hand_over, listen, take_over
from .capture.questions import Say
from .capture.watch import CaptureWatch
from .confine import confine
from .gate import ScopeConnections
from .order import FILTER, OFFLINE, READY, STATUS, KernelConfinement, StartOrder
from .system import die_with_parent

IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these, and what is ignored stays so in a program unless it is reset."""
NO_ROOM, TRIES = 0.05, 300
"""Seconds between two tries to make a process, and how many there are."""


class LaunchFailure(NamedTuple):
    """The program never ran, and why."""

    reason: str


class Started(NamedTuple):
    """The program runs."""

    pid: int
    status: int | None
    """The descriptor where bubblewrap tells how it went."""
    watch: CaptureWatch | None = None
    """Looks at what it changes, if that is captured."""

    def end(self, status: int) -> dict[str, Any]:
        """Return the end of the program, from what the system says of the process we started."""
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


def launch(order: StartOrder, standard: list[int], say: Say, *, anchored: bool = False) -> Started | LaunchFailure:
    """Start the program in a session of its own; return when it runs or cannot.

    `say` tells our master what a program asks; `anchored` says that we are the first process of a namespace.
    """
    try:
        os.chdir(order["cwd"])
    except OSError as problem:
        return LaunchFailure(f"could not enter {order['cwd']}: {problem.strerror}")
    if order["boxed"]:
        limits.mark()
    if order["scoped"]:
        landlock.keep_to_ourselves()
    if order["confinement"] is None:
        return _spawn(order, standard, say, anchored=anchored)
    return _fork(order, standard, order["confinement"], say, anchored=anchored)


def _spawn(order: StartOrder, standard: list[int], say: Say, *, anchored: bool) -> Started | LaunchFailure:
    """Faster than a fork by half, for it copies nothing."""
    status, gate, handed, words = None, -1, dict[str, int](), order["argv"]
    capture = order["capture"]
    network, bubblewrap = OFFLINE not in words, STATUS in words
    if bubblewrap:
        status, handed[STATUS] = os.pipe()
    if capture is not None:
        words = _without_filter(words)
    for word in (FILTER, OFFLINE):
        if word in words:
            handed[word] = _filter(network=word == FILTER)
    if READY in words:
        handed[READY], gate = inspection.full_pipe()
    for descriptor in handed.values():
        os.set_inheritable(descriptor, True)
    argv = [str(handed[word]) if word in handed else word for word in words]
    files = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in enumerate(standard)]

    def spawn() -> int:
        return os.posix_spawn(order["path"], argv, order["env"], file_actions=files, setsid=True, setsigdef=IGNORED)

    listener = None
    try:
        if capture is not None:
            root, heard = bubblewrap and os.geteuid() == 0, _heard_of(order)
            rules = seccomp.hearing(heard, network=True, own_space=not network, root=root)
            pid, listener = _heard(rules, lambda: when_there_is_room(spawn), steady=heard.brokered)
        else:
            pid = when_there_is_room(spawn)
    except (OSError, ValueError) as problem:
        return LaunchFailure(could_not(f"start {order['path']}", problem))
    finally:
        for descriptor in handed.values():
            os.close(descriptor)
    started = Started(pid, status, _watch(order, listener, say, anchored=anchored))
    return started if gate < 0 else _inspected(started, gate, order["exact"])


def _without_filter(argv: list[str]) -> list[str]:
    """Return the words without bubblewrap's own filter: one comes before it that does the same, and is heard of."""
    at = next((at for at, word in enumerate(argv) if word in (FILTER, OFFLINE)), None)
    return argv if at is None else [*argv[: at - 1], *argv[at + 1 :]]


def _heard_of(order: StartOrder) -> seccomp.HeardCalls:
    capture, gated = order["capture"], order["gate"] is not None
    if capture is None:
        return seccomp.HeardCalls(gated=gated)
    return seccomp.HeardCalls(files=True, brokered=capture["brokered"], reads=capture["reads"], gated=gated)


def _heard(rules: seccomp.FilterProgram, start: Callable[[], int], *, steady: bool) -> tuple[int, int]:
    """Start a program whose calls are heard of; its number and the listener.

    A filter is put on a thread, and on what that starts. The thread ends with it; we ourselves have none.
    """
    outcome, done = list[tuple[int, int] | OSError | ValueError](), _thread.allocate_lock()

    def work() -> None:
        try:
            listener = listen(rules, steady=steady)
            outcome.append((start(), listener))
        except (OSError, ValueError) as problem:
            outcome.append(problem)
        finally:
            done.release()

    done.acquire()
    when_there_is_room(lambda: _new_thread(work))
    done.acquire()
    result = outcome[0] if outcome else OSError(errno.EAGAIN, "it was not begun")
    if isinstance(result, tuple):
        return result
    raise result


def _watch(order: StartOrder, listener: int | None, say: Say, *, anchored: bool) -> CaptureWatch | None:
    """Begin to answer, before anything waits for what the program does."""
    if listener is None:
        return None
    connections = None if order["gate"] is None else ScopeConnections(order["gate"])
    if order["capture"] is None:
        if connections is not None:
            when_there_is_room(lambda: _new_thread(lambda: connections.run(listener)))
        return None
    wrapped = STATUS in order["argv"]
    watch = CaptureWatch(listener, order["capture"], say, anchored=anchored, wrapped=wrapped, connections=connections)
    when_there_is_room(lambda: _new_thread(watch.run))
    return watch


def _new_thread(work: Callable[[], None]) -> int:
    try:
        return _thread.start_new_thread(work, ())
    except RuntimeError as problem:
        raise BlockingIOError(errno.EAGAIN, str(problem)) from problem


def _inspected(started: Started, gate: int, exact: list[str]) -> Started | LaunchFailure:
    """Let the program begin, or all that there is of it end. So far that is bubblewrap alone, which is one group."""
    came_out = inspection.came_out(gate, exact)
    if not came_out:
        os.killpg(started.pid, signal.SIGKILL)
        os.waitpid(started.pid, 0)
    os.close(gate)
    return (
        started if came_out else LaunchFailure("a link was put in the place of a folder while its sandbox was set up")
    )


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


def _fork(
    order: StartOrder, standard: list[int], confinement: KernelConfinement, say: Say, *, anchored: bool
) -> Started | LaunchFailure:
    """A fork, because what the new process does to itself cannot be undone."""
    report, reporting = os.pipe()
    leader = os.getpid()
    ours, theirs = socket.socketpair() if order["capture"] or order["gate"] else (None, None)
    try:
        pid = when_there_is_room(os.fork)
    except OSError as problem:
        return LaunchFailure(could_not("make another process", problem))
    if not pid:
        _become(order, standard, confinement, reporting, leader, theirs)
    os.close(reporting)
    listener = None
    if ours is not None and theirs is not None:
        theirs.close()
        listener = take_over(ours)
        ours.close()
    refusal = os.read(report, 4096)
    os.close(report)
    if not refusal:
        return Started(pid, None, _watch(order, listener, say, anchored=anchored))
    os.waitpid(pid, 0)
    return LaunchFailure(json.loads(refusal))


def _become(
    order: StartOrder,
    standard: list[int],
    confinement: KernelConfinement,
    reporting: int,
    leader: int,
    hearing: socket.socket | None,
) -> NoReturn:
    """Turn into the program. Whatever stands in the way goes to the leader as a sentence."""
    step = "set up the sandbox"
    try:
        os.setsid()
        for ignored in IGNORED:
            signal.signal(ignored, signal.SIG_DFL)
        for number, descriptor in enumerate(standard):
            os.dup2(descriptor, number)
        listener = confine(confinement, _heard_of(order) if hearing is not None else None)
        if hearing is not None and listener is not None:
            hand_over(hearing, listener)
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

"""From fork to exec: what happens in the new process before it becomes the program, and how that is told."""

import json
import os
import signal
from typing import Any, NamedTuple, NoReturn

from .confine import confine
from .order import STATUS, Order
from .system import die_with_parent


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
    report, reporting = os.pipe()
    status, telling = os.pipe() if STATUS in order["argv"] else (None, None)
    leader = os.getpid()
    try:
        pid = os.fork()
    except OSError as problem:
        return Failure(f"there is no room for another process: {problem.strerror}")
    if not pid:
        _become(order, standard, reporting, telling, leader)
    for descriptor in (reporting, telling):
        if descriptor is not None:
            os.close(descriptor)
    refusal = os.read(report, 4096)
    os.close(report)
    if not refusal:
        return Started(pid, status)
    os.waitpid(pid, 0)
    return Failure(json.loads(refusal))


def _become(order: Order, standard: list[int], reporting: int, telling: int | None, leader: int) -> NoReturn:
    """Turn into the program. Whatever stands in the way goes to the leader as a sentence."""
    step = "set the process up"
    try:
        os.setsid()
        for number, descriptor in enumerate(standard):
            os.dup2(descriptor, number)
        step = "set up the sandbox"
        if order["confinement"] is not None:
            confine(order["confinement"])
        step = f"enter {order['cwd'][:500]}"
        os.chdir(order["cwd"])
        step = f"start {order['path'][:500]}"
        die_with_parent(leader, signal.SIGKILL)
        os.execve(order["path"], _argv(order, telling), order["env"])  # noqa: S606 - which is the point
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        os.write(reporting, json.dumps(f"could not {step}: {reason[:500]}").encode())
    finally:
        os._exit(127)


def _argv(order: Order, telling: int | None) -> list[str]:
    if telling is None:
        return order["argv"]
    os.set_inheritable(telling, True)
    return [str(telling) if word == STATUS else word for word in order["argv"]]

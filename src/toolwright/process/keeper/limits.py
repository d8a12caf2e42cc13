"""Limits on the machine's room for commands, so that a fork bomb ends early."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH123, PTH208

import os
import resource
import sys
from collections.abc import Iterable
from contextlib import suppress

FIRST_TO_GO = "500"
"""Should the machine run out of memory, commands end before whoever gave them."""
FILE_LOCKS, OUTERMOST = 10, 1_000_000
"""The number of a limit for which Python has no name, and what it is in a box that is in no other."""


def limit(processes: int, groups: Iterable[str]) -> None:
    """Put the calling process and all it will start under a limit.

    Ordinary users are bound by `RLIMIT_NPROC`. Root is not, and goes into control groups; without one it has no
    limit. Done once, before the first command: to change groups takes milliseconds.
    """
    limit = _tasks_of_user() + processes
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    for group in groups:
        with open(f"{group}/cgroup.procs", "w") as file:
            file.write("0")
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(FIRST_TO_GO)


def mark() -> None:
    """Mark the calling process, and all it will start, as one in a box: `holders.py` reads that at our ports.

    The limit of file locks does nothing since Linux 2.4, and whoever has lost the rights over the machine cannot raise
    it again. In a box within a box it is lower still.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(FILE_LOCKS)
        lower = OUTERMOST if hard == resource.RLIM_INFINITY else max(0, hard - 1)
        resource.setrlimit(FILE_LOCKS, (lower, lower))


def _tasks_of_user() -> int:
    """The system counts all tasks of a user against the limit, those of other programs included."""
    if sys.platform != "linux":
        return 0
    user, count = os.getuid(), 0
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdecimal() and entry.stat().st_uid == user:
                count += len(os.listdir(f"/proc/{entry.name}/task"))
        except OSError:
            continue
    return count

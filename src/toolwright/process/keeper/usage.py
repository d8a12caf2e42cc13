"""What a scope takes of the machine, looked at now and then where nothing else limits it."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH123

import os
from collections.abc import Sequence

from .order import Order

SOON, LATER = 0.2, 1.0
"""Seconds between two looks: at first, and once a scope has shown that it takes its time."""
ROOM = 1024**3
"""Bytes that must stay free on a disk."""
SHARE = 256 * 1024**2
"""Bytes that must have gone since the program began for it to be the one who took them."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage:
    """Whether a scope is too much for the machine."""

    def __init__(self, order: Order) -> None:
        self.pause = SOON
        self._processes, self._memory = order["watch"], order["memory"]
        self._free = {folder: _free(folder) for folder in order["disk"]}

    def excess(self, pids: Sequence[int]) -> str:
        """What there is too much of: `processes`, `memory` or `disk`; empty if all is well."""
        self.pause = LATER if self._processes == 0 else SOON
        if self._processes and len(pids) > self._processes:
            return "processes"
        if self._memory and sum(map(_resident, pids)) > self._memory:
            return "memory"
        return "disk" if any(_takes_too_much(before, _free(folder)) for folder, before in self._free.items()) else ""


def _resident(pid: int) -> int:
    """Bytes of memory that are a process's own."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = file.read(256).split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * PAGE


def _free(folder: str) -> int:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0
    return disk.f_bavail * disk.f_frsize


def _takes_too_much(before: int, now: int) -> bool:
    return now < ROOM and before - now > SHARE

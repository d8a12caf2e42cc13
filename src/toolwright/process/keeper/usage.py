"""Usage of the machine by a scope, looked at now and then where nothing else limits it."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH123

import os
from collections.abc import Sequence

from .order import StartOrder

SOON, LATER = 0.2, 1.0
"""Seconds between two looks: at first, and once a scope has shown that it takes its time."""
ROOM = 1024**3
"""Bytes that must stay free on a disk."""
SHARE = 256 * 1024**2
"""Bytes that must have gone since the program began for it to be the one who took them."""
STEPS = 16
"""Into how many parts the room for temporary files is divided: they are counted when so much of the disk has gone."""
LOOKS = 30
"""Looks at the disk after which they are counted in any case."""
MOST_FILES = 200_000
"""Temporary files that are counted one by one; as many take up too much by their number alone."""
PAGE = os.sysconf("SC_PAGE_SIZE")


class ScopeUsage:
    """The usage of one scope, held against its limits."""

    def __init__(self, order: StartOrder) -> None:
        self.pause = SOON
        self._processes, self._memory = order["watch"], order["memory"]
        self._free = {folder: _free(folder) for folder in order["disk"]}
        self._temp = Temp(order["temp"], order["temp_bytes"])

    def excess(self, pids: Sequence[int]) -> str:
        """Return what there is too much of: `processes`, `memory` or `disk`; empty if all is well."""
        self.pause = LATER if self._processes == 0 else SOON
        if self._processes and len(pids) > self._processes:
            return "processes"
        if self._memory and sum(map(_resident, pids)) > self._memory:
            return "memory"
        if self._temp.is_full():
            return "temp"
        return "disk" if any(_takes_too_much(before, _free(folder)) for folder, before in self._free.items()) else ""


class Temp:
    """A folder of temporary files, and whether there is too much in it. What the disk has left tells when to look."""

    def __init__(self, folder: str, most: int) -> None:
        self._folder, self._most = folder, most
        self._before = _free(folder) if folder else 0
        self._looks = 0

    def is_full(self) -> bool:
        if not self._folder:
            return False
        free, self._looks = _free(self._folder), self._looks + 1
        if self._before - free < self._most // STEPS and self._looks < LOOKS:
            self._before = max(self._before, free)
            return False
        self._before, self._looks = free, 0
        return _taken(self._folder, self._most) > self._most


def _taken(folder: str, enough: int) -> int:
    """Bytes on disk of all files below a folder, counted until they are more than enough."""
    waiting, size, count = [folder], 0, 0
    while waiting and size <= enough:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
        if count > MOST_FILES:
            return enough + 1
    return size


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

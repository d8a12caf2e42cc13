"""Changes that others make in a project on disk, found by looking: servers rely on being told."""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolwright.lsp.client import CHANGED, CREATED, DELETED
from toolwright.lsp.servers import Finder, LanguageServer

MOST = 50_000
"""Files and folders that are looked at; a project of more is not watched."""
SPARING = 20
"""How many times as long as a look took is waited for the next, unless something may just have changed."""
_FEW = 500
"""Files that are looked at without a thread."""
PACKAGES = ("node_modules", "site-packages")
"""Folders of which only the names of what is in them are looked at: what is installed is not changed by hand."""

Stamp = tuple[int, int] | None
"""When a file was changed and how large it is; nothing for what is installed."""


class FolderWatch:
    """Looks at those files of a project that some server is for, or finds its project by."""

    def __init__(self, finder: Finder) -> None:
        self._top = str(finder.top)
        self._active = finder.environment.get("VIRTUAL_ENV", "")
        self._names, self._endings = _of_interest(finder.servers)
        self._stamps: dict[str, Stamp] | None = None
        self._too_large = False
        self._next = 0.0
        self._looking = asyncio.Lock()
        self.is_stale = True
        """Whether something may just have changed."""

    @property
    def is_quick(self) -> bool:
        """Return whether there is so little to look at that nobody need wait for it."""
        return self._stamps is not None and len(self._stamps) < _FEW

    async def changes(self) -> dict[Path, int]:
        """Return the files created, changed or deleted since the last look; nothing at the first."""
        async with self._looking:
            begun = time.monotonic()
            if self._too_large or (begun < self._next and not self.is_stale):
                return {}
            self.is_stale = False
            before = self._stamps
            now = self._look() if self.is_quick else await asyncio.to_thread(self._look)
            ended = time.monotonic()
            self._next = ended + SPARING * (ended - begun)
            self._stamps, self._too_large = now, now is None
            return _differences(before, now) if before is not None and now is not None else {}

    def _look(self) -> dict[str, Stamp] | None:
        """Return the files there are; None if they are too many to look at."""
        stamps = dict[str, Stamp]()
        folders, seen = [self._top, *_packages(self._active)], 0
        while folders:
            folder = folders.pop()
            installed = folder.rpartition("/")[2] in PACKAGES
            for entry in _entries(folder):
                seen += 1
                if seen > MOST:
                    return None
                if installed:
                    stamps[entry.path] = None
                elif entry.is_dir(follow_symlinks=False):
                    folders += _inside(entry)
                elif self._is_wanted(entry.name):
                    stamps[entry.path] = _stamp(entry)
        return stamps

    def _is_wanted(self, name: str) -> bool:
        return name in self._names or name[name.rfind(".") :] in self._endings


def _of_interest(servers: Iterable[LanguageServer]) -> tuple[set[str], set[str]]:
    names, endings = set[str](), set[str]()
    for server in servers:
        endings |= {f".{ending.rpartition('.')[2]}" for ending in server.extensions}
        names |= {*server.names, *(name for group in server.roots for name in group)}
    return names, endings


def _inside(entry: "os.DirEntry[str]") -> list[str]:
    """The folders to look at in the place of a folder: for an environment of Python, that of its packages."""
    packages = _packages(entry.path)
    hidden = entry.name.startswith(".") or entry.name == "__pycache__"
    return packages or ([] if hidden else [entry.path])


def _packages(environment: str) -> list[str]:
    if not environment or not os.path.exists(f"{environment}/pyvenv.cfg"):  # noqa: PTH110 - for each of many folders
        return []
    return [f"{one.path}/site-packages" for one in _entries(f"{environment}/lib")]


def _entries(folder: str) -> "Iterator[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _stamp(entry: "os.DirEntry[str]") -> Stamp:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _differences(before: dict[str, Stamp], now: dict[str, Stamp]) -> dict[Path, int]:
    if before == now:
        return {}
    differ = {path for path, stamp in now.items() if path not in before or before[path] != stamp}
    changed = {Path(path): CHANGED if path in before else CREATED for path in differ}
    return changed | {Path(path): DELETED for path in before.keys() - now.keys()}

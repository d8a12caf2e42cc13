"""Listings of the folders of a project: looked at once, and then only where a folder has changed."""

import os
import stat
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.record import record

SKIPPED = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache"})
"""Folders full of other people's files: looked through all the same, but not at every command."""
GIT = ".git"
RESTED = 60.0
"""Seconds for which what was found in such a folder holds, unless the folder itself has changed."""
RECENT = 0.25
"""Seconds for which the names of files hold."""
FOLDERS = 20_000
"""The most folders that are looked at in one go; the rest of a larger project is looked through now and then."""
UNSETTLED = 50_000_000
"""Nanoseconds in which a folder may change twice and show it only once."""

Stamp = tuple[int, int]
"""The folder's inode and the time it last changed, by the clock that no program can set."""
Names = dict[int, list[str]]
"""Paths by the number of their file."""


@record(slots=True)
class Listing:
    """A folder as it was when last looked at."""

    changed: Stamp
    looked: int
    files: list[str]
    numbers: list[int]
    """Of the files, in the same order: what the system calls them whatever their names."""
    folders: list[str]
    """Those to be looked through at every command."""
    skipped: list[str]
    """Those full of other people's files."""
    git: str = ""
    """The git folder in it, if there is one."""
    judged: dict[int, list[tuple[str, Any]]] = field(default_factory=dict[int, "list[tuple[str, Any]]"])
    """For each set of rules, the entries that it does not leave free; the folder itself stands for any name in it."""


class Listings:
    """The folders below one."""

    def __init__(self, root: Path, closed: Iterable[Path] = ()) -> None:
        """`closed` are folders that commands see nothing of anyway."""
        self.root = str(root)
        self.scan_count = 0
        """Counts the times that anything was looked at anew."""
        self.touch_count = 0
        """Counts the times that a folder had changed but held the same: our own boxes do that at every command."""
        self.by_folder = dict[str, Listing]()
        self._closed = frozenset(map(str, closed))
        self._below = dict[str, tuple[Stamp, float, Names]]()
        self._names: tuple[float, Names] = (0.0, {})

    def through(self) -> tuple[list[tuple[str, Listing]], list[str]]:
        """Return every folder with what is in it, each before those in it; and the folders there was no time for."""
        waiting, listings = [self.root], list[tuple[str, Listing]]()
        while waiting and len(listings) < FOLDERS:
            folder = waiting.pop()
            listing = self._listing(folder)
            if listing is not None:
                listings.append((folder, listing))
                waiting += listing.folders
        return listings, waiting

    def names_of(self, path: Path) -> list[str]:
        """Return all other names that a file has in the project, outside of its git folders."""
        try:
            known = os.lstat(path)
        except OSError:
            return []
        if known.st_nlink < 2 or not stat.S_ISREG(known.st_mode):
            return []
        if time.monotonic() > self._names[0]:
            self._names = (time.monotonic() + RECENT, self.names(*self.through()))
        return [name for name in self._names[1].get(known.st_ino, ()) if name != str(path) and is_same(name, known)]

    def names(self, listings: Iterable[tuple[str, Listing]], unlooked: Iterable[str]) -> Names:
        """Return the names of all files, those in folders full of other people's files as they were a while ago."""
        paths_by_number = defaultdict[int, list[str]](list)
        tops = [*unlooked, *(top for _, listing in listings for top in listing.skipped)]
        for _, listing in listings:
            for path, number in zip(listing.files, listing.numbers, strict=True):
                paths_by_number[number].append(path)
        for top in tops:
            for number, paths in self._names_below(top).items():
                paths_by_number[number] += paths
        self._below = {top: self._below[top] for top in tops}
        return paths_by_number

    def _names_below(self, top: str) -> Names:
        known, now = self._below.get(top), time.monotonic()
        try:
            changed = stamp(top)
        except OSError:
            changed = (0, 0)
        if known is None or known[0] != changed or known[1] < now:
            names = defaultdict[int, list[str]](list)
            for path, number in files_below(top):
                names[number].append(path)
            self._below[top] = known = (changed, now + RESTED, names)
        return known[2]

    def _listing(self, folder: str) -> Listing | None:
        """Return what was found before, if the folder has not changed since."""
        known = self.by_folder.get(folder)
        try:
            changed = stamp(folder)
            if known is not None and known.changed == changed and known.looked - changed[1] > UNSETTLED:
                return known
            listing = self._look(folder, changed)
        except OSError:
            if self.by_folder.pop(folder, None) is not None:
                self.scan_count += 1
            return None
        if known is not None and _holds_the_same(known, listing):
            known.changed, known.looked, known.numbers = listing.changed, listing.looked, listing.numbers
            self.touch_count += 1
            return known
        self.scan_count += 1
        self.by_folder[folder] = listing
        return listing

    def _look(self, folder: str, changed: Stamp) -> Listing:
        listing = Listing(changed, time.time_ns(), [], [], [], [])
        for entry in _entries(folder):
            path = entry.path
            if not entry.is_dir(follow_symlinks=False):
                listing.files.append(path)
                listing.numbers.append(entry.inode())
            elif entry.name == GIT:
                listing.git = path
            elif entry.name in SKIPPED:
                listing.skipped.append(path)
            elif path not in self._closed:
                listing.folders.append(path)
        return listing


def stamp(folder: str) -> Stamp:
    known = os.stat(folder)  # noqa: PTH116 - thousands of times a second
    return known.st_ino, known.st_ctime_ns


def files_below(top: str) -> Iterator[tuple[str, int]]:
    """Yield each file with its number."""
    waiting, looked_at = [top], 0
    while waiting and looked_at < FOLDERS:
        looked_at += 1
        try:
            entries = _entries(waiting.pop())
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry.path, entry.inode()


def _holds_the_same(known: Listing, listing: Listing) -> bool:
    return (
        known.changed[0] == listing.changed[0]
        and known.files == listing.files
        and known.folders == listing.folders
        and known.skipped == listing.skipped
        and known.git == listing.git
        and not any(map(_has_other_names, _exchanged(known, listing)))
    )


def _exchanged(known: Listing, listing: Listing) -> Iterator[str]:
    """Yield the files that are others than before under the same names."""
    for path, before, now in zip(listing.files, known.numbers, listing.numbers, strict=True):
        if before != now:
            yield path


def _has_other_names(path: str) -> bool:
    try:
        return os.lstat(path).st_nlink > 1
    except OSError:
        return False


def is_same(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), status)
    except OSError:
        return False


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        return list(entries)

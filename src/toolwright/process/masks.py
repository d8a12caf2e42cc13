"""What rules restrict in a project, file by file: looked for once, and then only where a folder has changed."""

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import field
from enum import IntFlag
from pathlib import Path

from toolwright.record import record

SKIPPED = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache"})
"""Folders full of other people's files: looked through all the same, but not at every command."""
GIT = ".git"
RESTED = 60.0
"""Seconds for which what was found in such a folder holds, unless the folder itself has changed."""
FOLDERS = 20_000
"""How many folders are looked at; a project with more has the rest left unmasked."""
UNSETTLED = 50_000_000
"""Nanoseconds in which a folder may change twice and show it only once."""
RULE_SETS = 16
ANY_NAME = "any\x01name"
"""Stands for every name that no rule knows."""


class Verdict(IntFlag):
    """What the rules make of a file."""

    FREE = 0
    UNREAD = 1
    """Reading it is denied."""
    ASKED = 2
    """Reading it is asked about."""
    LOCKED = 4
    """Changing it is denied."""


Judge = Callable[[str], Verdict]


@record(slots=True, kw_only=True)
class Found:
    """What is restricted, by absolute path."""

    unread: list[Path] = field(default_factory=list[Path])
    asked: list[Path] = field(default_factory=list[Path])
    locked: list[Path] = field(default_factory=list[Path])
    """Files and whole folders."""
    spared: list[Path] = field(default_factory=list[Path])
    """What may be changed although it lies in a locked folder."""
    pinned: list[Path] = field(default_factory=list[Path])
    """Folders under another name of which the rules would not know their files."""
    repositories: list[Path] = field(default_factory=list[Path])
    """Git folders below that of the project."""


@record(slots=True)
class Listing:
    """A folder as it was when last looked at."""

    changed: int
    looked: int
    files: list[str]
    folders: list[str]
    judged: dict[int, list[tuple[str, Verdict]]] = field(default_factory=dict[int, "list[tuple[str, Verdict]]"])
    """For each set of rules, the entries that it does not leave free; the folder itself stands for any name in it."""


class Masks:
    """Finds what to hide from commands, and what to keep from their changes, under a folder."""

    def __init__(self, root: Path, closed: Iterable[Path] = ()) -> None:
        """`closed` are folders that commands see nothing of anyway."""
        self._root = str(root)
        self._closed = frozenset(map(str, closed))
        self._listings = dict[str, Listing]()
        self._rule_sets = dict[Hashable, int]()
        self._rested = dict[tuple[str, int], tuple[int, float, list[tuple[str, Verdict]]]]()

    def find(self, rules: Hashable, judge: Judge, *, everywhere: bool = True) -> Found:
        """What `judge` does not leave free. `rules` is what it judges by: equal rules, equal answers.

        `everywhere` includes the folders full of other people's files.
        """
        if len(self._rule_sets) >= RULE_SETS and rules not in self._rule_sets:
            self._forget()
        known = self._rule_sets.setdefault(rules, len(self._rule_sets))
        found = Found()
        locked_folders = set[str]()
        for path, verdict in self._walk(known, judge, everywhere, found):
            self._note(found, path, verdict, locked_folders)
        found.pinned = list(dict.fromkeys(self._pins(found, judge)))
        return found

    def _note(self, found: Found, path: str, verdict: Verdict, locked_folders: set[str]) -> None:
        folder = path.endswith("/")
        place, holder = Path(path), os.path.dirname(path.rstrip("/"))  # noqa: PTH120 - thousands of times
        if verdict & Verdict.UNREAD and not folder:
            found.unread.append(place)
        elif verdict & Verdict.ASKED and not folder:
            found.asked.append(place)
        if verdict & Verdict.LOCKED:
            if folder:
                locked_folders.add(path.rstrip("/"))
            if holder not in locked_folders:
                found.locked.append(place)
        elif holder in locked_folders:
            found.spared.append(place)

    def _walk(self, rules: int, judge: Judge, everywhere: bool, found: Found) -> Iterator[tuple[str, Verdict]]:
        """Folders come before what is in them, with a slash at the end."""
        waiting, looked_at = [self._root], 0
        while waiting and looked_at < FOLDERS:
            folder = waiting.pop()
            looked_at += 1
            listing = self._listing(folder)
            if listing is None:
                continue
            yield from self._judged(folder, listing, rules, judge)
            for below in listing.folders:
                name = below.rpartition("/")[2]
                if name == GIT:
                    if folder != self._root:
                        found.repositories.append(Path(below))
                elif below in self._closed:
                    continue
                elif name not in SKIPPED:
                    waiting.append(below)
                elif everywhere:
                    yield from self._rested_in(below, rules, judge)

    def _judged(self, folder: str, listing: Listing, rules: int, judge: Judge) -> list[tuple[str, Verdict]]:
        known = listing.judged.get(rules)
        if known is None:
            whole = judge(f"{folder}/{ANY_NAME}") if folder != self._root else Verdict.FREE
            locked = whole & Verdict.LOCKED
            known = [(f"{folder}/", locked)] if locked else []
            judged = ((path, judge(path)) for path in listing.files)
            # In a locked folder even what is free must be known, for it is to be spared.
            known += [(path, verdict) for path, verdict in judged if verdict or locked]
            listing.judged[rules] = known
        return known

    def _rested_in(self, top: str, rules: int, judge: Judge) -> list[tuple[str, Verdict]]:
        try:
            changed = os.stat(top).st_mtime_ns  # noqa: PTH116 - at every command
        except OSError:
            return []
        known = self._rested.get((top, rules))
        if known is not None and known[0] == changed and time.monotonic() - known[1] < RESTED:
            return known[2]
        restricted = [(path, verdict) for path in _files_below(top) if (verdict := judge(path))]
        self._rested[top, rules] = (changed, time.monotonic(), restricted)
        return restricted

    def _pins(self, found: Found, judge: Judge) -> Iterator[Path]:
        """Each folder on the way to a restricted place that takes the place out of the rules when it is renamed."""
        for place in (*found.unread, *found.asked, *found.locked):
            parts = place.relative_to(self._root).parts
            verdict = judge(str(place))
            for depth in range(len(parts) - 1):
                renamed = [*parts[:depth], ANY_NAME, *parts[depth + 1 :]]
                if judge("/".join([self._root, *renamed])) != verdict:
                    yield Path(self._root, *parts[: depth + 1])

    def _listing(self, folder: str) -> Listing | None:
        """What was found before, if the folder has not changed since."""
        known = self._listings.get(folder)
        try:
            changed = os.stat(folder).st_mtime_ns  # noqa: PTH116 - thousands of times a second
            if known is not None and known.changed == changed and known.looked - changed > UNSETTLED:
                return known
            found = _look(folder, changed)
        except OSError:
            self._listings.pop(folder, None)
            return None
        self._listings[folder] = found
        return found

    def _forget(self) -> None:
        self._rule_sets.clear()
        self._rested.clear()
        for listing in self._listings.values():
            listing.judged.clear()


def _look(folder: str, changed: int) -> Listing:
    listing = Listing(changed, time.time_ns(), [], [])
    with os.scandir(folder) as entries:
        for entry in entries:
            kind = listing.folders if entry.is_dir(follow_symlinks=False) else listing.files
            kind.append(entry.path)
    return listing


def _files_below(top: str) -> Iterator[str]:
    waiting, looked_at = [top], 0
    while waiting and looked_at < FOLDERS:
        looked_at += 1
        try:
            listing = _look(waiting.pop(), 0)
        except OSError:
            continue
        waiting += listing.folders
        yield from listing.files


class Veils:
    """Names that rules keep from being read, judged once for every set of rules."""

    MOST = 64

    def __init__(self) -> None:
        self._known = dict[Hashable, tuple[tuple[str, bool], ...]]()

    def of(self, key: Hashable, judge: Callable[[], Iterable[tuple[str, bool]]]) -> tuple[tuple[str, bool], ...]:
        if key not in self._known:
            if len(self._known) >= self.MOST:
                self._known.clear()
            self._known[key] = tuple(judge())
        return self._known[key]

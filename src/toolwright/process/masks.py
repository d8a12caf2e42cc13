"""What rules restrict in a project, file by file: looked for once, and then only where a folder has changed."""

import math
import os
import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import field
from enum import IntFlag
from pathlib import Path

from toolwright.process.sight import canonical, is_there
from toolwright.record import record

SKIPPED = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".ruff_cache"})
"""Folders full of other people's files: looked through all the same, but not at every command."""
GIT = ".git"
GITS_OWN = re.compile(rb"[0-9a-f]{40}|ref: ")
"""How files begin that git names after branches."""
RESTED = 60.0
"""Seconds for which what was found in such a folder holds, unless the folder itself has changed."""
FOLDERS = 20_000
"""How many folders are looked at in one go; a project with more has the rest looked through now and then."""
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
    """Folders that must keep their names: what is hidden lies in them, or the rules go by them."""
    repositories: list[Path] = field(default_factory=list[Path])
    """Git folders below that of the project."""


@record(slots=True)
class Listing:
    """A folder as it was when last looked at."""

    changed: "Stamp"
    looked: int
    files: list[str]
    folders: list[str]
    """Those to be looked through at every command."""
    skipped: list[str]
    """Those full of other people's files."""
    git: str = ""
    """The git folder in it, if there is one."""
    judged: dict[int, list[tuple[str, Verdict]]] = field(default_factory=dict[int, "list[tuple[str, Verdict]]"])
    """For each set of rules, the entries that it does not leave free; the folder itself stands for any name in it."""


@record(slots=True)
class Rested:
    """What was found below a folder that is not looked through at every command."""

    changed: "Stamp"
    until: float
    restricted: list[tuple[str, Verdict]]
    inodes: dict[str, int]
    """Of what is restricted: if one is gone from its place, it may be in another by now."""


@record(slots=True)
class Answer:
    """What was found for a set of rules, and what it was found from."""

    looks: int
    stirred: int
    found: Found
    inodes: dict[str, int]


Stamp = tuple[int, int]
"""Which folder it is and when it last changed, by the time that no program can set."""


class Masks:
    """Finds what to hide from commands, and what to keep from their changes, under a folder.

    What commands do is taken for hostile: a file that was restricted and has left its place has everything looked
    through again, for it may have been moved to where nobody would look so soon.
    """

    def __init__(self, root: Path, closed: Iterable[Path] = ()) -> None:
        """`closed` are folders that commands see nothing of anyway."""
        self._root = str(root)
        self._closed = frozenset(map(str, closed))
        self._listings = dict[str, Listing]()
        self._rule_sets = dict[Hashable, int]()
        self._rested = dict[tuple[str, int], Rested]()
        self._looks = 0
        """How often anything was looked at anew."""
        self._stirred = 0
        """How often a folder had changed and held what it did before: our own boxes see to that at every command."""
        self._found = dict[tuple[int, bool], Answer]()

    def find(self, rules: Hashable, judge: Judge, *, everywhere: bool = True) -> Found:
        """What `judge` does not leave free. `rules` is what it judges by: equal rules, equal answers.

        `everywhere` includes the folders full of other people's files.
        """
        if len(self._rule_sets) >= RULE_SETS and rules not in self._rule_sets:
            self._forget()
        known = self._rule_sets.setdefault(rules, len(self._rule_sets))
        listings, unlooked = self._look_through()
        tops = list(self._tops(listings, unlooked)) if everywhere else []
        rested = [self._rested_in(top, lasting, known, judge) for top, lasting in tops]
        before = self._found.get((known, everywhere))
        if before is not None and self._still_holds(before):
            before.stirred = self._stirred
            return before.found
        found, inodes = self._put_together(listings, rested, known, judge)
        if before is not None and any(inodes.get(path) != inode for path, inode in before.inodes.items()):
            self._rested.clear()
            rested = [self._rested_in(top, lasting, known, judge) for top, lasting in tops]
            found, inodes = self._put_together(listings, rested, known, judge)
        self._found[known, everywhere] = Answer(self._looks, self._stirred, found, inodes)
        self._drop_what_is_gone(listings, tops)
        return found

    def _still_holds(self, answer: "Answer") -> bool:
        """Whether it would be found again: nothing is new, and where folders have changed at all, nothing was moved."""
        if answer.looks != self._looks:
            return False
        return answer.stirred == self._stirred or _are_in_place(answer.inodes)

    def _tops(self, listings: "Listings", unlooked: list[str]) -> Iterator[tuple[str, bool]]:
        """Folders that are looked through as a whole, and whether what was found there lasts.

        It does in a git folder: that is a mount of its own in every box, and nothing can be moved into it.
        """
        for _, listing in listings:
            yield from ((top, False) for top in listing.skipped)
            if listing.git:
                yield listing.git, True
        yield from ((top, False) for top in unlooked)

    def _put_together(
        self, listings: "Listings", rested: list[Rested], rules: int, judge: Judge
    ) -> tuple[Found, dict[str, int]]:
        """What is restricted, and the inodes of it."""
        found, locked_folders, inodes = Found(), set[str](), dict[str, int]()
        for folder, listing in listings:
            for path, verdict in self._judged(folder, listing, rules, judge):
                self._note(found, path, verdict, locked_folders)
                if verdict:
                    inodes[path] = _inode(path)
        for one in rested:
            inodes |= one.inodes
            for path, verdict in one.restricted:
                self._note(found, path, verdict, locked_folders)
        found.pinned = list(dict.fromkeys([*self._holders(found, rested), *self._pins(found, judge)]))
        # To change a link is to change what it leads to; one that leads nowhere has nothing to be kept.
        found.locked = [canonical(place) for place in found.locked if is_there(place)]
        found.repositories = [Path(one.git) for folder, one in listings if one.git and folder != self._root]
        return found, inodes

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
        elif holder in locked_folders and not place.is_symlink():
            # What a link leads to is no part of the folder, and to be spared opens it to be changed.
            found.spared.append(place)

    def _look_through(self) -> "tuple[Listings, list[str]]":
        """Every folder with what is in it, folders before those in them; and the folders there was no time for."""
        waiting, listings = [self._root], list[tuple[str, Listing]]()
        while waiting and len(listings) < FOLDERS:
            folder = waiting.pop()
            listing = self._listing(folder)
            if listing is not None:
                listings.append((folder, listing))
                waiting += listing.folders
        return listings, waiting

    def _drop_what_is_gone(self, listings: "Listings", tops: list[tuple[str, bool]]) -> None:
        """Folders come and go with commands, and what is known of them should not add up."""
        if len(self._listings) > len(listings):
            self._listings = dict(listings)
        names = {top for top, _ in tops}
        if tops and len({top for top, _ in self._rested}) > len(names):
            self._rested = {key: one for key, one in self._rested.items() if key[0] in names}

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

    def _rested_in(self, top: str, lasting: bool, rules: int, judge: Judge) -> Rested:
        known, now = self._rested.get((top, rules)), time.monotonic()
        try:
            changed = _stamp(top)
        except OSError:
            changed = (0, 0)
        same = known is not None and (known.changed[0] == changed[0] if lasting else known.changed == changed)
        if known is not None and same and now < known.until and _are_in_place(known.inodes):
            return known
        found = ((path, judge(path)) for path in _files_below(top))
        restricted = [(path, verdict) for path, verdict in found if verdict and not (lasting and _is_gits_own(path))]
        self._looks += 1
        inodes = {path: _inode(path) for path, _ in restricted}
        self._rested[top, rules] = Rested(changed, math.inf if lasting else now + RESTED, restricted, inodes)
        return self._rested[top, rules]

    def _holders(self, found: Found, rested: list[Rested]) -> Iterator[Path]:
        """Every folder on the way to something restricted: moved while the box of another command is put up, it would
        take that to where nothing hides or locks it. Among other people's files folders are moved by whoever installs
        them, and nothing of the user's is there."""
        elsewhere = {path for one in rested for path in one.inodes}
        for place in (*found.unread, *found.asked, *found.locked):
            if str(place) not in elsewhere:
                parts = place.relative_to(self._root).parts
                yield from (Path(self._root, *parts[:depth]) for depth in range(1, len(parts)))

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
            changed = _stamp(folder)
            if known is not None and known.changed == changed and known.looked - changed[1] > UNSETTLED:
                return known
            found = self._look(folder, changed)
        except OSError:
            if self._listings.pop(folder, None) is not None:
                self._looks += 1
            return None
        if known is not None and _holds_the_same(known, found):
            known.changed, known.looked = found.changed, found.looked
            self._stirred += 1
            return known
        self._looks += 1
        self._listings[folder] = found
        return found

    def _look(self, folder: str, changed: Stamp) -> Listing:
        listing = Listing(changed, time.time_ns(), [], [], [])
        for entry in _entries(folder):
            path = entry.path
            if not entry.is_dir(follow_symlinks=False):
                listing.files.append(path)
            elif entry.name == GIT:
                listing.git = path
            elif entry.name in SKIPPED:
                listing.skipped.append(path)
            elif path not in self._closed:
                listing.folders.append(path)
        return listing

    def _forget(self) -> None:
        self._rule_sets.clear()
        self._rested.clear()
        self._found.clear()
        for listing in self._listings.values():
            listing.judged.clear()


Listings = list[tuple[str, Listing]]


def _stamp(folder: str) -> Stamp:
    known = os.stat(folder)  # noqa: PTH116 - thousands of times a second
    return known.st_ino, known.st_ctime_ns


def _holds_the_same(known: Listing, found: Listing) -> bool:
    return (
        known.changed[0] == found.changed[0]
        and known.files == found.files
        and known.folders == found.folders
        and known.skipped == found.skipped
        and known.git == found.git
    )


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0


def _are_in_place(inodes: dict[str, int]) -> bool:
    return all(_inode(path) == inode for path, inode in inodes.items())


def _is_gits_own(path: str) -> bool:
    """Whether a file in a git folder only has the name of a branch."""
    if not any(part in path for part in (f"/{GIT}/refs/", f"/{GIT}/logs/")):
        return False
    try:
        # Whoever put it there may have made it something that is never done being read.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return GITS_OWN.match(os.read(descriptor, 40)) is not None
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        return list(entries)


def _files_below(top: str) -> Iterator[str]:
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
                yield entry.path


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

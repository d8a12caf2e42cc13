"""Masks of what rules restrict in a project, file by file: looked for once, then only where a folder has changed."""

import math
import os
import re
import stat
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from enum import IntFlag
from pathlib import Path

from toolwright.process.paths.listings import GIT, RESTED, Listing, Listings, Stamp, files_below, is_same, stamp
from toolwright.process.paths.safe_stat import ANY_NAME, canonical, is_there
from toolwright.record import record

GITS_OWN = re.compile(rb"[0-9a-f]{40}|ref: ")
"""Beginnings of files that git names after branches."""
RULE_SETS = 16


class Restriction(IntFlag):
    """The rules' answer for a file."""

    FREE = 0
    UNREAD = 1
    """Reading it is denied."""
    ASKED = 2
    """Reading it is asked about."""
    LOCKED = 4
    """Changing it is denied."""


Judge = Callable[[str], Restriction]


@record(slots=True, kw_only=True)
class RestrictedPaths:
    """Restricted places, by absolute path."""

    unread: list[Path] = field(default_factory=list[Path])
    asked: list[Path] = field(default_factory=list[Path])
    locked: list[Path] = field(default_factory=list[Path])
    """Files and whole folders."""
    spared: list[Path] = field(default_factory=list[Path])
    """Places that may be changed although they lie in a locked folder."""
    pinned: list[Path] = field(default_factory=list[Path])
    """Folders that must keep their names: what is hidden lies in them, or the rules go by them."""
    repositories: list[Path] = field(default_factory=list[Path])
    """Git folders below that of the project."""


@record(slots=True)
class CachedScan:
    """The last scan of a folder that is not looked through at every command."""

    changed: "Stamp"
    until: float
    restricted: list[tuple[str, Restriction]]
    several: dict[str, Restriction]
    """Those of them that have other names."""
    inodes: dict[str, int]
    """Of what is restricted: if one is gone from its place, it may be in another by now."""


@record(slots=True)
class CachedAnswer:
    """The answer for a set of rules, and what it was found from."""

    scan_count: int
    touch_count: int
    found: RestrictedPaths
    inodes: dict[str, int]


class Masks:
    """Finds what to hide from commands, and what to keep from their changes, under a folder.

    What commands do is taken for hostile: a file that was restricted and has left its place has everything looked
    through again, for it may have been moved to where nobody would look so soon.
    """

    def __init__(self, root: Path, closed: Iterable[Path] = ()) -> None:
        """`closed` are folders that commands see nothing of anyway."""
        self.listings = Listings(root, closed)
        self._root = self.listings.root
        self._rule_sets = dict[Hashable, int]()
        self._rested = dict[tuple[str, int], CachedScan]()
        self._scan_count = 0
        """Counts the times that anything in those was looked at anew."""
        self._found = dict[tuple[int, bool], CachedAnswer]()

    def find(self, rules: Hashable, judge: Judge, *, everywhere: bool = True) -> RestrictedPaths:
        """Return what `judge` does not leave free. `rules` is what it judges by: equal rules, equal answers.

        `everywhere` includes the folders full of other people's files.
        """
        if len(self._rule_sets) >= RULE_SETS and rules not in self._rule_sets:
            self._forget()
        known = self._rule_sets.setdefault(rules, len(self._rule_sets))
        listings, unlooked = self.listings.through()
        tops = list(self._tops(listings, unlooked)) if everywhere else []
        rested = [self._rested_in(top, lasting, known, judge) for top, lasting in tops]
        before = self._found.get((known, everywhere))
        if before is not None and self._still_holds(before):
            before.touch_count = self.listings.touch_count
            return before.found
        restricted, inodes = self._put_together(listings, unlooked, rested, known, judge)
        if before is not None and any(inodes.get(path) != inode for path, inode in before.inodes.items()):
            self._rested.clear()
            rested = [self._rested_in(top, lasting, known, judge) for top, lasting in tops]
            restricted, inodes = self._put_together(listings, unlooked, rested, known, judge)
        self._found[known, everywhere] = CachedAnswer(self._all_scans, self.listings.touch_count, restricted, inodes)
        self._drop_what_is_gone(listings, tops)
        return restricted

    def _still_holds(self, answer: "CachedAnswer") -> bool:
        """Tell whether it would be found again: nothing is new, and in folders that have changed nothing was moved."""
        if answer.scan_count != self._all_scans:
            return False
        return answer.touch_count == self.listings.touch_count or _are_in_place(answer.inodes)

    @property
    def _all_scans(self) -> int:
        return self._scan_count + self.listings.scan_count

    def _tops(self, listings: "Looked", unlooked: list[str]) -> Iterator[tuple[str, bool]]:
        """Folders that are looked through as a whole, and whether what was found there lasts.

        It does in a git folder: that is a mount of its own in every box, and nothing can be moved into it.
        """
        for _, listing in listings:
            yield from ((top, False) for top in listing.skipped)
            if listing.git:
                yield listing.git, True
        yield from ((top, False) for top in unlooked)

    def _put_together(
        self, listings: "Looked", unlooked: list[str], rested: list[CachedScan], rules: int, judge: Judge
    ) -> tuple[RestrictedPaths, dict[str, int]]:
        """Return what is restricted, under every name that it has in the project, and the inodes of it."""
        restricted, locked_folders, inodes = RestrictedPaths(), set[str](), dict[str, int]()
        several = dict[str, Restriction]()
        for folder, listing in listings:
            for path, verdict in self._judged(folder, listing, rules, judge):
                self._note(restricted, path, verdict, locked_folders)
                if verdict:
                    inodes[path], names = _inode(path)
                    several |= {path: verdict} if names > 1 and not path.endswith("/") else {}
        for scan in rested:
            inodes |= scan.inodes
            several |= scan.several
            for path, verdict in scan.restricted:
                self._note(restricted, path, verdict, locked_folders)
        for path, verdict in self._other_names(several, listings, unlooked) if several else ():
            self._note(restricted, path, verdict, locked_folders)
            inodes[path] = _inode(path)[0]
        restricted.pinned = list(dict.fromkeys([*self._holders(restricted, rested), *self._pins(restricted, judge)]))
        # To change a link is to change what it leads to; one that leads nowhere has nothing to be kept.
        restricted.locked = [canonical(place) for place in restricted.locked if is_there(place)]
        restricted.repositories = [Path(one.git) for folder, one in listings if one.git and folder != self._root]
        return restricted, inodes

    def _other_names(
        self, several: Mapping[str, Restriction], listings: "Looked", unlooked: list[str]
    ) -> Iterator[tuple[str, Restriction]]:
        """Yield further names of restricted files, where they are not restricted in the same way already."""
        names = self.listings.names(listings, unlooked)
        for path, verdict in several.items():
            known = os.lstat(path) if os.path.lexists(path) else None
            others = names.get(known.st_ino, ()) if known is not None and stat.S_ISREG(known.st_mode) else ()
            for other in others:
                if known is not None and verdict & ~several.get(other, Restriction.FREE) and is_same(other, known):
                    yield other, verdict

    def _note(self, restricted: RestrictedPaths, path: str, verdict: Restriction, locked_folders: set[str]) -> None:
        folder = path.endswith("/")
        place, holder = Path(path), os.path.dirname(path.rstrip("/"))  # noqa: PTH120 - thousands of times
        if verdict & Restriction.UNREAD and not folder:
            restricted.unread.append(place)
        elif verdict & Restriction.ASKED and not folder:
            restricted.asked.append(place)
        if verdict & Restriction.LOCKED:
            if folder:
                locked_folders.add(path.rstrip("/"))
            if holder not in locked_folders:
                restricted.locked.append(place)
        elif holder in locked_folders and not place.is_symlink():
            # What a link leads to is no part of the folder, and to be spared opens it to be changed.
            restricted.spared.append(place)

    def _drop_what_is_gone(self, listings: "Looked", tops: list[tuple[str, bool]]) -> None:
        """Folders come and go with commands, and what is known of them should not add up."""
        if len(self.listings.by_folder) > len(listings):
            self.listings.by_folder = dict(listings)
        names = {top for top, _ in tops}
        if tops and len({top for top, _ in self._rested}) > len(names):
            self._rested = {key: one for key, one in self._rested.items() if key[0] in names}

    def _judged(self, folder: str, listing: Listing, rules: int, judge: Judge) -> list[tuple[str, Restriction]]:
        known = listing.judged.get(rules)
        if known is None:
            whole = judge(f"{folder}/{ANY_NAME}") if folder != self._root else Restriction.FREE
            locked = whole & Restriction.LOCKED
            known = [(f"{folder}/", locked)] if locked else []
            judged = ((path, judge(path)) for path in listing.files)
            # In a locked folder even what is free must be known, for it is to be spared.
            known += [(path, verdict) for path, verdict in judged if verdict or locked]
            listing.judged[rules] = known
        return known

    def _rested_in(self, top: str, lasting: bool, rules: int, judge: Judge) -> CachedScan:
        known, now = self._rested.get((top, rules)), time.monotonic()
        try:
            changed = stamp(top)
        except OSError:
            changed = (0, 0)
        same = known is not None and (known.changed[0] == changed[0] if lasting else known.changed == changed)
        if known is not None and same and now < known.until and _are_in_place(known.inodes):
            return known
        verdicts = ((path, judge(path)) for path, _ in files_below(top))
        restricted = [(path, verdict) for path, verdict in verdicts if verdict and not (lasting and _is_gits_own(path))]
        self._scan_count += 1
        known_files = {path: _inode(path) for path, _ in restricted}
        self._rested[top, rules] = CachedScan(
            changed,
            math.inf if lasting else now + RESTED,
            restricted,
            several={path: verdict for path, verdict in restricted if known_files[path][1] > 1},
            inodes={path: number for path, (number, _) in known_files.items()},
        )
        return self._rested[top, rules]

    def _holders(self, restricted: RestrictedPaths, rested: list[CachedScan]) -> Iterator[Path]:
        """Every folder on the way to something restricted: moved while the box of another command is put up, it would
        take that to where nothing hides or locks it. Among other people's files folders are moved by whoever installs
        them, and nothing of the user's is there."""
        elsewhere = {path for one in rested for path in one.inodes}
        for place in (*restricted.unread, *restricted.asked, *restricted.locked):
            if str(place) not in elsewhere:
                parts = place.relative_to(self._root).parts
                yield from (Path(self._root, *parts[:depth]) for depth in range(1, len(parts)))

    def _pins(self, restricted: RestrictedPaths, judge: Judge) -> Iterator[Path]:
        """Each folder on the way to a restricted place that takes the place out of the rules when it is renamed."""
        for place in (*restricted.unread, *restricted.asked, *restricted.locked):
            parts = place.relative_to(self._root).parts
            verdict = judge(str(place))
            for depth in range(len(parts) - 1):
                renamed = [*parts[:depth], ANY_NAME, *parts[depth + 1 :]]
                if judge("/".join([self._root, *renamed])) != verdict:
                    yield Path(self._root, *parts[: depth + 1])

    def _forget(self) -> None:
        self._rule_sets.clear()
        self._rested.clear()
        self._found.clear()
        for listing in self.listings.by_folder.values():
            listing.judged.clear()


Looked = list[tuple[str, Listing]]


def _inode(path: str) -> tuple[int, int]:
    """Return the number of a file and how many names it has."""
    try:
        known = os.lstat(path)
    except OSError:
        return 0, 0
    return known.st_ino, known.st_nlink


def _are_in_place(inodes: dict[str, int]) -> bool:
    return all(_inode(path)[0] == inode for path, inode in inodes.items())


def _is_gits_own(path: str) -> bool:
    """Tell whether a file in a git folder only has the name of a branch."""
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

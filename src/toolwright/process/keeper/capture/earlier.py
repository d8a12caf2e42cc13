"""The earlier states of files: what a call is about to change is kept when it is changed for the first time."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH112, PTH114

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from .calls import SystemCall
from .store import CaptureStore, entry_at, state_of

MOST_MOVED = 20_000
"""Files of one folder that are looked at when it is moved. Of a larger one it is noted that it cannot be undone."""
NAMELESS = 0o20000000
"""The bit of O_TMPFILE: what is opened has no name."""
EXCHANGE = 2
Inode = tuple[int, int]
"""The disk and number of a file."""


class Irreplaceable(OSError):
    """A file that could not be kept, and so is not to be changed."""


class Earlier:
    """Earlier contents of the places that the programs of one scope change."""

    def __init__(
        self, store: CaptureStore, roots: tuple[str, ...], forget: Callable[[], None], may_lose: Callable[[str], bool]
    ) -> None:
        """`roots` are of interest; `forget` is told that names change; `may_lose` says whether what is not kept may be
        changed all the same."""
        self._store = store
        self._roots = roots
        self._forget = forget
        self._may_lose = may_lose
        self._seen = dict[str, str]()
        """The places that were looked at: `new`, `kept`, `unkept`, or `mode` if only that was."""
        self._new_folders = set[str]()
        """All that is in them is new, or was looked at where it was before."""
        self._linked = dict[Inode, str]()
        """Files that may be there still, under whatever name, and the second names that they have in the store."""
        self._twins = dict[Inode, str]()
        """Files that were given a second name, and the places they had."""
        self._carried = set[str]()
        """Places that have got what was there before at another."""

    def begin_anew(self, number: int) -> None:
        """Keep all once more from now on, after a mark of this number."""
        # What is a second name of a file stays so until it is taken in.
        for known in (self._seen, self._new_folders, self._twins, self._carried):
            known.clear()
        self._store.note(kind="mark", number=number)

    def is_inside(self, place: str) -> bool:
        """Tell whether a place is of interest."""
        return f"{place}/".startswith(self._roots)

    def keep(self, call: SystemCall, places: tuple[str, ...], flags: int) -> None:
        """Keep what a call is about to change."""
        place = places[0]
        match call.kind:
            case "open" if flags & NAMELESS:
                return
            case "times":
                self._part(place)
            case "open" | "create" | "write":
                self._touch(place, "write")
            case "make" | "symlink":
                self._forget()
                self._touch(place, "write")
            case "folder":
                self._make_folder(place)
            case "remove" | "remove folder":
                if os.path.islink(place) or os.path.isdir(place):
                    self._forget()
                self._touch(place, "go")
            case "link":
                self._touch(places[1], "write")
                self._note_twin(place)
            case "rename" if flags & EXCHANGE:
                self._exchange(*places)
            case "rename":
                self._rename(*places)
            case _:
                self._touch(place, "mode")

    def lose(self, *places: str) -> None:
        """Note that what was at these places may not have been kept."""
        for place in filter(self.is_inside, places):
            self._seen[place] = "unkept"
            self._store.note(kind="lost", path=place)

    def _make_folder(self, place: str) -> None:
        if self.is_inside(place) and not os.path.lexists(place):
            self._touch(place, "write")
            self._add_new_folder(place)

    def _add_new_folder(self, place: str) -> None:
        """From now on all in it is new. What was there under the same name has gone."""
        if not self.is_inside(place) or self._is_new(place):
            return
        if self._seen.get(place) != "new":
            self._store.note(kind="again", path=place)
        self._new_folders.add(place)

    def _rename(self, place: str, other: str) -> None:
        folder = _is_folder(place)
        if folder and _is_full(other):
            return  # which is refused
        if os.path.islink(place) or os.path.islink(other):
            self._forget()
        kept = self._leave(place)
        self._touch(other, "go")
        if not kept:
            self.lose(place, other)
        elif kept == "moved" or place in self._carried:
            self._note_move(place, other)
        if folder:
            self._forget()
            if kept:
                self._add_new_folder(other)

    def _exchange(self, place: str, other: str) -> None:
        """Both are looked at as a whole, so that it does not matter whether it comes to it."""
        if not (self._leave(place) and self._leave(other)):
            self.lose(place, other)
            return
        self._forget()
        for old, new in ((place, other), (other, place)):
            self._note_move(old, new)
            if _is_folder(old):
                self._add_new_folder(new)

    def _note_move(self, place: str, other: str) -> None:
        if not (place and other):
            return  # which leads nowhere, and fails
        self._carried.add(other)
        self._store.note(kind="moved", path=place, to=other)

    def _leave(self, place: str) -> str:
        """Look at a file, or at all that is in a folder, before it gets another place.

        Return `moved`, or `new` for what was made by these programs; empty if not all of it could be kept.
        """
        if self._is_new(place) or not self.is_inside(place) or self._seen.get(place) == "new":
            return "new"
        kept, waiting, count = self._touch(place, "move"), [place] if _is_folder(place) else [], 0
        while waiting and kept:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    kept = kept and self._touch(entry.path, "move") and count <= MOST_MOVED
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        return "moved" if kept else ""

    def _note_twin(self, place: str) -> None:
        if self.is_inside(place) and not self._is_new(place):
            # What has no name yet is no file of before.
            with suppress(OSError):
                status = os.lstat(place)
                self._twins[status.st_dev, status.st_ino] = place

    def _is_new(self, place: str) -> bool:
        """Tell whether it came with a folder that is new."""
        while self._new_folders and len(place) > 1:
            if place in self._new_folders:
                return True
            place = place.rpartition("/")[0]
        return False

    def _touch(self, place: str, how: str) -> bool:
        """Keep what is at a place before it is changed for the first time; False if it could not be kept.

        `how` it is about to change: `write`, `mode`, `go` for what goes away, `move` for what gets another place.
        """
        if not self.is_inside(place):
            return True
        if how in ("write", "mode") and (self._linked or self._twins):
            self._part(place)
        known = self._seen.get(place)
        if known is not None and (known != "mode" or how == "mode"):
            return known != "unkept"
        if self._is_new(place.rpartition("/")[0]):
            return True
        entry = entry_at(place)
        if entry is None:
            self._seen[place] = "new"
            self._store.note(kind="new", path=place)
            return True
        try:
            return self._keep_at(place, how, *entry)
        finally:
            os.close(entry[0])

    def _keep_at(self, place: str, how: str, opened: int, status: os.stat_result) -> bool:
        mode = status.st_mode
        self._seen[place] = "mode" if how == "mode" else "kept"
        if stat.S_ISREG(mode):
            return self._keep_file(place, how, opened, status)
        state = state_of(opened, status)
        if stat.S_ISDIR(mode):
            if how != "write":
                self._store.note(kind="folder", path=place, **state)
            else:
                del self._seen[place]
            return True
        if stat.S_ISLNK(mode):
            self._store.note(kind="link", path=place, target=os.readlink("", dir_fd=opened), **state)
            return True
        self._store.note(kind="special", path=place, type=stat.S_IFMT(mode), **state)
        return how != "move"

    def _keep_file(self, place: str, how: str, opened: int, status: os.stat_result) -> bool:
        state = {"inode": status.st_ino, "disk": status.st_dev, **state_of(opened, status)}
        if how == "mode":
            self._store.note(kind="mode", path=place, **state)
            return True
        content = self._store.keep(opened, status, link=how != "write")
        if content is None:
            if not self._may_lose(place):
                del self._seen[place]
                raise Irreplaceable(errno.EACCES, "it could not be kept, and somebody has said no")
            self._seen[place] = "unkept"
        if how != "write" and isinstance(content, str):
            self._linked[status.st_dev, status.st_ino] = content
        self._store.note(kind="file", path=place, content=content, written=status.st_mtime_ns, **state)
        return content is not None

    def _part(self, place: str) -> None:
        """Part a file from its other names: it was kept under one, or has still to be."""
        with suppress(OSError):
            status = os.lstat(place)
            inode = status.st_dev, status.st_ino
            if content := self._linked.pop(inode, ""):
                self._store.part_from(content)
            if twin := self._twins.pop(inode, ""):
                self._touch(twin, "write")


def _is_folder(place: str) -> bool:
    return os.path.isdir(place) and not os.path.islink(place)


def _is_full(place: str) -> bool:
    """Tell whether it is a folder with something in it."""
    if not _is_folder(place):
        return False
    try:
        with os.scandir(place) as entries:
            return next(entries, None) is not None
    except OSError:
        return False

"""Changes that are made for programs: in what was approved outside of their box, and where a mask lies on a file.

A program's arguments are read once. The place is reached from here without following any link, what was opened is
looked at before it is used, and the program is handed the result, or the open file. Whatever is not plainly approved is
left to the walls of the box.
"""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH101, PTH108, PTH112

import errno
import os
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

from ..order import DECOY, Capture, is_decoy
from ..system import exchange, open_itself
from .calls import WRITING, SystemCall, is_reading
from .listener import HeldCall
from .names import Names
from .store import CaptureStore

Standing = Literal["", "open", "pinned", "granted", "hidden", "shut", "absent"]
"""Standings of a place with the programs: nothing that concerns us; theirs to change; theirs, with a name that only we
change; ours to change for them; masked; kept from change; not there and not to be made."""
CREATE, ONLY_NEW, NOT_FOLLOWED = os.O_CREAT, os.O_EXCL, 0x100
MODES = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK | os.O_SYNC | os.O_TRUNC | os.O_DIRECTORY
"""The flags of an open file that are handed on."""
NO_REPLACE, EXCHANGE, OF_FOLDER, NAMELESS = 1, 2, 0x200, 0x400000
PERMISSIONS = 0o1777
NOW, KEEP = 0x3FFFFFFF, 0x3FFFFFFE
_TIMES = struct.Struct("=qqqq")
MOST_STAGED = 64
"""Files that a program may have under names beside what was approved."""
UNCHANGED = 0xFFFFFFFF
CODE = "/__pycache__"
"""The folder that Python makes wherever it may."""


class OpenedFile(NamedTuple):
    """A file that a program gets as what its call has opened."""

    descriptor: int
    passed_on: bool


class ProgramIdentity(NamedTuple):
    """As whom a program acts."""

    user: int
    group: int
    umask: int


class Broker:
    """The maker of changes for the programs of one scope, as far as they are allowed."""

    def __init__(self, order: Capture, names: Names, store: CaptureStore) -> None:
        self._names = names
        self._store = store
        lists: tuple[tuple[Standing, list[str]], ...] = (
            ("open", order["open"]),
            ("granted", order["granted"]),
            ("pinned", order["pinned"]),
            ("hidden", order["hidden"]),
            ("shut", order["shut"]),
            ("absent", order["absent"]),
        )
        self._standings = {place: standing for standing, places in lists for place in places}
        self._granted = tuple(order["granted"])
        self._files_beside = {place.rpartition("/")[0] for place in order["granted"] if not os.path.isdir(place)}
        """Folders in which programs may want to put together what then takes the place of a file."""
        self._staged = dict[str, str]()
        """Names that exist only for the programs, and the files that bear them in the store."""
        self._number = 0

    def standing(self, place: str) -> Standing:
        """Return what a place is to the programs. Of two that say so the deeper one counts."""
        around = place
        while around:
            known = self._standings.get(around)
            if known is not None:
                return "open" if known == "pinned" and around != place else known
            around = around.rpartition("/")[0]
        return ""

    def takes(self, call: SystemCall, places: tuple[str, ...], flags: int) -> bool:
        """Tell whether a call is ours to make. OSError if it is nobody's."""
        if any(place in self._staged for place in places) or self._is_to_be_staged(call, places[0], flags):
            return True
        standings = [self.standing(place) for place in places]
        if is_reading(call, flags):
            # To have a name for it alone needs no right to read it.
            return standings[0] == "granted" and not flags & os.O_PATH
        if call.kind == "folder" and self._leads_to_granted(places[0]):
            return True
        if "absent" in standings and call.kind not in ("remove", "remove folder"):
            raise OSError(errno.EROFS, "it decides what is allowed")
        if not {"granted", "hidden", "pinned"}.intersection(standings) or {"", "shut"}.intersection(standings):
            return False
        return self._is_harmless(call, places, standings, flags)

    def refused(self, call: SystemCall, places: tuple[str, ...], flags: int) -> list[str]:
        """Return those of the places that walls keep from a change, leaving out what programs try for no reason."""
        if is_reading(call, flags) or call.kind == "times" or CODE in places[-1]:
            return []
        return [place for place in places if place and self.standing(place) in ("", "shut", "absent", "hidden")]

    def _is_harmless(self, call: SystemCall, places: tuple[str, ...], standings: list[Standing], flags: int) -> bool:
        match call.kind:
            case "link" | "rename" if standings[0] == "hidden" or (standings[1] == "hidden" and flags & EXCHANGE):
                # Under another name it could be read.
                return False
            case "rename":
                return not any(map(self._holds_restricted, places))
            case "remove" | "remove folder":
                return True
            case "open" | "write" if standings[0] == "hidden":
                # What would be changed in it would be read first.
                return call.kind == "open" and bool(flags & (os.O_TRUNC | os.O_EXCL))
            case _:
                return "granted" in standings or "hidden" in standings

    def _holds_restricted(self, place: str) -> bool:
        """Tell whether something lies in a folder that would get another name with it."""
        within = f"{place}/"
        inside = (known for known, standing in self._standings.items() if standing in ("hidden", "shut"))
        return any(known.startswith(within) and os.path.lexists(known) for known in inside)

    def _leads_to_granted(self, place: str) -> bool:
        return bool(place) and any(granted.startswith(f"{place}/") for granted in self._granted)

    def _is_to_be_staged(self, call: SystemCall, place: str, flags: int) -> bool:
        """Tell whether a new file is made beside one that was approved, as to take its place in the end."""
        new = call.kind == "open" and flags & (CREATE | ONLY_NEW) == CREATE | ONLY_NEW
        beside = new and bool(place) and place.rpartition("/")[0] in self._files_beside
        return beside and not self.standing(place) and not os.path.lexists(place)

    def make(self, call: SystemCall, held: HeldCall, places: tuple[str, ...], flags: int) -> OpenedFile | None:
        """Make a call for a program; OSError says which error it meets."""
        program = self._program(held.task)
        if (program.user, program.group) != (os.geteuid(), os.getegid()):
            raise OSError(errno.EACCES, "a program that acts as somebody else")
        place = places[0]
        value = held.arguments[call.value] if call.value >= 0 else 0
        if any(one in self._staged for one in places) or self._is_to_be_staged(call, place, flags):
            return self._make_staged(call, places, flags, value)
        match call.kind:
            case "open":
                return self._open(place, flags, value & ~program.umask)
            case "create":
                return self._open(place, os.O_WRONLY | CREATE | os.O_TRUNC, value & ~program.umask)
            case "write":
                opened = self._open(place, os.O_WRONLY, 0)
                with _closing(opened.descriptor):
                    os.ftruncate(opened.descriptor, value)
            case "rename":
                self._rename(place, places[1], flags)
            case "mode" | "owner" | "times":
                self._describe(call, held, place, value)
            case "attribute":
                raise OSError(errno.EOPNOTSUPP, "no attributes there")
            case "link":
                with _folder_of(place) as (folder, name), _folder_of(places[1]) as (other, new):
                    os.link(name, new, src_dir_fd=folder, dst_dir_fd=other, follow_symlinks=False)
            case _:
                self._make_or_remove(call, held, place, flags, value & ~program.umask)
        return None

    def _make_or_remove(self, call: SystemCall, held: HeldCall, place: str, flags: int, mode: int) -> None:
        with _folder_of(place) as (folder, name):
            match call.kind:
                case "folder":
                    os.mkdir(name, mode & PERMISSIONS, dir_fd=folder)
                case "symlink":
                    os.symlink(self._names.text(held.task, held.arguments[call.value]), name, dir_fd=folder)
                case "make" if stat.S_ISFIFO(mode):
                    os.mkfifo(name, mode & PERMISSIONS, dir_fd=folder)
                case "make" if stat.S_ISREG(mode) or not stat.S_IFMT(mode):
                    os.close(_new(folder, name, mode, os.O_WRONLY))
                case "make":
                    raise OSError(errno.EPERM, "no devices there")
                case "remove" if not flags & OF_FOLDER:
                    os.unlink(name, dir_fd=folder)
                    self._lift(place)
                case _:
                    os.rmdir(name, dir_fd=folder)

    def _lift(self, place: str) -> None:
        """Take the mask away of a hidden file that is gone: what comes in its place is the programs' own."""
        if self._standings.get(place) == "hidden":
            del self._standings[place]

    def _open(self, place: str, flags: int, mode: int) -> OpenedFile:
        if flags & NAMELESS:
            raise OSError(errno.EOPNOTSUPP, "no files without a name there")
        passed_on = not flags & os.O_CLOEXEC
        with _folder_of(place) as (folder, name):
            if self._standings.get(place) == "hidden" and not flags & ONLY_NEW:
                # With the file goes the mask, which would be seen in the place of what is written now.
                with suppress(FileNotFoundError):
                    mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
                    os.unlink(name, dir_fd=folder)
                self._lift(place)
            for _ in range(2):
                with suppress(FileNotFoundError):
                    return OpenedFile(_existing(folder, name, flags), passed_on)
                if not flags & CREATE:
                    break
                with suppress(FileExistsError):
                    return OpenedFile(_new(folder, name, mode, flags), passed_on)
        raise OSError(errno.ENOENT, "there is none")

    def _rename(self, place: str, other: str, flags: int) -> None:
        with _folder_of(place) as (folder, name), _folder_of(other) as (to, new):
            if self._standings.get(other) == "hidden" and _holds_decoy(folder, name):
                raise OSError(errno.EACCES, "what was read there is not what is in it")
            if flags & EXCHANGE:
                exchange(folder, name, to, new)
                return
            if flags & NO_REPLACE and os.path.lexists(other):
                raise OSError(errno.EEXIST, "it is there")
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=to)
        self._lift(other)

    def _describe(self, call: SystemCall, held: HeldCall, place: str, value: int) -> None:
        """Give a file or folder its mode, owner or times."""
        opened = open_itself(place, flags=os.O_NOFOLLOW)
        path = f"/proc/self/fd/{opened}"
        with _closing(opened):
            link = stat.S_ISLNK(os.fstat(opened).st_mode)
            match call.kind:
                case "mode" if link:
                    raise OSError(errno.EOPNOTSUPP, "links have no mode")
                case "mode":
                    os.chmod(path, value & PERMISSIONS)
                case "owner":
                    user, group = (held.arguments[call.value + at] & UNCHANGED for at in (0, 1))
                    ids = (-1 if one == UNCHANGED else one for one in (user, group))
                    with _folder_of(place) as (folder, name):
                        os.chown(name, *ids, dir_fd=folder, follow_symlinks=False)
                case _:
                    pair = self._times(held.task, value, os.fstat(opened))
                    with _folder_of(place) as (folder, name):
                        os.utime(name, ns=pair, dir_fd=folder, follow_symlinks=False)

    def _times(self, task: int, address: int, status: os.stat_result) -> tuple[int, int]:
        now = time.time_ns()
        if not address:
            return now, now
        first, first_part, second, second_part = _TIMES.unpack(self._names.raw(task, address, _TIMES.size))
        read, written = (
            now if part == NOW else before if part == KEEP else seconds * 10**9 + part
            for seconds, part, before in (
                (first, first_part, status.st_atime_ns),
                (second, second_part, status.st_mtime_ns),
            )
        )
        return read, written

    def _make_staged(self, call: SystemCall, places: tuple[str, ...], flags: int, value: int) -> OpenedFile | None:
        place, own = places[0], self._staged.get(places[0])
        match call.kind:
            case "open":
                if own is None and len(self._staged) >= MOST_STAGED:
                    raise OSError(errno.EDQUOT, "too many files beside what was approved")
                self._number += 1 if own is None else 0
                own = self._staged[place] = own or f"{self._store.folder()}/staged-{self._number}"
                allowed = flags & (MODES | CREATE | ONLY_NEW) | os.O_CLOEXEC | os.O_NOFOLLOW
                return OpenedFile(os.open(own, allowed, value & 0o777), not flags & os.O_CLOEXEC)
            case "rename" if own is not None and self.standing(places[1]) == "granted":
                with _folder_of(places[1]) as (folder, name):
                    os.rename(own, name, dst_dir_fd=folder)
                del self._staged[place]
            case "remove" if own is not None:
                os.unlink(own)
                del self._staged[place]
            case "mode" if own is not None:
                os.chmod(own, value & 0o777)
            case "owner" | "times" | "attribute" if own is not None:
                return None
            case _:
                raise OSError(errno.EACCES, "it is to take the place of what was approved")
        return None

    def _program(self, task: int) -> ProgramIdentity:
        """Return as whom a thread acts now."""
        fields = dict(line.split(":\t", 1) for line in self._names.status(task).splitlines() if ":\t" in line)
        return ProgramIdentity(int(fields["Uid"].split()[3]), int(fields["Gid"].split()[3]), int(fields["Umask"], 8))


@contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _folder_of(place: str) -> Iterator[tuple[int, str]]:
    """Open the folder that a place lies in, without following any link; with the last part of the place."""
    head, _, name = place.rpartition("/")
    folder = open_itself(head or "/", flags=os.O_DIRECTORY)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _new(folder: int, name: str, mode: int, flags: int) -> int:
    opening_flags = flags & MODES & ~os.O_TRUNC | CREATE | ONLY_NEW | os.O_NOFOLLOW | os.O_CLOEXEC
    before = os.umask(0)
    try:
        return os.open(name, opening_flags, mode & 0o777, dir_fd=folder)
    finally:
        os.umask(before)


def _existing(folder: int, name: str, flags: int) -> int:
    """Open a file that is there, and nothing but a file: a pipe may keep us waiting, and a device may be anything."""
    named = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with _closing(named):
        mode = os.fstat(named).st_mode
        if flags & CREATE and flags & ONLY_NEW:
            raise OSError(errno.EEXIST, "it is there")
        if not (stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and not flags & WRITING)):
            reasons = {stat.S_IFDIR: errno.EISDIR, stat.S_IFLNK: errno.ELOOP}
            raise OSError(reasons.get(stat.S_IFMT(mode), errno.EACCES), "no file")
        return os.open(f"/proc/self/fd/{named}", flags & MODES | os.O_CLOEXEC)


def _holds_decoy(folder: int, name: str) -> bool:
    """Tell whether a file holds what programs see in the place of a hidden one."""
    try:
        opened = _existing(folder, name, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    with _closing(opened):
        return is_decoy(os.read(opened, len(DECOY)))

"""The earlier states of files, kept in a private folder: a line of JSON for each, and the contents beside it.

A file is reached without following any link and judged by what was opened: what is exchanged meanwhile is not kept.
Pipes and devices are never opened. Nothing is there until there is something to keep.
"""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH102, PTH104, PTH108, PTH116

import errno
import fcntl
import json
import os
import stat
from contextlib import suppress
from typing import Any

from ..system import open_itself

SMALL = 256 * 1024
"""Bytes up to which contents go into one file together: to make a file costs ten times as much as to write to one."""
LARGEST = 64 * 1024 * 1024
"""Bytes of one file that are copied; a link or a clone may be of any size."""
CLONE = 0x40049409
PIECE = 1 << 20
GONE = (errno.ENOENT, errno.ENOTDIR)

Entry = tuple[int, os.stat_result]
"""An opened file or folder, only to name it by, and what it is."""


class CaptureStore:
    """The folder in which one scope keeps what its files were."""

    def __init__(self, folder: str, room: int) -> None:
        """`room` is how many bytes of copies there may be."""
        self._folder = folder
        self._room = room
        self._log = self._pack = -1
        self._packed = self._number = 0
        self._disk = 0

    def note(self, **line: Any) -> None:
        """Write one line, which is there for whoever reads it even if we are killed."""
        self._open()
        os.write(self._log, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def keep(self, opened: int, status: os.stat_result, *, link: bool) -> Any:
        """Keep the content of a file; return where it is, or None if there is no room. `link` if its name goes."""
        self._open()
        if link and status.st_nlink == 1 and status.st_dev == self._disk and (name := self._linked(opened)):
            return name
        with suppress(OSError):
            content = os.open(f"/proc/self/fd/{opened}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                return self._packed_in(content) if status.st_size <= SMALL else self._copied(content, status.st_size)
            finally:
                os.close(content)
        return None

    def part_from(self, name: str) -> None:
        """Make a content that was kept as a second name of a file a file of its own: the file is going to change."""
        place, copy = f"{self._folder}/{name}", f"{self._folder}/{name}.copy"
        source = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        kept = False
        try:
            kept = self._copy(source, copy, os.fstat(source).st_size)
        finally:
            os.close(source)
            if not kept:
                os.unlink(place)
        if kept:
            os.rename(copy, place)

    def _linked(self, opened: int) -> str:
        name = self._next()
        try:
            # Only with the descriptor of a folder does Python follow what it is asked to follow.
            os.link(f"/proc/self/fd/{opened}", f"{self._folder}/{name}", src_dir_fd=opened, follow_symlinks=True)
        except OSError:
            return ""
        return name

    def _packed_in(self, content: int) -> tuple[int, int] | None:
        data = b""
        while len(data) <= SMALL and (piece := os.read(content, SMALL + 1 - len(data))):
            data += piece
        if len(data) > SMALL or not self._take(len(data)):
            return None
        at, view = self._packed, memoryview(data)
        while view:
            view = view[os.write(self._pack, view) :]
        self._packed += len(data)
        return at, len(data)

    def _copied(self, content: int, size: int) -> str | None:
        name = self._next()
        return name if self._copy(content, f"{self._folder}/{name}", size) else None

    def _copy(self, source: int, place: str, size: int) -> bool:
        target = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        kept = False
        try:
            kept = self._filled(target, source, size)
            # By its time can be told whether it was changed while we kept it.
            os.utime(target, ns=(0, os.fstat(source).st_mtime_ns))
            return kept
        finally:
            os.close(target)
            if not kept:
                os.unlink(place)

    def _filled(self, target: int, source: int, size: int) -> bool:
        with suppress(OSError):
            fcntl.ioctl(target, CLONE, source)
            return True
        if size > LARGEST or not self._take(size):
            return False
        while copied := os.copy_file_range(source, target, PIECE):
            size -= copied
        return size <= 0

    def _take(self, size: int) -> bool:
        self._room -= size
        return self._room >= 0

    def _next(self) -> str:
        self._number += 1
        return str(self._number)

    def folder(self) -> str:
        """Return the folder that it is in, which is there from now on."""
        self._open()
        return self._folder

    def _open(self) -> None:
        if self._log >= 0:
            return
        _make_private(self._folder)
        self._disk = os.stat(self._folder).st_dev
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._pack = os.open(f"{self._folder}/pack", flags, 0o600)
        self._log = os.open(f"{self._folder}/log", flags, 0o600)


def _make_private(folder: str) -> None:
    """Make a folder, and those above it that are missing, for nobody but us."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        _make_private(folder.rpartition("/")[0])
        os.mkdir(folder, 0o700)


def entry_at(place: str) -> Entry | None:
    """Open what is at a place, only to name it by; None if nothing is. OSError where a link is in the way."""
    try:
        opened = open_itself(place, flags=os.O_NOFOLLOW)
    except OSError as problem:
        if problem.errno in GONE:
            return None
        raise
    return opened, os.fstat(opened)


def state_of(opened: int, status: os.stat_result) -> dict[str, Any]:
    """Return what is kept of a file or folder beside its content."""
    state: dict[str, Any] = {"mode": stat.S_IMODE(status.st_mode), "uid": status.st_uid, "gid": status.st_gid}
    if stat.S_ISREG(status.st_mode):
        state["changed"] = status.st_ctime_ns
        with suppress(OSError):
            path = f"/proc/self/fd/{opened}"
            if names := os.listxattr(path):
                state["x"] = {name: os.getxattr(path, name).hex() for name in names}
    return state

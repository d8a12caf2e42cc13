"""Regular files on disk: opened without traps, read whole, and known again later."""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import field
from io import BytesIO, FileIO
from pathlib import Path

from toolwright.errors import Kind, ToolError
from toolwright.files.paths import Place
from toolwright.machine.private_files import make_folder
from toolwright.record import record

LOADABLE = 128 * 1024 * 1024
"""No larger file is taken into memory whole."""
# Without O_PATH (it is Linux' own) a folder must be readable to be held.
FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""A pipe is not waited for."""
_SETTLED = 20_000_000
"""Nanoseconds; the clock of a file system moves on at least every ten milliseconds."""


@record(frozen=True, slots=True)
class Stamp:
    """The system's word on a file's state. The change time moves with every write and cannot be set back."""

    size: int
    modified: int
    changed: int
    inode: int
    settled: bool = field(compare=False)
    """Any further change is sure to show: the last one is longer ago than the clock of the file system is coarse."""

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        settled = abs(time.time_ns() - status.st_ctime_ns) > _SETTLED
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, settled)


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_of_file(file: FileIO | BytesIO) -> str:
    """The same for an open file of any size."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def open_file(place: Place, *, missing: Kind = "missing") -> FileIO:
    """Open a regular file for reading, or raise a ToolError that says what is there instead.

    The place was made canonical when the call began; a link put in its way since then is not followed.
    """
    parts = place.path.parts
    try:
        folder = descend(os.open(parts[0], FOLDER), parts[1:-1])
        try:
            return open_in(folder, place, missing=missing)
        finally:
            os.close(folder)
    except OSError as error:
        raise failure(place, error, missing=missing) from error


def open_in(folder: int, place: Place, *, missing: Kind = "missing") -> FileIO:
    """The same in a folder that is held open; OSError where the system refuses."""
    name = place.path.name
    if not name:
        raise ToolError(f"{place.path} is a folder, not a file. Name a file in it.", "is_folder")
    check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), place, missing)
    file = os.fdopen(os.open(name, _READ, dir_fd=folder), "rb", buffering=0)
    try:
        check_regular(os.fstat(file.fileno()), place, missing)
    except ToolError:
        file.close()
        raise
    return file


def descend(folder: int, names: Iterable[str]) -> int:
    """The folder some names further down, links not followed; the first descriptor is let go. OSError if there is none.

    One name after the other, each from the folder before: nobody can exchange a part of the path in between.
    """
    for name in names:
        try:
            inner = os.open(name, FOLDER, dir_fd=folder)
        except OSError as error:
            raise _plain(error, folder, name) from error
        finally:
            os.close(folder)
        folder = inner
    return folder


def _plain(error: OSError, handle: int, name: str) -> OSError:
    """A link that is no folder to the system is told apart from a file that is none."""
    if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
        return error
    with suppress(OSError):
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
        if not stat.S_ISLNK(status.st_mode):
            return error
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a file of our own data, made for this user alone; its folder is made if need be."""
    try:
        return os.open(path, flags | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        make_folder(path.parent)
        return os.open(path, flags | os.O_CLOEXEC, 0o600)


def size_of(place: Place) -> int:
    """Return the size of a file; 0 if that cannot be said."""
    try:
        return place.path.lstat().st_size
    except OSError:
        return 0


def read_whole(place: Place, file: FileIO | BytesIO) -> bytes:
    """All bytes of an open file, if it is not too large to be held in memory."""
    size = os.fstat(file.fileno()).st_size
    if size > LOADABLE:
        raise ToolError(
            f"{place.path} has {size:,} bytes, more than the {LOADABLE:,} that can be changed at once. "
            "Use a command such as sed for a file of this size.",
            "too_large",
        )
    return read_some(place, file, -1)


def read_some(place: Place, file: FileIO | BytesIO, size: int) -> bytes:
    """So many bytes of an open file. Files that the system makes up may refuse, or have nothing to give yet."""
    try:
        data: bytes | None = file.read(size)
    except OSError as error:
        raise failure(place, error) from error
    if data is None:
        raise ToolError(f"{place.path} is made up by the system and has nothing to read now. Leave it.", "binary")
    return data


def check_regular(status: os.stat_result, place: Place, missing: Kind = "missing") -> None:
    """Refuse folders, and what might block for ever or have no end."""
    if stat.S_ISREG(status.st_mode):
        if place.given.endswith("/"):
            there = f"but a file of that name.\n\nDid you mean one of these?\n{place.path}"
            raise ToolError(f"There is no folder {place.path}/, {there}", missing)
        return
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{place.path} is a folder, not a file. Name a file in it.", "is_folder")
    raise ToolError(f"{place.path} is {special_kind(status.st_mode)}, not a regular file, and is left alone.", "binary")


def failure(place: Place, error: OSError, *, missing: Kind = "missing") -> ToolError:
    """Return the error for the model when the system refuses a file."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        from toolwright.files.names import missing_file

        return missing_file(place, missing)
    if error.errno == errno.ELOOP:
        return ToolError(f"{place.path} has become a link, or a folder on its way has, since the call began.", "stale")
    if error.errno == errno.EEXIST:
        return ToolError(f"{place.path} has appeared since the call began. Read it before changing it.", "stale")
    advice = _ADVICE.get(error.errno or 0, "Check the path and its permissions.")
    return ToolError(f"{place.path} cannot be used: {error.strerror}. {advice}")


_ADVICE = {
    errno.ENOSPC: "Make room on the disk, then try again.",
    errno.EDQUOT: "Make room on the disk, then try again.",
    errno.EROFS: "Its file system can only be read.",
    errno.EMFILE: "Too many files are open in this program; try again with fewer at once.",
    errno.ENFILE: "Too many files are open on this machine; try again later.",
    errno.EIO: "The file cannot be read as others can; leave it.",
}


def special_kind(mode: int) -> str:
    """Return the kind of a thing that is no regular file."""
    kinds = {
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFLNK: "a link",
        stat.S_IFDIR: "a folder",
    }
    return kinds.get(stat.S_IFMT(mode), "something special")

"""Regular files on disk: opened without traps, read whole, and known again later."""

import errno
import hashlib
import os
import stat
import time
from dataclasses import field
from io import FileIO

from toolwright.errors import Kind, ToolError
from toolwright.files.names import missing_file
from toolwright.files.paths import Place
from toolwright.record import record

LOADABLE = 128 * 1024 * 1024
"""No larger file is taken into memory whole."""
_SETTLED = 20_000_000
"""Nanoseconds; the clock of a file system moves on at least every ten milliseconds."""


@record(frozen=True, slots=True)
class Stamp:
    """What the system says of a file's state. The change time moves with every write and cannot be set back."""

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


def digest_of_file(file: FileIO) -> str:
    """The same for an open file of any size."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def open_file(place: Place, *, missing: Kind = "missing") -> FileIO:
    """Open a regular file for reading, or raise a ToolError that says what is there instead.

    The place was made canonical when the call began; a link put in its way since then is not followed.
    """
    try:
        check_regular(place.path.lstat(), place, missing)
        if os.path.realpath(place.path) != str(place.path):
            raise ToolError(f"{place.path} has become a link since the call began. Try again.", "stale")
        # Not blocking, so that a pipe put there in this moment cannot hold the call for ever.
        handle = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise failure(place, error, missing=missing) from error
    file = os.fdopen(handle, "rb", buffering=0)
    check_regular(os.fstat(handle), place, missing)
    return file


def size_of(place: Place) -> int:
    """How large a file is; 0 if that cannot be said."""
    try:
        return place.path.stat().st_size
    except OSError:
        return 0


def read_whole(place: Place, file: FileIO) -> bytes:
    """All bytes of an open file, if it is not too large to be held in memory."""
    size = os.fstat(file.fileno()).st_size
    if size > LOADABLE:
        raise ToolError(
            f"{place.path} has {size:,} bytes, more than the {LOADABLE:,} that can be changed at once. "
            "Use a command such as sed for a file of this size.",
            "too_large",
        )
    try:
        return file.read()
    except OSError as error:
        raise failure(place, error) from error


def check_regular(status: os.stat_result, place: Place, missing: Kind = "missing") -> None:
    """Refuse folders, and what might block for ever or have no end."""
    if stat.S_ISREG(status.st_mode):
        if place.given.endswith("/"):
            there = f"but a file of that name.\n\nDid you mean one of these?\n{place.path}"
            raise ToolError(f"There is no folder {place.path}/, {there}", missing)
        return
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{place.path} is a folder, not a file. Name a file in it.", "is_folder")
    raise ToolError(f"{place.path} is {_special(status.st_mode)}, not a regular file, and is left alone.", "binary")


def failure(place: Place, error: OSError, *, missing: Kind = "missing") -> ToolError:
    """What to tell the model when the system refuses a file."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return missing_file(place, missing)
    return ToolError(f"{place.path} cannot be used: {error.strerror}. Check the path and its permissions.")


def _special(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
        stat.S_IFLNK: "a link that leads nowhere",
    }
    return kinds.get(stat.S_IFMT(mode), "something special")

"""A folder made a second time: by sharing blocks where the file system can, by reading and writing where not."""

import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from toolwright.record import record
from toolwright.text.wildcard import matches

THREADS = 4
_CLONE = 0x40049409
"""FICLONE: make a file share the blocks of another."""
_PIECE = 1024 * 1024 * 64
_TIMES = os.utime in os.supports_follow_symlinks


@record(slots=True)
class _Way:
    """The way in which files are copied here, found out with the first one."""

    shares: bool = True


def duplicate(source: Path, target: Path, leave_out: Sequence[str] = ()) -> None:
    """Copy all files, links and empty folders with modes and times; sockets, pipes and devices stay behind.

    `leave_out` are patterns of paths from the folder on. Raises OSError for what cannot be read or written.
    """
    way = _Way()
    with ThreadPoolExecutor(THREADS) as pool:
        folders = _folder(source, target, lambda path: _is_left_out(path, leave_out), pool, way)
    # Last, for each file made in a folder changes its time, and one that may not be written takes no files.
    for folder, status in reversed(folders):
        folder.chmod(stat.S_IMODE(status.st_mode))
        os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))


def _folder(
    source: Path, target: Path, left_out: Callable[[str], bool], pool: ThreadPoolExecutor, way: _Way
) -> list[tuple[Path, os.stat_result]]:
    folders = list[tuple[Path, os.stat_result]]()
    pending = []
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        folder = source / inside
        (target / inside).mkdir(mode=0o700)
        folders.append((target / inside, folder.stat()))
        files = list[str]()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = f"{inside}/{entry.name}" if inside else entry.name
                if left_out(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    files.append(name)
        if files:
            pending.append(pool.submit(_files, source, target, files, way))
    for each in pending:
        each.result()
    return folders


def _files(source: Path, target: Path, names: Sequence[str], way: _Way) -> None:
    for name in names:
        with suppress(FileNotFoundError):  # gone since the folder was listed
            _file(f"{source}/{name}", f"{target}/{name}", way)


def _file(source: str, target: str, way: _Way) -> None:
    status = os.lstat(source)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211 - a name, thousands of times
        if _TIMES:
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)
        return
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(reading)
        if not stat.S_ISREG(status.st_mode):
            return
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _content(reading, writing, status.st_size, way)
            os.fchmod(writing, stat.S_IMODE(status.st_mode))
            os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _content(reading: int, writing: int, size: int, way: _Way) -> None:
    if way.shares and size:
        try:
            fcntl.ioctl(writing, _CLONE, reading)
            return
        except OSError:
            way.shares = False
    while data := os.read(reading, _PIECE if size > _PIECE else size + 1):
        view = memoryview(data)
        while view:
            view = view[os.write(writing, view) :]


def _is_left_out(path: str, patterns: Sequence[str]) -> bool:
    return any(matches(path, pattern) for pattern in patterns)

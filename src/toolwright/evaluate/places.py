"""Where copies stand on a machine: one folder each, locked by its process and removed after it."""

import asyncio
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from toolwright.deadline import to_the_end
from toolwright.errors import ToolwrightError
from toolwright.machine.private_files import make_folder

PATIENCE = 60.0
"""Seconds to wait for a process of this machine that still has the place."""


class Occupied(ToolwrightError):
    """Another process still has the place."""


def root() -> Path:
    """The folder of all copies of this user."""
    return Path(tempfile.gettempdir()).resolve() / f"toolwright-copies-{os.getuid()}"


@asynccontextmanager
async def place(wanted: Path | None = None) -> AsyncIterator[Path]:
    """An empty folder that is ours alone until it is left; the wanted one, or a new one."""
    folder = wanted or root() / os.urandom(8).hex()
    _claim(folder.parent)
    lock = await _locked(folder)
    try:
        await to_the_end(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        await to_the_end(asyncio.to_thread(_leave, folder, lock))


def _claim(above: Path) -> None:
    """The folder of all copies has a name that others can guess: one that they have made is not used."""
    make_folder(above)
    status = above.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise Occupied(f"{above} belongs to somebody else. Remove it, or set TMPDIR to another folder.")


def sweep() -> int:
    """Remove what processes that are gone have left; how many copies that were."""
    swept = 0
    if root().exists():
        _claim(root())
    # A place is locked before it is made: one without a lock was made by a program that outlived its process.
    for folder in sorted({name.with_suffix("") for name in root().glob("*")}):
        lock = _try_lock(folder)
        if lock is not None:
            _leave(folder, lock)
            swept += 1
    return swept


async def _locked(folder: Path) -> int:
    """Lock a place. The process that had it before may take a moment to be gone."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while (lock := _try_lock(folder)) is None:
        if asyncio.get_running_loop().time() > end:
            raise Occupied(f"{folder} is still used by another process.")
        await asyncio.sleep(0.1)
    return lock


def _try_lock(folder: Path) -> int | None:
    name = _lock_of(folder)
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever had it may have removed it just now: then it is no lock any more.
        if os.fstat(handle).st_ino == name.stat().st_ino:
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _leave(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _lock_of(folder).unlink(missing_ok=True)
    os.close(lock)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")

"""Files that are the user's alone: in folders nobody else can enter, and changed by one process at a time."""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from toolwright.errors import ConfigError

MOST_BYTES = 16_000_000
NEW = ".new"
"""The end of the names of files that are about to take the place of another."""
MOST_CORRECTED = 5000
"""Files looked at when a folder is corrected; those beyond are out of reach all the same."""


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone. May raise OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def open_private(path: Path, *, append: bool = False) -> BinaryIO:
    """Open a file for writing; a new one is for its owner alone."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else os.O_TRUNC)
    return os.fdopen(os.open(path, flags, 0o600), "ab" if append else "wb")


def keep_private(folder: Path) -> None:
    """Correct a folder, if it is there, so that nobody but its owner gets in, and remove what a kill has left in it."""
    if not folder.is_dir():
        return
    _sweep(folder)
    open_to_others = stat.S_IMODE(folder.stat().st_mode) & 0o077
    _correct(folder)
    # Once the folder is closed, what lies deeper is out of reach; to look at all of it at every start takes long.
    for path in islice(folder.rglob("*"), MOST_CORRECTED) if open_to_others else folder.iterdir():
        _correct(path)


def read_private(file: Path) -> str:
    """The text of the file, empty if it is not there; a failure is one sentence."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ConfigError(f"{file} is not a regular file. Move it away.")
            return stream.read(MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text. Correct the file or delete it.") from error


def update(file: Path, change: Callable[[str], str]) -> None:
    """Replace the file's text by what `change` makes of it, with no other process between reading and writing."""
    try:
        with _held(file):
            _replace(file, change(read_private(file)))
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error


@contextmanager
def _held(file: Path) -> Iterator[None]:
    """The lock lies beside the file, because the file itself is replaced by every change."""
    make_folder(file.parent)
    handle = os.open(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(file: Path, text: str) -> None:
    _sweep(file.parent, held=file.name)
    from tempfile import mkstemp  # a start that writes nothing need not know of it

    handle, name = mkstemp(NEW, f".{file.name}.", file.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(handle)
        fresh.replace(file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _sweep(folder: Path, held: str = "") -> None:
    """Remove new files that were to replace one in the folder, of processes that were killed: nobody has their lock."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.endswith(NEW) and entry.name.startswith(".")]
    for name in names:
        file = name[1 : -len(NEW)].rpartition(".")[0]
        if file and (file == held or _is_unlocked(folder / f".{file}.lock")):
            (folder / name).unlink(missing_ok=True)


def _is_unlocked(lock: Path) -> bool:
    """Tell whether a lock of ours is there and nobody has it."""
    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _correct(path: Path) -> None:
    with suppress(OSError):
        mode = path.lstat().st_mode
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and stat.S_IMODE(mode) & 0o077:
            path.chmod(wanted)


def is_locked(file: Path) -> bool:
    """Tell whether some process has a file locked; the kernel unlocks it when that ends, however it ends."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False

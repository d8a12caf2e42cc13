"""Checks whether something is there, and where: a place where we may not look is one where nothing is."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ANY_NAME = "any\x01name"
"""Stands for every name that no rule knows."""


def is_there(place: Path) -> bool:
    return os.path.exists(place)  # noqa: PTH110 - Path.exists raises where it may not look


def is_folder(place: Path) -> bool:
    return os.path.isdir(place)  # noqa: PTH112 - as above


def is_real_folder(place: Path) -> bool:
    """Tell whether it is a folder itself, and not a link to one: what a command has made may lead anywhere."""
    try:
        return stat.S_ISDIR(os.lstat(place).st_mode)
    except OSError:
        return False


def hold_folder(place: Path) -> int:
    """A descriptor of a folder at a canonical path; OSError if a link has been put in its way."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if _name_of(descriptor, place) == str(place):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(place))


def read_itself(place: Path, most: int) -> bytes:
    """The beginning of a regular file at a canonical path; OSError if a link leads there, or it is something else.

    What a command has made may lead to where it cannot look itself, or be something that is never done being read.
    """
    descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or _name_of(descriptor, place) != str(place):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(place))
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)


def _name_of(descriptor: int, place: Path) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - on text
    except OSError:
        return os.path.realpath(place)


def is_in(place: Path, folders: Iterable[Path]) -> bool:
    """By their texts, which for canonical paths is many times faster than `is_relative_to`; asked at every command."""
    text = f"{place}/"
    return any(text.startswith(f"{str(folder).rstrip('/')}/") for folder in folders)


def folders_between(place: Path, around: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders above a place up to those around it: renamed, they would take the place along."""
    for folder in place.parents:
        if folder in around or not is_in(folder, around):
            return
        yield folder


def place_named(path: str, *, home: Path, root: Path) -> Path:
    """Return the canonical place that a setting names: `~` is the home folder, the rest is from the project's root."""
    at_home = path == "~" or path.startswith("~/")
    return (home / path[2:] if at_home else root / path).resolve()


def canonical(place: Path) -> Path:
    """The place without links; the same object where it has none. Linux is asked once for all parts of the path."""
    text = str(place)
    real = _opened(text) or os.path.realpath(text)
    return place if real == text else Path(real)


def _opened(text: str) -> str:
    """Return the system's name for it once it is open; empty if that cannot be told."""
    if not hasattr(os, "O_PATH"):
        return ""
    try:
        descriptor = os.open(text, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        real = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - on text
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return "" if real.endswith(" (deleted)") else real

"""Whether something is there, and where: a place where we may not look is one where nothing is."""

import os
from collections.abc import Iterable
from pathlib import Path


def is_there(place: Path) -> bool:
    return os.path.exists(place)  # noqa: PTH110 - Path.exists raises where it may not look


def is_folder(place: Path) -> bool:
    return os.path.isdir(place)  # noqa: PTH112 - as above


def is_in(place: Path, folders: Iterable[Path]) -> bool:
    """By their texts, which for canonical paths is many times faster than `is_relative_to`; asked at every command."""
    text = f"{place}/"
    return any(text.startswith(f"{str(folder).rstrip('/')}/") for folder in folders)


def canonical(place: Path) -> Path:
    """The place without links; the same object where it has none. Linux is asked once for all parts of the path."""
    text = str(place)
    real = _opened(text) or os.path.realpath(text)
    return place if real == text else Path(real)


def _opened(text: str) -> str:
    """What the system calls it once it is open; empty if that cannot be told."""
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

"""The names that git has in its index, read from the file itself; nothing is run for it."""

import os
import posixpath
import struct
from functools import lru_cache

LARGEST = 8_000_000
"""An index beyond this many bytes is not read; its names are then not known."""


def tracked(folder: str) -> tuple[str, list[str]] | None:
    """The top of the work tree around a folder and the tracked names in it; None if that cannot be told."""
    top = folder
    while not os.path.lexists(posixpath.join(top, ".git")):
        if top in ("/", ""):
            return None
        top = posixpath.dirname(top)
    index = posixpath.join(git_folder(top), "index")
    try:
        known = os.stat(index)  # noqa: PTH116 - text
        if known.st_size > LARGEST:
            return None
        return top, _read(index, (known.st_mtime_ns, known.st_size, known.st_ino))
    except FileNotFoundError:
        return top, []
    except (OSError, ValueError, struct.error):
        return None


@lru_cache(maxsize=4)
def _read(index: str, _: object) -> list[str]:
    """Read once for as long as it is the same file."""
    with open(index, "rb") as file:  # noqa: PTH123 - text
        return _names(file.read())


def git_folder(top: str) -> str:
    """Linked work trees and submodules have a file that says where the folder is."""
    path = posixpath.join(top, ".git")
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123 - text
            return posixpath.join(top, file.read(4096).removeprefix("gitdir:").strip())
    except IsADirectoryError:
        return path
    except OSError:
        return path


def _names(data: bytes) -> list[str]:
    """Versions 2 and 3 have each name in full; version 4 says how much of the last one to keep."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index")
    found: list[str] = []
    position, name = 12, b""
    for _ in range(count):
        flags = int.from_bytes(data[position + 60 : position + 62], "big")
        start = position + 62 + (2 if version > 2 and flags & 0x4000 else 0)
        if version == 4:
            strip, start = _number(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - strip] + data[start:end]
            position = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            position += (end - position + 8) & ~7
        found.append(name.decode("utf-8", "surrogateescape"))
    return found


def _number(data: bytes, position: int) -> tuple[int, int]:
    value = data[position] & 0x7F
    while data[position] & 0x80:
        position += 1
        value = ((value + 1) << 7) | (data[position] & 0x7F)
    return value, position + 1

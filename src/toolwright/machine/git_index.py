"""Git's index, read from the file itself; nothing is run for it."""

import os
import posixpath
import struct
from functools import lru_cache

from toolwright.machine.plain_files import read_plain, read_start
from toolwright.record import record

LARGEST = 64_000_000
"""An index beyond this many bytes, which is some 600,000 files, is not read; its names are then not known."""

Stamp = tuple[int, int]
"""When a file was last changed, in nanoseconds, and its size as git remembers it."""


@record(frozen=True, slots=True)
class Index:
    """The tracked files of a work tree."""

    top: str
    """The folder of the work tree."""
    written: int
    """When the index was, in nanoseconds."""
    files: dict[str, Stamp]
    """By the name from the top, as each was when git last saw it."""

    def has(self, name: str, seen: os.stat_result) -> bool:
        """Return whether git has the file as it is: not sure of one changed in the moment the index was written."""
        stamp = (seen.st_mtime_ns, seen.st_size & 0xFFFFFFFF)
        return seen.st_mtime_ns < self.written and self.files.get(name) == stamp


def index_around(folder: str) -> Index | None:
    """The index of the work tree around a folder; None if it cannot be told what is in it."""
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
        return Index(top, known.st_mtime_ns, _read(index, (known.st_mtime_ns, known.st_size, known.st_ino)))
    except FileNotFoundError:
        return Index(top, 0, {})
    except (OSError, ValueError, struct.error):
        return None


@lru_cache(maxsize=4)
def _read(index: str, _: object) -> dict[str, Stamp]:
    """Read once for as long as it is the same file."""
    return _entries(read_plain(index, LARGEST))


def git_folder(top: str) -> str:
    """Linked work trees and submodules have a file that says where the folder is."""
    path = posixpath.join(top, ".git")
    pointer = read_start(path, 4096).decode("utf-8", "surrogateescape")
    return posixpath.join(top, pointer.removeprefix("gitdir:").strip()) if pointer else path


def _entries(data: bytes) -> dict[str, Stamp]:
    """Versions 2 and 3 have each name in full; version 4 says how much of the last one to keep."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index")
    stamps: dict[str, Stamp] = {}
    position, name = 12, b""
    for _ in range(count):
        seconds, fraction, size, flags = _FIELDS.unpack_from(data, position)
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
        stamps[name.decode("utf-8", "surrogateescape")] = (seconds * 1_000_000_000 + fraction, size)
    return stamps


_FIELDS = struct.Struct(">8xII20xI20xH")
"""Of an entry: when the file was last changed, its size, and how its name is written."""


def _number(data: bytes, position: int) -> tuple[int, int]:
    value = data[position] & 0x7F
    while data[position] & 0x80:
        position += 1
        value = ((value + 1) << 7) | (data[position] & 0x7F)
    return value, position + 1

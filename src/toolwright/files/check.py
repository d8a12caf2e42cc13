"""Findings of a search, checked against the files themselves, reached without a link.

Engines go by path. Somebody who exchanges a folder for a link while they search could have them look elsewhere.
"""

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from toolwright.files.disk import LOADABLE
from toolwright.files.held import HeldFolder, hold

_MARKS_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MOST = 64
"""Folders held at once."""
_SHORTENED = re.compile(rb" \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]\r?\Z")


class FoundLine(NamedTuple):
    number: int
    offset: int
    """The line's beginning, in bytes; in a file of UTF-16, as if it were UTF-8. A byte order mark does not count."""
    data: bytes

    @classmethod
    def read(cls, line: bytes) -> "FoundLine":
        """From `number:offset:text`."""
        number, offset, data = line.split(b":", 2)
        return cls(int(number), int(offset), data)


class Check:
    """Looks at what was found under one folder, which it holds."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._held: dict[str, HeldFolder] = {}
        """By their paths from the base: it, and the folders used last."""

    def __enter__(self) -> "Check":
        with suppress(OSError):
            self._held[""] = hold(self._base)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._held:
            self._held.popitem()[1].close()

    def is_file(self, path: str) -> bool:
        """Tell whether a regular file is there."""
        folder, _, name = path.rpartition("/")
        with suppress(OSError, KeyError):
            return stat.S_ISREG(self._folder(folder).status(name).st_mode)
        return False

    def lines(self, path: str, claimed: Sequence[FoundLine]) -> list[FoundLine]:
        """Those lines that the file really has where they are said to be."""
        folder, _, name = path.rpartition("/")
        with suppress(OSError, KeyError):
            handle = self._folder(folder).open(name, os.O_RDONLY)
            try:
                return _lines(handle, claimed) if stat.S_ISREG(os.fstat(handle).st_mode) else []
            finally:
                os.close(handle)
        return []

    def _folder(self, path: str) -> HeldFolder:
        held = self._held.get(path)
        if held is None:
            held = self._held[path] = self._held[""].enter(path.split("/"))
            if len(self._held) > _MOST:
                oldest = next(filter(None, self._held))
                self._held.pop(oldest).close()
        return held


def _lines(handle: int, claimed: Sequence[FoundLine]) -> list[FoundLine]:
    head = os.pread(handle, len(codecs.BOM_UTF8), 0)
    if head.startswith(_MARKS_16):
        text = os.pread(handle, LOADABLE, 0).decode("utf-16", "replace").encode()
        return list(_really(claimed, lambda count, offset: text[offset : offset + count]))
    mark = len(head) if head == codecs.BOM_UTF8 else 0
    return list(_really(claimed, lambda count, offset: os.pread(handle, count, mark + offset)))


def _really(claimed: Sequence[FoundLine], read: Callable[[int, int], bytes]) -> Iterator[FoundLine]:
    """The lines that are where they are said to be.

    Asked about line ends of two characters, ripgrep gives one to a last line that has none.
    """
    for line in claimed:
        start = _start(line.data)
        here = read(len(start), line.offset)
        if here == start:
            yield line
        elif start.endswith(b"\r") and here == start[:-1]:
            yield line._replace(data=here)


def _start(data: bytes) -> bytes:
    """Return the start of a long line from ripgrep, without the words it puts in the place of the rest."""
    return _SHORTENED.sub(b"", data)

"""The sections of a patch, and the chunks of those that change a file, read line by line."""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from toolwright.edits.blanks import strip
from toolwright.record import record

END_OF_FILE = "*** End of File"

Mark = Literal[" ", "-", "+"]
_MARKS: Mapping[str, Mark] = {" ": " ", "-": "-", "+": "+"}
_NUMBERED = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@(.*)")


@record(slots=True, kw_only=True)
class Chunk:
    """One change inside a file: lines to find, some kept, some removed, some added."""

    header: str = ""
    """A line above the change that tells where it is."""
    line: int | None = None
    """Line that a numbered header names, from 1."""
    heading: str = ""
    """Heading that a numbered header names, as git does; the line may be gone or further up."""
    lines: list[tuple[Mark, str]] = field(default_factory=list)
    unmarked: set[int] = field(default_factory=set)
    """Blank lines without a mark, by number: context, most likely, or else only there for the eye."""
    bare: set[int] = field(default_factory=set)
    """Other lines without a mark, by number: context that was copied without the blank before it."""
    at_end: bool = False
    """The change is at the end of the file."""
    unended: set[Mark] = field(default_factory=set)
    """Behind which kinds of line the patch says that the file has no line end there."""

    @property
    def old(self) -> list[str]:
        """The lines to find."""
        return [text for mark, text in self.lines if mark != "+"]


@record(frozen=True, slots=True, kw_only=True)
class Add:
    path: str
    content: str


@record(frozen=True, slots=True, kw_only=True)
class Delete:
    path: str


@record(frozen=True, slots=True, kw_only=True)
class Update:
    path: str
    target: str | None
    """Path that the file moves to, if it does."""
    chunks: list[Chunk]


Section = Add | Delete | Update


@record(frozen=True, slots=True, kw_only=True)
class Patch:
    sections: list[Section]
    dropped: list[int]
    """Lines of the patch, from 1, that have no mark or belong to no section, and so were left out."""
    remarks: list[str] = field(default_factory=list[str])
    """Notes on how the patch was understood where it was not written as it should be."""


class ChunkReader:
    """Takes the lines of a section that changes a file, one by one."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self._blank = 0
        """Blank lines without a mark since the last line with one."""

    def take(self, line: str) -> None:
        mark = _MARKS.get(line[:1])
        if line.startswith("@@"):
            self.chunks.append(_opened(line))
            self._blank = 0
        elif strip(line) == END_OF_FILE:
            if self.chunks:
                self.chunks[-1].at_end = True
        elif not line:
            self._blank += 1
        elif line.startswith("\\"):
            if self.chunks and self.chunks[-1].lines:
                self.chunks[-1].unended.add(self.chunks[-1].lines[-1][0])
        elif mark:
            self._extend(mark, line[1:])
        else:
            self._extend(" ", line)
            self.chunks[-1].bare.add(len(self.chunks[-1].lines) - 1)

    def _extend(self, mark: Mark, text: str) -> None:
        """Add a line, and before it the blank ones without a mark that stood between it and the line before."""
        if not self.chunks or self.chunks[-1].at_end:
            self.chunks.append(Chunk())
        chunk = self.chunks[-1]
        if chunk.lines:
            chunk.unmarked.update(range(len(chunk.lines), len(chunk.lines) + self._blank))
            chunk.lines += [(" ", "")] * self._blank
        chunk.lines.append((mark, text))
        self._blank = 0


def _opened(line: str) -> Chunk:
    numbered = _NUMBERED.match(line)
    if numbered:
        start, count = int(numbered[1]), numbered[2]
        return Chunk(line=start + 1 if count == "0" else max(start, 1), heading=strip(numbered[3]))
    return Chunk(header=strip(line.removeprefix("@@").removesuffix("@@")))

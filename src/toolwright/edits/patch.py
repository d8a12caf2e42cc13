"""The patch format: what a patch asks for, section by section. Text in, sections out."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from toolwright.edits.blanks import strip
from toolwright.errors import ToolError
from toolwright.record import record

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, DELETE, UPDATE, MOVE = "*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"
END_OF_FILE = "*** End of File"

_HEREDOC = re.compile(r"(?:cat\s+)?<<\s*(['\"]?)(\w+)\1\s*\n(.*)\n\2", re.DOTALL)
_NUMBERED = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@(.*)")


Mark = Literal[" ", "-", "+"]
_MARKS: Mapping[str, Mark] = {" ": " ", "-": "-", "+": "+"}


@record(slots=True, kw_only=True)
class Chunk:
    """One change inside a file: lines to find, some kept, some removed, some added."""

    header: str = ""
    """A line above the change that tells where it is."""
    line: int | None = None
    """Where a numbered header says that it is, from 1."""
    heading: str = ""
    """What a numbered header says that it is in, as git does; the line may be gone or further up."""
    lines: list[tuple[Mark, str]] = field(default_factory=list)
    unmarked: set[int] = field(default_factory=set)
    """Which of the lines are blank ones without a mark: context, most likely, or else only there for the eye."""
    at_end: bool = False
    """The change is at the end of the file."""

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
    """Where the file moves to, if it does."""
    chunks: list[Chunk]


Section = Add | Delete | Update


@record(frozen=True, slots=True, kw_only=True)
class Patch:
    sections: list[Section]
    dropped: list[int]
    """Lines of the patch, from 1, that have no mark or belong to no section, and so were left out."""


def parse(text: str) -> Patch:
    """The patch in this text, whatever stands around it; a ToolError (markers, empty_patch, no_operations) if none."""
    lines = _body(text)
    patch = _Reader(lines).read()
    if patch.sections:
        return patch
    if not any(map(strip, lines)):
        raise ToolError(f"The patch is empty: there is nothing between {BEGIN!r} and {END!r}.", "empty_patch")
    raise ToolError(
        f"The patch names no file. Begin each file with {ADD!r}, {UPDATE!r} or {DELETE!r} and its path.",
        "no_operations",
    )


def _body(text: str) -> list[str]:
    """The lines between the two markers."""
    text = strip(text)
    inner = _HEREDOC.fullmatch(text)
    lines = (inner[3] if inner else text).split("\n")
    if all(line.endswith("\r") for line in lines[:-1]):
        lines = [line.removesuffix("\r") for line in lines]
    bare = [strip(line) for line in lines]
    if BEGIN not in bare or END not in bare or bare.index(BEGIN) >= bare.index(END):
        raise ToolError(
            f"A patch begins with a line {BEGIN!r} and ends with a line {END!r}. Send it again with both.", "markers"
        )
    return lines[bare.index(BEGIN) + 1 : bare.index(END)]


class _Reader:
    """Goes through the lines once, section by section."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._dropped: list[int] = []

    def read(self) -> Patch:
        sections: list[Section] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if path := _path(line, ADD):
                sections.append(Add(path=path, content=self._content()))
            elif path := _path(line, DELETE):
                sections.append(Delete(path=path))
            elif path := _path(line, UPDATE):
                sections.append(Update(path=path, target=self._target(), chunks=self._chunks()))
            elif strip(line):
                self._dropped.append(self._at + 1)
        return Patch(sections=sections, dropped=self._dropped)

    def _rest(self) -> Iterator[str]:
        """The lines of this section."""
        while self._at < len(self._lines) and not _ends_section(self._lines[self._at]):
            self._at += 1
            yield self._lines[self._at - 1]

    def _content(self) -> str:
        lines = []
        for line in self._rest():
            if line.startswith("+"):
                lines.append(line[1:])
            elif line:
                self._dropped.append(self._at + 1)
        content = "\n".join(lines)
        return content if not content or content.endswith("\n") else f"{content}\n"

    def _target(self) -> str | None:
        if self._at == len(self._lines) or not self._lines[self._at].startswith(MOVE):
            return None
        self._at += 1
        return _path(self._lines[self._at - 1], MOVE) or None

    def _chunks(self) -> list[Chunk]:
        chunks: list[Chunk] = []
        blank = 0
        for line in self._rest():
            mark = _MARKS.get(line[:1])
            if line.startswith("@@"):
                chunks.append(_opened(line))
                blank = 0
            elif strip(line) == END_OF_FILE:
                if chunks:
                    chunks[-1].at_end = True
            elif not line:
                blank += 1
            elif mark:
                if not chunks or chunks[-1].at_end:
                    chunks.append(Chunk())
                _extend(chunks[-1], blank, mark, line[1:])
                blank = 0
            elif not line.startswith("\\"):
                self._dropped.append(self._at + 1)
        return chunks


def _extend(chunk: Chunk, blank: int, mark: Mark, text: str) -> None:
    """Add a line, and before it the blank ones without a mark that stood between it and the line before."""
    if chunk.lines:
        chunk.unmarked.update(range(len(chunk.lines), len(chunk.lines) + blank))
        chunk.lines += [(" ", "")] * blank
    chunk.lines.append((mark, text))


def _opened(line: str) -> Chunk:
    numbered = _NUMBERED.match(line)
    if numbered:
        start, count = int(numbered[1]), numbered[2]
        return Chunk(line=start + 1 if count == "0" else max(start, 1), heading=strip(numbered[3]))
    return Chunk(header=strip(line.removeprefix("@@").removesuffix("@@")))


def _ends_section(line: str) -> bool:
    return line.startswith("***") and strip(line) != END_OF_FILE


def _path(line: str, header: str) -> str:
    return strip(line.removeprefix(header)) if line.startswith(header) else ""

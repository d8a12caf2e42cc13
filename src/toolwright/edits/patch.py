"""The patch format: what a patch asks for, section by section. Text in, sections out."""

import re
from collections.abc import Iterator, Sequence

from toolwright.edits.blanks import BLANKS, indent_of, strip
from toolwright.edits.sections import END_OF_FILE, Add, Chunk, ChunkReader, Delete, Patch, Section, Update
from toolwright.edits.unified import begins_diff, begins_names, read_unified
from toolwright.errors import ToolError

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, DELETE, UPDATE, MOVE = "*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"
FENCE = "```"

_HEREDOC = re.compile(r"(?:cat\s+)?<<\s*(['\"]?)(\w+)\1\s*\n(.*)\n\2", re.DOTALL)


def parse(text: str) -> Patch:
    """The patch in this text, whatever stands around it; a ToolError (markers, empty_patch, no_operations) if none.

    A unified diff is understood as well, and so is a patch without its last line, where nothing in it is left over.
    """
    whole = _lines(text)
    inner, ended = _between_markers(whole)
    if not any(_is_head(line) for line in inner) and any(begins_diff(inner, at) for at in range(len(inner))):
        return Patch(sections=read_unified(inner), dropped=[])
    if inner is whole:
        raise ToolError(
            f"A patch begins with a line {BEGIN!r} and ends with a line {END!r}. Send it again with both.", "markers"
        )
    patch = _Reader(inner).read()
    if not ended:
        return _taken_as_whole(patch)
    if patch.sections:
        return patch
    if not any(map(strip, inner)):
        raise ToolError(f"The patch is empty: there is nothing between {BEGIN!r} and {END!r}.", "empty_patch")
    raise ToolError(
        f"The patch names no file. Begin each file with {ADD!r}, {UPDATE!r} or {DELETE!r} and its path.",
        "no_operations",
    )


def _lines(text: str) -> list[str]:
    """The lines of the text, out of a here document or a block of code that they may stand in."""
    inner = _HEREDOC.fullmatch(strip(text))
    lines = (inner[3] if inner else strip(text)).split("\n")
    if all(line.endswith("\r") for line in lines[:-1]):
        lines = [line.removesuffix("\r") for line in lines]
    if len(lines) > 1 and lines[0].startswith(FENCE) and strip(lines[-1]) == FENCE:
        lines = lines[1:-1]
    return lines


def _between_markers(lines: list[str]) -> tuple[list[str], bool]:
    """The lines between the two markers, and whether the second is there; all lines where the first is not."""
    bare = [strip(line) for line in lines]
    if BEGIN not in bare or (END in bare and bare.index(END) < bare.index(BEGIN)):
        return lines, False
    begin = bare.index(BEGIN)
    end = bare.index(END) if END in bare else len(lines)
    return _dedented(lines[begin + 1 : end]), END in bare


def _dedented(lines: list[str]) -> list[str]:
    """The lines without the indentation of the first, where all have it: with it none of them would be a change."""
    filled = [line for line in lines if strip(line)]
    indent = indent_of(filled[0]) if filled else ""
    if not indent or not all(line.startswith(indent) for line in filled):
        return lines
    return [line.removeprefix(indent) for line in lines]


def _taken_as_whole(patch: Patch) -> Patch:
    """A patch without its end, if it can be told that nothing of it is missing."""
    last = patch.sections[-1] if patch.sections else None
    complete = not isinstance(last, Update) or _changes(last.chunks) or bool(last.target and not last.chunks)
    if last is None or patch.dropped or not complete:
        raise ToolError(
            f"The patch has no line {END!r}, and it cannot be told whether it is whole. Send it again to its end, with "
            "that line.",
            "markers",
        )
    remark = f"The patch had no line {END!r}, and was taken to end with its last line."
    return Patch(sections=patch.sections, dropped=[], remarks=[remark])


def _changes(chunks: Sequence[Chunk]) -> bool:
    """Tell whether the last of the chunks changes something, and every line of them has its mark."""
    return bool(chunks) and any(mark != " " for mark, _ in chunks[-1].lines) and not any(one.bare for one in chunks)


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
                target = self._target(indent_of(line))
                sections.append(Update(path=path, target=target, chunks=self._chunks()))
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
            elif _is_head(line):  # indented, as no line of a new file is
                self._at -= 1
                break
            elif line:
                self._dropped.append(self._at + 1)
        content = "\n".join(lines)
        return content if not content or content.endswith("\n") else f"{content}\n"

    def _target(self, indent: str) -> str | None:
        if self._at == len(self._lines) or not self._lines[self._at].startswith((MOVE, indent + MOVE)):
            return None
        self._at += 1
        return _path(self._lines[self._at - 1], MOVE) or None

    def _chunks(self) -> list[Chunk]:
        if self._at < len(self._lines) and begins_names(self._lines, self._at):
            self._at += 2  # of a unified diff; the section has named the file already
        reader = ChunkReader()
        for line in self._rest():
            reader.take(line)
        return reader.chunks


def _is_head(line: str) -> bool:
    return line.lstrip(BLANKS).startswith((ADD, DELETE, UPDATE))


def _ends_section(line: str) -> bool:
    return line.startswith("***") and strip(line) != END_OF_FILE


def _path(line: str, header: str) -> str:
    """The path that a line with this header names, indented or not."""
    line = line.lstrip(BLANKS)
    return strip(line.removeprefix(header)) if line.startswith(header) else ""

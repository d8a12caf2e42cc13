"""The chunks of a patch, applied to the text of a file."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import accumulate

from toolwright.edits.blanks import BLANKS, strip
from toolwright.edits.folding import LOOK_ALIKE
from toolwright.edits.indents import reindented
from toolwright.edits.sections import Chunk, Mark
from toolwright.errors import ToolError
from toolwright.record import record

_LINE_END, _ANY_LINE_END = re.compile(r"\r?\n"), re.compile(r"\r\n|\n|\r")
_LONE_RETURN = re.compile(r"\r(?!\n)")


@record(frozen=True, slots=True, kw_only=True)
class Patched:
    """A text after its chunks."""

    text: str
    remarks: list[str]
    """Notes on what the author of the patch may not be aware of."""


def apply_chunks(text: str, chunks: Sequence[Chunk], *, rewrite_context: bool = False) -> Patched:
    """The text with all chunks applied, or a ToolError (lines_not_found, context_header_not_found).

    Lines are looked for exactly, then without blanks at their end, then around them, then with look-alike
    punctuation. Lines that a chunk keeps stay as the file has them; with `rewrite_context` they become as the patch
    has them, which is what the reference does. A carriage return alone ends a line where the chunks fit only then.
    """
    try:
        return _applied(_Lines(text, _LINE_END), chunks, rewrite_context=rewrite_context)
    except ToolError as refusal:
        if not _LONE_RETURN.search(text):
            raise
        try:
            return _applied(_Lines(text, _ANY_LINE_END), chunks, rewrite_context=rewrite_context)
        except ToolError:
            raise refusal from None


def _applied(lines: "_Lines", chunks: Sequence[Chunk], *, rewrite_context: bool) -> Patched:
    edits: list[_Edit] = []
    remarks: list[str] = []
    at = 0
    for number, chunk in enumerate(chunks, 1):
        at = _after_header(lines, chunk, at, number)
        edit = _placed(lines, chunk, at, number, remarks)
        edits.append(edit)
        at = edit.end
    return Patched(text=_rebuilt(lines, edits, rewrite_context=rewrite_context), remarks=remarks)


@record(frozen=True, slots=True, kw_only=True)
class _Edit:
    """A chunk and the lines of the file it stands for."""

    start: int
    end: int
    lines: Sequence[tuple[Mark, str]]
    unended: AbstractSet[Mark]


class _Lines:
    """The lines of a text without their ends, and the four forms in which runs of them are looked for."""

    def __init__(self, text: str, line_end: re.Pattern[str]) -> None:
        self.ends = line_end.findall(text)
        self.texts = line_end.split(text)
        self.ended = not self.texts[-1]
        """Whether the last line has an end. If not, `ends` has the one it would get."""
        if self.ended:
            self.texts.pop()
        else:
            self.ends.append(self.ends[-1] if self.ends else "\n")

    def find(self, wanted: Sequence[str], at: int) -> int | None:
        """The first line from `at` on where these begin."""
        for form in self._forms:
            place = form.find(wanted, at)
            if place is not None:
                return place
        return None

    def has(self, wanted: Sequence[str], at: int) -> bool:
        """Tell whether these lines are there from `at` on exactly as they stand."""
        return self._forms[0].find(wanted, at) is not None

    def find_last(self, wanted: Sequence[str]) -> int | None:
        """The line where these begin, if they are the last lines of the file."""
        start = len(self.texts) - len(wanted)
        if start < 0:
            return None
        return start if self.find(wanted, start) == start else None

    @cached_property
    def _forms(self) -> list["_Form"]:
        return [_Form(self.texts, key) for key in (str, _end_trimmed, strip, _folded)]


class _Form:
    """Lines under one way to compare them, in one string so that a run is found at once."""

    def __init__(self, lines: Sequence[str], key: Callable[[str], str]) -> None:
        self._lines = lines
        self._key = key

    @cached_property
    def _joined(self) -> str:
        return "\n".join(["", *map(self._key, self._lines), ""])

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(self._key(line)) + 1 for line in self._lines), initial=0))

    def find(self, wanted: Sequence[str], at: int) -> int | None:
        if at > len(self._lines):
            return None
        place = self._joined.find("\n".join(["", *map(self._key, wanted), ""]), self._starts[at])
        return None if place < 0 else bisect_left(self._starts, place)


def _after_header(lines: _Lines, chunk: Chunk, at: int, number: int) -> int:
    """The first line that a chunk may change: below its header, if it has one."""
    if not chunk.header:
        return at
    header = lines.find([chunk.header], at)
    if header is not None:
        return header + 1
    like = next((line for line in lines.texts[at:] if strip(line).startswith(chunk.header)), None)
    hint = f" Did you mean {strip(like)!r}? A header is a whole line." if like else _elsewhere(lines, [chunk.header])
    raise ToolError(
        f"Chunk {number}: the header line {chunk.header!r} is not in the file{_below(at)}.{hint}",
        "context_header_not_found",
    )


def _placed(lines: _Lines, chunk: Chunk, at: int, number: int, remarks: list[str]) -> _Edit:
    """Return the edit that puts the chunk where it belongs."""
    old = chunk.old
    if not old:
        start = _insertion(lines, chunk, at)
        return _Edit(start=start, end=start, lines=chunk.lines, unended=chunk.unended)
    body = _read(lines, chunk, at)
    old = [text for mark, text in body if mark != "+"]
    place = _sought(lines, chunk, old, at)
    for body in () if place is not None else _shorter(chunk):
        old = [text for mark, text in body if mark != "+"]
        place = _sought(lines, chunk, old, at) if old else at
        if place is not None:
            break
    if place is None:
        raise ToolError(_not_found(lines, chunk.old, at, number), "lines_not_found")
    twin = None if chunk.at_end or chunk.line == place + 1 else lines.find(old, place + 1)
    if twin is not None and not chunk.header:
        remarks.append(f"Chunk {number} fits line {place + 1} and line {twin + 1}; the first was changed.")
    return _Edit(start=place, end=place + len(old), lines=body, unended=chunk.unended)


def _read(lines: _Lines, chunk: Chunk, at: int) -> Sequence[tuple[Mark, str]]:
    """The lines of the chunk; where only then they are in the file as they stand, with the blanks that are their marks.

    So it is where the lines that stay were copied without a blank before them: what they begin with is theirs.
    """
    if lines.has(chunk.old, at):
        return chunk.lines
    copied = [
        (mark, f" {text}" if mark == " " and strip(text) and number not in chunk.bare else text)
        for number, (mark, text) in enumerate(chunk.lines)
    ]
    return copied if lines.has([text for mark, text in copied if mark != "+"], at) else chunk.lines


def _insertion(lines: _Lines, chunk: Chunk, at: int) -> int:
    """Return the line for added lines that come without any to find: where the header says, else the end."""
    if chunk.header or not chunk.lines:
        return at
    if chunk.line is not None:
        return max(at, min(chunk.line - 1, len(lines.texts)))
    return len(lines.texts)


def _sought(lines: _Lines, chunk: Chunk, old: Sequence[str], at: int) -> int | None:
    """The end of the file first if the chunk says so, else the place nearest to its number, else the first place."""
    if chunk.at_end:
        last = lines.find_last(old)
        if last is not None and last >= at:
            return last
    if chunk.line is None:
        return lines.find(old, at)
    heading = lines.find([chunk.heading], at) if chunk.heading else None
    below = None if heading is None else _nearest(lines, old, heading, chunk.line - 1)
    return _nearest(lines, old, at, chunk.line - 1) if below is None else below


def _nearest(lines: _Lines, old: Sequence[str], at: int, line: int) -> int | None:
    """Of the places from `at` on the one nearest to a line: models count lines badly, but not that badly."""
    nearest, place = None, lines.find(old, at)
    while place is not None:
        if nearest is None or abs(place - line) < abs(nearest - line):
            nearest = place
        place = lines.find(old, place + 1) if place < line else None
    return nearest


def _shorter(chunk: Chunk) -> Iterator[list[tuple[Mark, str]]]:
    """Yield what the chunk may have meant: no blank line at its end, no blank lines that have no mark."""
    if not strip(chunk.old[-1]):
        rest = list(chunk.lines)
        last = max(number for number, (mark, _) in enumerate(rest) if mark != "+")
        kept = rest.pop(last)[0] == " "
        if not kept and rest and rest[-1][0] == "+" and not strip(rest[-1][1]):
            rest.pop()
        yield rest
    if chunk.unmarked:
        yield [line for number, line in enumerate(chunk.lines) if number not in chunk.unmarked]


def _rebuilt(lines: _Lines, edits: Sequence[_Edit], *, rewrite_context: bool) -> str:
    pieces: list[str] = []
    at, ended = 0, lines.ended
    for edit in edits:
        pieces += map("".join, zip(lines.texts[at : edit.start], lines.ends[at : edit.start], strict=True))
        pieces += _changed(lines, edit, rewrite_context=rewrite_context)
        at = edit.end
        if edit.end == len(lines.texts) and edit.lines and (edit.unended or rewrite_context):
            ended = "+" not in edit.unended
    pieces += map("".join, zip(lines.texts[at:], lines.ends[at:], strict=True))
    if pieces and not ended:
        pieces[-1] = pieces[-1].removesuffix(lines.ends[-1])
    return "".join(pieces)


def _changed(lines: _Lines, edit: _Edit, *, rewrite_context: bool) -> list[str]:
    """The lines of a chunk as they come to stand in the file, with the line ends that are usual there."""
    usual = _usual_end(lines, edit)
    here = lines.texts[edit.start : edit.end]
    added = [text for mark, text in edit.lines if mark == "+"]
    if not rewrite_context:
        existing = [(mark, text) for mark, text in edit.lines if mark != "+"]
        pairs = [(mark, text, line) for (mark, text), line in zip(existing, here, strict=True)]
        added = reindented(added, [(text, line) for _, text, line in sorted(pairs, key=lambda pair: pair[0] == " ")])
    result, at, fresh = [], edit.start, iter(added)
    for mark, text in edit.lines:
        if mark == "+":
            result.append(next(fresh) + usual)
            continue
        if mark == " ":
            result.append((text if rewrite_context else lines.texts[at]) + lines.ends[at])
        at += 1
    return result


def _usual_end(lines: _Lines, edit: _Edit) -> str:
    near = lines.ends[edit.start : edit.end] or lines.ends[: edit.start][-1:] or lines.ends[:1]
    return near[0] if near else "\n"


def _not_found(lines: _Lines, old: Sequence[str], at: int, number: int) -> str:
    quote = "\n".join(f"  {line}" for line in old[:8]) + ("\n  ..." if len(old) > 8 else "")
    return (
        f"Chunk {number}: these lines are not in the file{_below(at)}, not even with other blanks or quotes:\n{quote}\n"
        f"{_first_missing(lines, old, at)}{_elsewhere(lines, old)} Read the file and copy the lines from it."
    )


def _first_missing(lines: _Lines, old: Sequence[str], at: int) -> str:
    """Say how far the lines do fit, where the first of them do."""
    fit = bisect_left(range(1, len(old) + 1), True, key=lambda count: lines.find(old[:count], at) is None)
    if not fit:
        return "Not even the first of them is there."
    start = lines.find(old[:fit], at) or 0
    after = lines.texts[start + fit] if start + fit < len(lines.texts) else None
    has = "the file ends" if after is None else f"the file has {after!r}"
    return f"They fit from line {start + 1} on, but where the patch has {old[fit]!r} {has} (line {start + fit + 1})."


def _elsewhere(lines: _Lines, wanted: Sequence[str]) -> str:
    """Say where the lines stand above the place looked from, if they do."""
    above = lines.find(wanted, 0)
    if above is None:
        return ""
    return f" They are at line {above + 1}, above the chunk before: put the chunks in the order of the file."


def _below(at: int) -> str:
    return f" below line {at}" if at else ""


def _end_trimmed(line: str) -> str:
    return line.rstrip(BLANKS)


def _folded(line: str) -> str:
    return strip(line).translate(LOOK_ALIKE)

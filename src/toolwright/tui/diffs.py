"""A difference as rows with numbers, signs and marked words: in one column, or in two where there is room."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile, zip_longest
from typing import Final, NamedTuple

from rich.cells import cell_len

from toolwright.terminal.screen import DIM
from toolwright.text.display import visible
from toolwright.tui.page import Line, fitted

WIDE: Final = 150
"""Columns from which on two texts fit beside each other: those of a screen of 160 but for its edges."""
ADDED, REMOVED = "added", "removed"
ADDED_WORD, REMOVED_WORD = "added-word", "removed-word"
"""The codes of what is new and what is gone: the row, and the words that differ in a line that was changed."""
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_NEW: Final = re.compile(r"^@@ -0,0 ", re.MULTILINE)
_TOKENS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_NARROWEST: Final = 8
"""Columns that the text of a row has at least."""


class _Row(NamedTuple):
    """A line of one side: its number, its sign, and its text in pieces."""

    number: int
    sign: str
    pieces: Line


_NOTHING: Final = _Row(0, " ", [])


class _Run(NamedTuple):
    """Lines that are the same on both sides, or those that took the place of others."""

    old: list[_Row]
    new: list[_Row]
    same: bool = False


def diff_rows(diff: str, columns: int, most: int) -> list[Line]:
    """Lay out a unified difference; lines beyond `most` are counted. A sentence in its place is shown as it is."""
    if not _HUNK.search(diff):
        return [line for text in diff.splitlines() for line in fitted([(visible(text, lines=False), DIM)], columns)]
    draw = _beside if columns >= WIDE and not _NEW.search(diff) else _below
    width = max((len(number) for found in _HUNK.finditer(diff) for number in found.groups()), default=1) + 1
    rows = (line for run in _runs(diff) for line in draw(run, columns, max(4, width)))
    lines = [line for made in islice(rows, most) for line in made]
    if left := sum(1 for _ in rows):
        lines.append([(f"… {left} more line{'s' if left != 1 else ''}", DIM)])
    return lines


def _runs(diff: str) -> Iterator[_Run | None]:
    """The runs of a difference; None stands for lines that are left out between two hunks."""
    old: list[tuple[int, str]] = []
    new: list[tuple[int, str]] = []
    left = right = -1
    for line in diff.splitlines():
        sign, text = line[:1], visible(line[1:].expandtabs(4), lines=False)
        if hunk := _HUNK.match(line):
            yield from _changed(old, new)
            if left >= 0:
                yield None
            left, right = int(hunk[1]), int(hunk[2])
        elif left < 0:
            continue
        elif sign == "-":
            old.append((left, text))
            left += 1
        elif sign == "+":
            new.append((right, text))
            right += 1
        elif sign == " ":
            yield from _changed(old, new)
            yield _Run([_Row(left, " ", [(text, "")])], [_Row(right, " ", [(text, "")])], same=True)
            left, right = left + 1, right + 1
    yield from _changed(old, new)


def _changed(old: list[tuple[int, str]], new: list[tuple[int, str]]) -> Iterator[_Run]:
    """Yield the change collected so far, if any; as many new lines as old ones are compared word by word."""
    if not old and not new:
        return
    run = _Run([], [])
    for before, after in zip_longest(old, new):
        if before and after and len(old) == len(new):
            first, second = _compared(before[1], after[1])
        else:
            first, second = [(before[1] if before else "", REMOVED)], [(after[1] if after else "", ADDED)]
        if before:
            run.old.append(_Row(before[0], "-", first))
        if after:
            run.new.append(_Row(after[0], "+", second))
    old.clear()
    new.clear()
    yield run


def _compared(old: str, new: str) -> tuple[Line, Line]:
    """Both lines with what differs between their common beginning and end marked, if they have enough in common."""
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    shared = sum(map(len, "".join((*before[:head], *before[len(before) - tail :])).split()))
    if shared * 3 < max(len("".join(old.split())), len("".join(new.split()))):
        return [(old, REMOVED)], [(new, ADDED)]
    return _marked(before, head, tail, REMOVED, REMOVED_WORD), _marked(after, head, tail, ADDED, ADDED_WORD)


def _common(first: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=False)))


def _marked(tokens: list[str], head: int, tail: int, plain: str, marked: str) -> Line:
    end = len(tokens) - tail
    pieces = ((tokens[:head], plain), (tokens[head:end], marked), (tokens[end:], plain))
    return [("".join(words), code) for words, code in pieces if words]


def _below(run: _Run | None, columns: int, width: int) -> Iterator[list[Line]]:
    """The old lines of a run above the new ones."""
    if run is None:
        yield [[(f"{'⋯':>{width}}", DIM)]]
    else:
        for row in run.new if run.same else (*run.old, *run.new):
            yield _cell(row, columns, width)


def _beside(run: _Run | None, columns: int, width: int) -> Iterator[list[Line]]:
    """The old lines of a run at the left of the new ones."""
    half = (columns - 3) // 2
    if run is None:
        yield [[(f"{'⋯':>{width}}".ljust(half), DIM), (" │ ", DIM), (f"{'⋯':>{width}}", DIM)]]
        return
    for old, new in zip_longest(run.old, run.new, fillvalue=_NOTHING):
        left, right = _cell(old, half, width), _cell(new, half, width)
        empty: Line = [(" " * half, "")]
        yield [[*one, (" │ ", DIM), *two] for one, two in zip_longest(left, right, fillvalue=empty)]


def _cell(row: _Row, columns: int, width: int) -> list[Line]:
    """A line of one side in as many rows as it takes, each filled to the edge."""
    room = max(_NARROWEST, columns - width - 3)
    code = {"+": ADDED, "-": REMOVED}.get(row.sign, "")
    rows: list[Line] = []
    for at, pieces in enumerate(fitted(row.pieces, room)):
        number = f"{row.number or '':>{width}} " if at == 0 else " " * (width + 1)
        sign = f"{row.sign} " if at == 0 else "  "
        filling = " " * (room - sum(cell_len(text) for text, _ in pieces))
        rows.append([(number, DIM), (sign, code), *pieces, (filling, code)])
    return rows

"""A difference in two columns, the old text beside the new one."""

import re
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size

from toolwright.chat.screen import DIM, GREEN, RED
from toolwright.display import visible
from toolwright.tui.page import Line

WIDE = 110
"""Columns from which on two texts fit beside each other."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def side_by_side(diff: str, columns: int, most: int) -> list[Line]:
    """The rows of a unified difference; what is too much is counted."""
    half = (columns - 3) // 2
    rows = list(_rows(diff))
    made = [_row(left, right, half) for left, right in rows[:most]]
    if len(rows) > most:
        made.append([(f"… {len(rows) - most} more lines", DIM)])
    return made


Side = tuple[int, str, str]
"""A number, a text and its colour."""
_NOTHING: Side = (0, "", "")


def _rows(diff: str) -> Iterator[tuple[Side, Side]]:
    old: list[Side] = []
    new: list[Side] = []
    left = right = -1
    for line in diff.splitlines():
        mark, text = line[:1], line[1:]
        if found := _HUNK.match(line):
            yield from _paired(old, new)
            if left >= 0:
                yield (0, "⋯", DIM), (0, "⋯", DIM)
            left, right = int(found[1]), int(found[2])
        elif left < 0:
            continue
        elif mark == "-":
            old.append((left, text, RED))
            left += 1
        elif mark == "+":
            new.append((right, text, GREEN))
            right += 1
        elif mark == " ":
            yield from _paired(old, new)
            yield (left, text, ""), (right, text, "")
            left, right = left + 1, right + 1
    yield from _paired(old, new)


def _paired(old: list[Side], new: list[Side]) -> Iterator[tuple[Side, Side]]:
    for at in range(max(len(old), len(new))):
        yield (old[at] if at < len(old) else _NOTHING), (new[at] if at < len(new) else _NOTHING)
    old.clear()
    new.clear()


def _row(left: Side, right: Side, half: int) -> Line:
    return [*_cell(left, half), (" │ ", DIM), *_cell(right, half)]


def _cell(side: Side, width: int) -> Line:
    number, text, colour = side
    shown = visible(text.expandtabs(4), lines=False)
    room = width - 6
    if cell_len(shown) > room:
        shown = f"{set_cell_size(shown, room - 1)}…"
    return [(f"{number or '':>4}  ", DIM), (set_cell_size(shown, room), colour)]

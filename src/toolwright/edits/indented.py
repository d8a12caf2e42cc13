"""The indentation of new lines, the file's or that of the model's old text, where the two differ."""

from collections.abc import Sequence
from typing import Literal

from toolwright.edits.blanks import indent_of, strip
from toolwright.text.diff import Changed, changed_lines

Pairs = Sequence[tuple[str, str]]
"""Lines as the model wrote them, each with the line of the file it was found to mean."""
Indented = Literal["file", "old", "unclear"]
_TELLING = 4
"""Kept lines that tell how a text stands, where some of them are moved."""


def indented(lines: Sequence[str], pairs: Pairs) -> Indented:
    """Judged by tabs and spaces, then by the lines shared with the old text, then by the first line.

    It is unclear where some lines stand as in the file and others as in the old text.
    """
    if all(old == here for old, here in indents(pairs)) or not any(map(strip, lines)):
        return "file"
    kind = _by_kind(lines, pairs)
    if kind:
        return kind
    kept = _kept(lines, pairs)
    if kept and _is_shifted(pairs) and (side := _by_ends(kept)):
        return side
    as_old = as_file = nearer = 0
    for line, old, here in kept or _alike(lines, pairs):
        as_old += indent_of(line) == old
        as_file += indent_of(line) == here
        nearer += _distance(line, old) - _distance(line, here)
    if as_old and as_file:
        return "unclear"
    if as_old or as_file or nearer:
        closest: Indented = "file" if as_file or (nearer > 0 and not as_old) else "old"
        return _by_margin(lines, pairs) or closest
    return _by_start(lines, pairs)


def _kept(lines: Sequence[str], pairs: Pairs) -> list[tuple[str, str, str]]:
    """New lines that are lines of the old text, in its order, with both of their indentations where these differ."""
    before, after = [strip(old) for old, _ in pairs], [strip(line) for line in lines]
    kept: list[tuple[str, str, str]] = []
    i = j = 0
    for change in [*changed_lines(before, after), Changed(len(before), len(before), len(after), len(after))]:
        for step in range(change.before_start - i):
            old, here = map(indent_of, pairs[i + step])
            if old != here and before[i + step]:
                kept.append((lines[j + step], old, here))
        i, j = change.before_end, change.after_end
    return kept


def _is_shifted(pairs: Pairs) -> bool:
    """Tell if all lines of the old text are moved by the same blanks, so that the new one is in one piece too."""
    moved = [(here, old) if len(old) <= len(here) else (old, here) for old, here in indents(pairs)]
    shifts = {
        (long[: len(long) - len(short)], len(old) < len(here))
        for (long, short), (old, here) in zip(moved, indents(pairs), strict=True)
    }
    return len(shifts) == 1 and all(long.endswith(short) for long, short in moved)


def _by_ends(kept: Sequence[tuple[str, str, str]]) -> Indented | None:
    """Decide where the first, the last and most of the kept lines between stand alike; one between may be moved."""
    stand: list[Indented | None] = [
        "old" if indent_of(line) == old else "file" if indent_of(line) == here else None for line, old, here in kept
    ]
    if stand[0] != stand[-1] or stand[0] is None or len(stand) < _TELLING:
        return None
    return stand[0] if stand.count(stand[0]) * 4 >= len(stand) * 3 else None


def _alike(lines: Sequence[str], pairs: Pairs) -> list[tuple[str, str, str]]:
    """New lines that read as some line of the old text, the first of them."""
    places = {strip(old): (indent_of(old), indent_of(here)) for old, here in reversed(pairs) if strip(old)}
    matches = [(line, *places.get(strip(line), ("", ""))) for line in lines]
    return [(line, old, here) for line, old, here in matches if old != here]


def indents(pairs: Pairs) -> list[tuple[str, str]]:
    """Return the indentation of the old lines and of the file's, blank ones left out."""
    return [(indent_of(old), indent_of(here)) for old, here in pairs if strip(old)]


def _by_kind(lines: Sequence[str], pairs: Pairs) -> Indented | None:
    """Decide where the old text has only tabs and the file only spaces, or the other way round."""
    old, here = (set("".join(part)) for part in zip(*indents(pairs), strict=True))
    new = set("".join(indent_of(line) for line in lines if strip(line)))
    if not old or not here or old & here or not new:
        return None
    return "old" if new & old else "file"


def _by_margin(lines: Sequence[str], pairs: Pairs) -> Indented | None:
    """A line that begins left of all the others' is at the margin of the text it belongs to."""
    old, here = (min(map(len, part)) for part in zip(*indents(pairs), strict=True))
    leftmost = min(len(indent_of(line)) for line in lines if strip(line))
    if old <= leftmost < here:
        return "old"
    return "file" if here <= leftmost < old else None


def _by_start(lines: Sequence[str], pairs: Pairs) -> Indented:
    """Decide where no line is shared, by the first line that is not blank."""
    first = next(indent_of(line) for line in lines if strip(line))
    old, here = next(iter(indents(pairs)), ("", ""))
    if old == here:
        used, known, there = (
            {indent_of(line) for line in lines},
            *(set(part) for part in zip(*indents(pairs), strict=True)),
        )
        return "file" if used <= there and not used <= known else "old"
    if first == old:
        return "old"
    right = first == here or (first.startswith(here) and here.startswith(old)) or not first.startswith(old)
    return "file" if right else "old"


def _distance(line: str, indent: str) -> int:
    return abs(len(indent_of(line)) - len(indent))

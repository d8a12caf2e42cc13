"""Whether new lines are indented as the file is or as the model's old text is, where the two differ."""

from collections.abc import Sequence
from typing import Literal

from toolwright.edits.blanks import indent_of, strip

Pairs = Sequence[tuple[str, str]]
"""Lines as the model wrote them, each with the line of the file it was found to mean."""
Indented = Literal["file", "old", "unclear"]


def indented(lines: Sequence[str], pairs: Pairs) -> Indented:
    """Judged by tabs and spaces, then by the lines shared with the old text, then by the first line.

    It is unclear where some lines stand as in the file and others as in the old text.
    """
    if all(old == here for old, here in indents(pairs)) or not any(map(strip, lines)):
        return "file"
    kind = _by_kind(lines, pairs)
    if kind:
        return kind
    places = {strip(old): (indent_of(old), indent_of(here)) for old, here in reversed(pairs) if strip(old)}
    as_old = as_file = nearer = 0
    for line in lines:
        old, here = places.get(strip(line), ("", ""))
        if old != here:
            as_old += indent_of(line) == old
            as_file += indent_of(line) == here
            nearer += _distance(line, old) - _distance(line, here)
    if as_old and as_file:
        return "unclear"
    if as_old or as_file or nearer:
        closest: Indented = "file" if as_file or (nearer > 0 and not as_old) else "old"
        return _by_margin(lines, pairs) or closest
    return _by_start(lines, pairs)


def indents(pairs: Pairs) -> list[tuple[str, str]]:
    """How the old lines and the file's are indented, blank ones left out."""
    return [(indent_of(old), indent_of(here)) for old, here in pairs if strip(old)]


def _by_kind(lines: Sequence[str], pairs: Pairs) -> Indented | None:
    """Where the old text has only tabs and the file only spaces, or the other way round."""
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
    """Where no line is shared: judged by the first line that is not blank."""
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

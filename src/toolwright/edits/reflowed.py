"""Edits whose old text has all that a place has, but its lines broken elsewhere."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise

from toolwright.edits.blanks import BLANKS, WORD, strip
from toolwright.edits.fitting import lines_of
from toolwright.edits.indented import indented
from toolwright.edits.indents import reindented
from toolwright.edits.merge import Merged
from toolwright.edits.views import TextForms
from toolwright.text.diff import Changed, changed_lines

_SIGNS = 40
"""Signs, blanks not counted, that an old text needs to be known by where its lines are not the file's."""


def reflowed_place(view: TextForms, old: Sequence[str]) -> tuple[int, int] | None:
    """The first and last line of the only lines that have these signs, all of them; None if there are no such."""
    goal = _signs("\n".join(old))
    text = _signs(view.text) if len(goal) >= _SIGNS else ""
    at = text.find(goal)
    if at < 0 or not text or text.find(goal, at + 1) >= 0:
        return None
    breaks = _breaks(lines_of(view.text))
    first, last = bisect_right(breaks, at) - 1, bisect_left(breaks, at + len(goal)) - 1
    return (first, last) if breaks[first] == at and breaks[last + 1] == at + len(goal) else None


def reflowed(old: Sequence[str], new: Sequence[str], here: Sequence[str]) -> Merged | None:
    """The changes that turn `old` into `new`, as changes of the lines that are `here`; None where that would guess.

    What is changed has to begin and end where lines of both do: of a line that is broken elsewhere nobody knows what
    a change of a part of it would leave.
    """
    places = _places(_breaks(old), _breaks(here))
    beside = zip(old, pairwise(places), strict=True)
    pairs = [(line, here[at]) for line, (at, end) in beside if at is not None and end == at + 1]
    if not any(strip(line) for line, _ in pairs) or indented(new, pairs) == "unclear":
        return None
    fitted = reindented(new, pairs)
    lines: list[str] = []
    changes: list[Changed] = []
    for change in changed_lines(_bare(old), _bare(new)):
        start, end = places[change.before_start], places[change.before_end]
        if start is None or end is None:
            return None
        added = fitted[change.after_start : change.after_end]
        changes.append(Changed(start, end, len(lines), len(lines) + len(added)))
        lines += added
    return Merged(changes, lines)


def _places(mine: Sequence[int], its: Sequence[int]) -> list[int | None]:
    """Return where in the file each old line begins; None if no line begins there, or blank lines leave it open."""
    begins: dict[int, list[int]] = {}
    for number, count in enumerate(its):
        begins.setdefault(count, []).append(number)
    places: list[int | None] = []
    for count, group in groupby(mine):
        size, there = len(list(group)), begins.get(count, [])
        places += there if len(there) == size else there * size if len(there) == 1 else [None] * size
    return places


def _breaks(lines: Sequence[str]) -> list[int]:
    """Return how many signs stand before each line, and before the end."""
    return list(accumulate((len(_signs(line)) for line in lines), initial=0))


def _signs(text: str) -> str:
    return "".join(WORD.findall(text))


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.rstrip(BLANKS) for line in lines]

"""A change within a line, carried over to a line that is not quite the one it was written for."""

import re
from collections.abc import Sequence

from toolwright.edits.blanks import strip
from toolwright.text.diff import Changed, changed_lines

_TOKEN = re.compile(r"\w+|[^\S\n]+|[^\w\s]")


def merge_line(old: str, new: str, here: str) -> str | None:
    """The line of the file with the change from old to new in it; None where the two would collide.

    Where the new line has what the file has and the old one has not, it was written by somebody who knows the file,
    and is taken as it is.
    """
    a, n, h = (_TOKEN.findall(line) for line in (old, new, here))
    drift, wanted = changed_lines(a, h), changed_lines(a, n)
    if not drift:
        return new
    blank = [other for other in drift if not strip("".join([*_before(a, other), *_after(h, other)]))]
    if len(blank) < len(drift) and _knows(a, n, h, drift):
        return new
    pieces, at = [], 0
    for change in wanted:
        if any(change[:2] == other[:2] and _after(n, change) == _after(h, other) for other in drift):
            continue
        if any(_meet(change, other, n) for other in blank) or any(
            _touch(change, other, nearly=other not in blank) for other in drift
        ):
            return None
        shift = sum(_growth(other) for other in drift if other.before_end <= change.before_start)
        pieces += [*h[at : change.before_start + shift], *_after(n, change)]
        at = change.before_end + shift
    return "".join([*pieces, *h[at:]])


def _touch(change: Changed, other: Changed, *, nearly: bool) -> bool:
    """Tell whether two changes concern the same tokens, or, nearly, tokens side by side."""
    if nearly or change[:2] == other[:2]:
        return change.before_start <= other.before_end and other.before_start <= change.before_end
    return change.before_start < other.before_end and other.before_start < change.before_end


def _meet(change: Changed, other: Changed, new: Sequence[str]) -> bool:
    """Tell whether a change brings blanks where the file has some that the old line lacks."""
    added = _after(new, change)
    if other.before_start < other.before_end or not added:
        return False
    start, end = change.before_start == other.before_start, change.before_end == other.before_start
    return (start and not strip(added[0])) or (end and not strip(added[-1]))


def _before(tokens: Sequence[str], change: Changed) -> Sequence[str]:
    return tokens[change.before_start : change.before_end]


def _after(tokens: Sequence[str], change: Changed) -> Sequence[str]:
    return tokens[change.after_start : change.after_end]


def carries(old: str, here: str, new: str) -> bool:
    """Tell whether a new line has something of the old one that the file does not have."""
    return bool((set(_TOKEN.findall(old)) - set(_TOKEN.findall(here))) & set(_TOKEN.findall(new)))


def _knows(old: Sequence[str], new: Sequence[str], here: Sequence[str], drift: Sequence[Changed]) -> bool:
    """Tell whether the new line has every token of the file that the old one lacks, and none that the file lacks."""
    added = {number for change in drift for number in range(change.after_start, change.after_end)}
    removed = {number for change in drift for number in range(change.before_start, change.before_end)}
    lost = {number for change in changed_lines(here, new) for number in range(change.before_start, change.before_end)}
    left = {number for change in changed_lines(old, new) for number in range(change.before_start, change.before_end)}
    if added & lost or not removed <= left:
        return False
    # Which of several equal tokens was added or lost is an accident; how many there are is not.
    enough = all(new.count(here[number]) >= here.count(here[number]) for number in added)
    return enough and all(new.count(old[number]) <= here.count(old[number]) for number in removed)


def _growth(change: Changed) -> int:
    return (change.after_end - change.after_start) - (change.before_end - change.before_start)

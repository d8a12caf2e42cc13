"""A change of an old text, carried over to lines that are not quite that text any more."""

from collections.abc import Sequence

from toolwright.diff import Changed, changed_lines
from toolwright.edits.blanks import BLANKS, strip


def merge(old: Sequence[str], new: Sequence[str], here: Sequence[str]) -> list[Changed] | None:
    """The changes that turn `old` into `new`, as changes that turn `here` into lines of `new`; None on collision.

    They collide where a changed line, or its neighbour, is not in the file as the old text has it: then nobody
    knows what the change would mean there. Lines that are not changed stay exactly as the file has them.
    """
    drift = changed_lines([strip(line) for line in old], [strip(line) for line in here])
    wanted = changed_lines([line.rstrip(BLANKS) for line in old], [line.rstrip(BLANKS) for line in new])
    changes = []
    for change in wanted:
        if any(_touch(change, other) for other in drift):
            if not any(_same(change, new, other, here) for other in drift):
                return None
            continue
        shift = sum(_growth(other) for other in drift if other.before_end < change.before_start)
        start, end = change.before_start + shift, change.before_end + shift
        changes.append(Changed(start, end, change.after_start, change.after_end))
    return changes


def pairs_of(old: Sequence[str], here: Sequence[str]) -> list[tuple[str, str]]:
    """The lines both have, side by side."""
    drift = changed_lines([strip(line) for line in old], [strip(line) for line in here])
    pairs: list[tuple[str, str]] = []
    i = j = 0
    for change in [*drift, Changed(len(old), len(old), len(here), len(here))]:
        pairs += zip(old[i : change.before_start], here[j : change.after_start], strict=True)
        i, j = change.before_end, change.after_end
    return pairs


def _touch(change: Changed, other: Changed) -> bool:
    return change.before_start <= other.before_end and other.before_start <= change.before_end


def _same(change: Changed, new: Sequence[str], other: Changed, here: Sequence[str]) -> bool:
    """Whether the file already has what the change would bring."""
    if change[:2] != other[:2]:
        return False
    mine = [strip(line) for line in new[change.after_start : change.after_end]]
    return mine == [strip(line) for line in here[other.after_start : other.after_end]]


def _growth(change: Changed) -> int:
    return (change.after_end - change.after_start) - (change.before_end - change.before_start)

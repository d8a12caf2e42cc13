"""Two changes of the same lines put together, where they do not meet."""

from collections.abc import Sequence

from toolwright.record import record
from toolwright.text.diff import Changed, compare, split_lines


@record(frozen=True, slots=True)
class _Edit:
    """Lines of the base, from `start` up to `end`, and what a side has in their place."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_lines(base: str, ours: str, theirs: str) -> str | None:
    """Return the text with the changes of both sides; None where they overlap, touch, or cannot be told apart."""
    mine, other = _edits(base, ours), _edits(base, theirs)
    if any(_meet(one, another) for one in mine for another in _near(one, other)):
        return None
    lines = split_lines(base)
    result, at = list[str](), 0
    for edit in sorted({*mine, *other}, key=lambda one: (one.start, one.end)):
        result += [*lines[at : edit.start], *edit.lines]
        at = edit.end
    return "".join([*result, *lines[at:]])


def _edits(base: str, side: str) -> list[_Edit]:
    diff = compare(base, side)
    return [_edit(change, diff.first_line - 1, diff.after) for change in diff.changes]


def _edit(change: Changed, offset: int, after: Sequence[str]) -> _Edit:
    lines = tuple(after[change.after_start : change.after_end])
    return _Edit(offset + change.before_start, offset + change.before_end, lines)


def _near(edit: _Edit, others: Sequence[_Edit]) -> Sequence[_Edit]:
    """Return those of the sorted edits that may meet this one."""
    from bisect import bisect_left, bisect_right

    first = bisect_left(others, edit.start, key=lambda one: one.end)
    last = bisect_right(others, edit.end, key=lambda one: one.start)
    return others[first:last]


def _meet(edit: _Edit, other: _Edit) -> bool:
    """Tell whether two edits overlap or touch; the same edit on both sides is one edit."""
    return edit != other and edit.start <= other.end and other.start <= edit.end

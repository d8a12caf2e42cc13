"""Lines of one text matched with lines of another, where some are missing, new or written a little differently."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from toolwright.edits.blanks import indent_of, strip
from toolwright.edits.folding import folded
from toolwright.text.diff import changed_lines

SAME, ALMOST, LIKE = 1.0, 0.95, 0.66
"""Likeness of lines that are equal when stripped, equal but for what is easily mistyped, and just alike enough."""
CELLS = 60_000
"""Pairs of lines up to which all are compared; beyond, only equal lines are found."""
_GAP = 0.03
_ELSEWHERE = 0.005
_TOGETHER, _ONE, _OTHER = 1, 2, 3
"""The steps of an alignment: a line of each text, a line of the one alone, a line of the other alone."""


class Pair(NamedTuple):
    """A line of the one text and its counterpart in the other."""

    line: int
    other: int
    likeness: float


def align(lines: Sequence[str], other: Sequence[str], *, late: bool = False) -> list[Pair]:
    """Pairs of lines in order, the likest together. Of two ways that are as good the earlier is taken, or the later."""
    if len(lines) * len(other) > CELLS:
        return _equal_lines(lines, other)
    if late:
        pairs = _best(lines[::-1], other[::-1])
        last, end = len(lines) - 1, len(other) - 1
        return [Pair(last - pair.line, end - pair.other, pair.likeness) for pair in reversed(pairs)]
    return _best(lines, other)


def weight(line: str) -> float:
    """Return how much a line tells of a place: one of words much, a bracket little, a blank one next to nothing."""
    letters = sum(map(str.isalnum, line))
    return 1.0 if letters > 2 else 0.3 if strip(line) else 0.05


def _equal_lines(lines: Sequence[str], other: Sequence[str]) -> list[Pair]:
    pairs, i, j = [], 0, 0
    changes = changed_lines([strip(line) for line in lines], [strip(line) for line in other])
    for change in changes:
        pairs += [Pair(i + n, j + n, SAME) for n in range(change.before_start - i)]
        i, j = change.before_end, change.after_end
    return pairs + [Pair(i + n, j + n, SAME) for n in range(len(lines) - i)]


def _best(lines: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """The alignment of most weight. A line left out costs a little, but for those at the ends of the other text; two
    unlike lines in each other's place cost nothing."""
    compare = _comparison()
    weights = [weight(line) for line in lines]
    width = len(other) + 1
    row = [0.0] * width
    steps: list[bytearray] = []
    likes: list[list[float]] = []
    for i, line in enumerate(lines):
        known = [compare(line, its) for its in other]
        likes.append(known)
        step, below = bytearray(width), [row[0] - _GAP] + [0.0] * len(other)
        gap = 0.0 if i == len(lines) - 1 else _GAP
        for j, likeness in enumerate(known, 1):
            best, how = row[j - 1] + weights[i] * likeness, _TOGETHER
            if row[j] - _GAP > best:
                best, how = row[j] - _GAP, _ONE
            if below[j - 1] - gap > best:
                best, how = below[j - 1] - gap, _OTHER
            below[j], step[j] = best, how
        steps.append(step)
        row = below
    pairs: list[Pair] = []
    i, j = len(lines), len(other)
    while i and j:
        how = steps[i - 1][j]
        if how == _TOGETHER and likes[i - 1][j - 1]:
            pairs.append(Pair(i - 1, j - 1, likes[i - 1][j - 1]))
        i, j = i - (how != _OTHER), j - (how != _ONE)
    return pairs[::-1]


def _comparison() -> Callable[[str, str], float]:
    """Return a function that tells how alike two lines are, worked out once for each pair; 0 where none is shared."""
    from rapidfuzz.fuzz import ratio

    known: dict[tuple[str, str], float] = {}
    plain: dict[str, str] = {}

    def folded_once(line: str) -> str:
        if line not in plain:
            plain[line] = folded(line)
        return plain[line]

    def compare(line: str, other: str) -> float:
        if line == other:
            return SAME
        key = (line, other)
        if key not in known:
            a, b = strip(line), strip(other)
            if a == b:
                known[key] = SAME - _ELSEWHERE * (indent_of(line) != indent_of(other))
            elif not a or not b:
                known[key] = 0.0
            elif folded_once(line) == folded_once(other):
                known[key] = ALMOST
            else:
                score = ratio(a, b, score_cutoff=LIKE * 100) / 100
                known[key] = score * 0.9 if score >= LIKE and _has_words(a) and _has_words(b) else 0.0
        return known[key]

    return compare


def _has_words(line: str) -> bool:
    return sum(map(str.isalnum, line)) > 2

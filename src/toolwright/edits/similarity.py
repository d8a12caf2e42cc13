"""Likeness of two blocks of lines, by edit distance, with a bound on the work."""

from collections.abc import Sequence

from toolwright.edits.blanks import units

_BUDGET = 100_000_000
_PER_PAIR = 500
_CELLS_PER_STEP = 64


class Effort:
    """Work that may still be spent on comparing, in about nanoseconds, counted rather than timed so that it is the same
    on every machine. When it is used up, what was not compared counts as unlike."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._left = budget
        self._known: dict[tuple[str, str], float] = {}

    def alike(self, here: str, there: str) -> float:
        """1 for equal lines, less by the share of characters to change; 0 when the effort is used up."""
        if here == there:
            return 1.0
        key = (here, there)
        if key not in self._known:
            self._known[key] = self._measure(units(here), units(there))
        return self._known[key]

    def _measure(self, here: str, there: str) -> float:
        self._left -= _PER_PAIR + len(here) * len(there) // _CELLS_PER_STEP
        if self._left < 0:
            return 0.0
        from rapidfuzz.distance import Levenshtein

        return 1 - Levenshtein.distance(here, there) / max(len(here), len(there))


def likeness(here: Sequence[str], there: Sequence[str], *, at_least: float, effort: Effort) -> float:
    """The mean likeness of lines at the same position, blank pairs counting nothing; 1 where there is none to compare.

    What cannot reach `at_least` any more is not compared to the end and comes back lower than that.
    """
    count = min(len(here), len(there))
    if not count:
        return 1.0
    total = 0.0
    for done, (line, other) in enumerate(zip(here, there, strict=False)):
        if total + count - done < at_least * count - 1e-9:
            break
        if line or other:
            total += effort.alike(line, other)
    return total / count

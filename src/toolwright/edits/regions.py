"""Where the lines stand that an old text remembers wrongly: the one region of the file most of its lines are in."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from toolwright.edits.alignment import ALMOST, CELLS, Pair, align, weight
from toolwright.edits.blanks import indent_of, strip
from toolwright.edits.elisions import is_elision
from toolwright.edits.folding import folded
from toolwright.edits.views import View

_ENOUGH = 0.5
"""Share of the old text, by weight, that must be in a region as it is."""
_CHARACTERS = 12
_HITS = 40
_TELLING = 60
_REGIONS = 6
_MARGIN = 0.05


class Region(NamedTuple):
    """Lines that may be the ones meant."""

    first: int
    last: int
    score: float
    """The weight of the lines in it, likest lines by their likeness."""
    exact: frozenset[int]
    """Which lines of the old text it has as they are."""


def find_regions(view: View, old: Sequence[str], new: Sequence[str]) -> list[Region]:
    """Regions that have more than half of the old lines as they are, the best first."""
    regions: list[Region] = []
    for first, last in _windows(view, old):
        region = _region(view, old, new, first, last)
        if region and not any(region.first <= one.last and one.first <= region.last for one in regions):
            regions.append(region)
    return sorted(regions, key=lambda region: -region.score)


def is_sure(regions: Sequence[Region]) -> bool:
    """Whether the first region is the one meant: whatever speaks for another speaks for it too, and more does."""
    best, *others = regions
    return all(other.exact < best.exact and other.score + _MARGIN < best.score for other in others)


def widened(view: View, region: Region, old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """First and last line of a region, with those around it that the new text begins or ends with and the old lacks."""
    heirs = [pair.other for pair in align(old, new)]
    if not heirs:
        return region.first, region.last
    above, below = list(new[: heirs[0]]), list(new[heirs[-1] + 1 :])
    first, last = region.first, region.last
    while above and first > 0 and weight(above[-1]) == 1 and strip(above.pop()) == strip(_lines(view, first - 1, first)[0]):
        first -= 1
    while below and last + 1 < view.line_count and weight(below[0]) == 1:
        if strip(below.pop(0)) != strip(_lines(view, last + 1, last + 2)[0]):
            break
        last += 1
    return first, last


def _windows(view: View, old: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Stretches of the file that have many of the old lines near each other, those with the most first."""
    hits = sorted(_hits(view, old))
    reach = 2 * len(old) + 8
    scored = []
    start = 0
    for end, (line, _) in enumerate(hits):
        while hits[start][0] < line - reach:
            start += 1
        found = {number for _, number in hits[start : end + 1]}
        scored.append((sum(weight(old[number]) for number in found), hits[start][0], line))
    scored.sort(key=lambda item: (-item[0], item[2] - item[1], item[1]))
    taken: list[tuple[int, int]] = []
    for _, first, last in scored:
        if all(last < one or other < first for one, other in taken):
            taken.append((first, last))
            yield max(0, first - len(old) - 2), min(view.line_count, last + len(old) + 3)
        if len(taken) == _REGIONS:
            return


def _hits(view: View, old: Sequence[str]) -> set[tuple[int, int]]:
    """Lines of the file that are lines of the old text, with the number of that line, the most telling ones."""
    telling = sorted(range(len(old)), key=lambda number: (-weight(old[number]), -len(old[number])))
    hits: set[tuple[int, int]] = set()
    for number in telling[:_TELLING]:
        if weight(old[number]) < 1 or is_elision(old[number]):
            continue
        found = []
        for line, _ in view.lines_like(strip(old[number])):
            found.append((line, number))
            if len(found) > _HITS:
                found.clear()
                break
        hits.update(found or ((line, number) for line in islice(view.lines_folded(folded(old[number])), _HITS)))
    return hits


def _region(view: View, old: Sequence[str], new: Sequence[str], first: int, last: int) -> Region | None:
    """What of this stretch is the old text, if enough of it is."""
    here = _lines(view, first, last)
    if len(old) * len(here) > CELLS:
        return None
    pairs = [pair for pair in align(old, here) if pair.likeness >= 0.99 or not is_elision(old[pair.one])]
    agreed = {strip(line) for line in new}
    exact = frozenset(pair.one for pair in pairs if _is_evident(pair, here, agreed))
    told = [number for number, line in enumerate(old) if not is_elision(line)]
    if sum(weight(old[n]) for n in exact) <= _ENOUGH * sum(weight(old[n]) for n in told):
        return None
    if sum(len(strip(old[n])) for n in exact) < _CHARACTERS:
        return None
    head = sum(number < pairs[0].one for number in told)
    tail = sum(number > pairs[-1].one for number in told)
    top, bottom = pairs[0].other - head, pairs[-1].other + tail
    if top < 0 or bottom >= len(here) or not _is_level(old, here, pairs):
        return None
    score = sum(weight(old[pair.one]) * pair.likeness for pair in pairs)
    return Region(first + top, first + bottom, score, exact)


def _is_evident(pair: Pair, here: Sequence[str], agreed: set[str]) -> bool:
    """Whether a line is in the file as the old text has it, or but for letters' case and blanks and as the new has it."""
    return pair.likeness > ALMOST or (pair.likeness == ALMOST and strip(here[pair.other]) in agreed)


def _is_level(old: Sequence[str], here: Sequence[str], pairs: Sequence[Pair]) -> bool:
    """Whether no line was forgotten, or those remembered stand to each other as in the file: else they may be others."""
    span = pairs[-1].other - pairs[0].other
    if span == pairs[-1].one - pairs[0].one:
        return True
    indents = [
        (indent_of(old[pair.one]), indent_of(here[pair.other]))
        for pair in pairs
        if pair.likeness >= ALMOST and strip(old[pair.one])
    ]
    if all(not mine for mine, _ in indents):
        return True
    return len({len(its) - len(mine) for mine, its in indents}) == 1


def _lines(view: View, first: int, last: int) -> list[str]:
    span = view.span(first, min(last, view.line_count) - 1)
    return [line.removesuffix("\r") for line in view.text[span.start : span.end].split("\n")]

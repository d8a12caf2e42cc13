"""The region of a wrongly remembered text: the one part of the file that most of its lines are in."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from toolwright.edits.alignment import ALMOST, CELLS, Pair, align, weight
from toolwright.edits.blanks import indent_of, strip, words
from toolwright.edits.elisions import is_elision
from toolwright.edits.folding import folded
from toolwright.edits.views import TextForms

_ENOUGH = 0.5
"""Share of the old text, by weight, that must be in a region as it is."""
_LIKELY = 0.75
"""Share, likeness counted, from which on a region that is not fit for the change may still be the one meant."""
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
    """The lines of the old text that it has as they are."""
    pairs: frozenset[tuple[int, int]]
    """The same, each with its line of the file."""
    fit: bool
    """True if it tells enough and stands together, so that a change can be carried over."""


def find_regions(view: TextForms, old: Sequence[str], new: Sequence[str]) -> list[Region]:
    """Regions that have more than half of the old lines as they are, the best first."""
    hits = sorted(_hits(view, old))
    stretches = [(0, _count(view))]
    regions: list[Region] = []
    for _ in range(_REGIONS):
        if not stretches:
            break
        low, high = stretches.pop()
        window = _window([hit for hit in hits if low <= hit[0] < high], old)
        if window is None:
            continue
        region = _near(view, old, new, window, low, high)
        if region:
            regions.append(region)
            window = region.first, region.last
        stretches += [(low, window[0]), (window[1] + 1, high)]
    for region in regions[:]:
        # What is found may be made of two: then another region begins or ends within it.
        for low, high in ((region.first + 1, _count(view)), (0, region.last)):
            other = _near(view, old, new, (region.first, region.last), low, high)
            if other and not other.pairs <= region.pairs:
                regions.append(other)
    return sorted(regions, key=lambda region: -region.score)


def is_sure(regions: Sequence[Region]) -> bool:
    """Tell whether the first region is the one meant: whatever speaks for another speaks for it too, and more does."""
    best, *others = regions
    return best.fit and all(other.exact < best.exact and other.score + _MARGIN < best.score for other in others)


def apart(regions: Sequence[Region]) -> list[Region]:
    """Those that do not overlap a better one."""
    kept: list[Region] = []
    for region in regions:
        if all(region.last < other.first or other.last < region.first for other in kept):
            kept.append(region)
    return kept


def widened(view: TextForms, region: Region, old: Sequence[str], new: Sequence[str]) -> tuple[int, int] | None:
    """First and last line of a region, with those around it that the new text has and the old one lacks.

    None where the new text goes on with lines much like those around: nobody knows whether they are new, or the same
    lines changed, which the old text forgot.
    """
    heirs = [pair.other for pair in align(old, new)] or [0]
    first, last = region.first, region.last
    before = _lines(view, max(0, first - len(new)), first)[::-1]
    after = _lines(view, last + 1, min(_count(view), last + 1 + len(new)))
    # Only between ends that are sure: else a line of the file may be what the new text goes on with.
    sure = {0, len(old) - 1} <= region.exact
    own = {strip(line) for line in (*old, *_lines(view, first, last + 1))} if sure else set[str]()
    head = _shared(new[::-1], new[: heirs[0]][::-1], before, old[::-1], own)
    tail = _shared(new, new[heirs[-1] + 1 :], after, old, own)
    if head is None or tail is None:
        return None
    known = {strip(line) for line in (*old, *_lines(view, first - head, last + tail + 1))}
    beside = {strip(line) for line in (*before[head:], *after[tail:]) if weight(line) == 1}
    return None if beside & ({strip(line) for line in new} - known) else (first - head, last + tail)


def _shared(
    new: Sequence[str], beyond: Sequence[str], around: Sequence[str], old: Sequence[str], own: AbstractSet[str]
) -> int | None:
    """Count the lines that follow in the file and end the new text too. Lines of its own are there twice."""
    for count in range(len(around), 0, -1):
        tail = [strip(line) for line in new[-count:]]
        if any(tail) and tail == [strip(line) for line in around[:count]] != [strip(line) for line in old[-count:]]:
            return count if any(weight(line) == 1 for line in tail) else None
    nearby = around[: len(beyond)]
    alike = [pair for pair in align(beyond, nearby) if strip(beyond[pair.line]) not in own]
    return None if any(weight(nearby[pair.other]) == 1 for pair in alike) else 0


def is_distinct(view: TextForms, old: Sequence[str], new: Sequence[str]) -> bool:
    """Tell whether every part between marks for lines left out that is to be changed stands in the file just once.

    A blank line at its ends may be any of those left out.
    """
    parts, changed = _parts(old), _parts(new)
    if len(parts) == 1:
        return True
    return len(parts) == len(changed) and all(
        mine == its or (all(mine[:1] + mine[-1:]) and len(list(islice(view.find_lines("\n".join(mine)), 2))) == 1)
        for mine, its in zip(parts, changed, strict=True)
    )


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """The lines, stripped, between marks for lines left out."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if is_elision(line):
            parts.append([])
        else:
            parts[-1].append(strip(line))
    return parts


def _near(
    view: TextForms, old: Sequence[str], new: Sequence[str], window: tuple[int, int], low: int, high: int
) -> Region | None:
    """The region at a window, of lines from low up to high."""
    first, last = max(low, window[0] - len(old) - 2), min(high, window[1] + len(old) + 3)
    return _region(view, old, new, first, last) if first < last else None


def _window(hits: Sequence[tuple[int, int]], old: Sequence[str]) -> tuple[int, int] | None:
    """First and last line of the shortest stretch that has as many of the old lines near each other as any."""
    reach = 2 * len(old) + 8
    best: tuple[float, int, int] | None = None
    start, near = 0, Counter[int]()
    for line, number in hits:
        near[number] += 1
        while hits[start][0] < line - reach or near[hits[start][1]] > 1:
            near[hits[start][1]] -= 1
            start += 1
        score = sum(weight(old[number]) for number, count in near.items() if count)
        if best is None or (score, hits[start][0] - line) > (best[0], best[1] - best[2]):
            best = score, hits[start][0], line
    return best and (best[1], best[2])


def _hits(view: TextForms, old: Sequence[str]) -> set[tuple[int, int]]:
    """Lines of the file that are lines of the old text, with the number of that line, the most telling ones."""
    telling = sorted(range(len(old)), key=lambda number: (-weight(old[number]), -len(old[number])))
    hits: set[tuple[int, int]] = set()
    for number in telling[:_TELLING]:
        if weight(old[number]) < 1 or is_elision(old[number]):
            continue
        hits_of_line = []
        for line, _ in view.lines_like(strip(old[number])):
            hits_of_line.append((line, number))
            if len(hits_of_line) > _HITS:
                hits_of_line.clear()
                break
        hits.update(hits_of_line or ((line, number) for line in islice(view.lines_folded(folded(old[number])), _HITS)))
    return hits


def _region(view: TextForms, old: Sequence[str], new: Sequence[str], first: int, last: int) -> Region | None:
    """Return the part of this stretch that is the old text, if enough of it is."""
    here = _lines(view, first, last)
    if len(old) * len(here) > CELLS:
        return None
    pairs = [pair for pair in align(old, here) if pair.likeness >= 0.99 or not is_elision(old[pair.line])]
    agreed = {strip(line) for line in new}
    exact = frozenset(pair.line for pair in pairs if _is_evident(pair, here, agreed))
    numbers = [number for number, line in enumerate(old) if not is_elision(line)]
    total = sum(weight(old[n]) for n in numbers)
    if sum(weight(old[n]) for n in exact) <= _ENOUGH * total + 1e-9:
        return None
    head = sum(number < pairs[0].line for number in numbers)
    tail = sum(number > pairs[-1].line for number in numbers)
    top, bottom = pairs[0].other - head, pairs[-1].other + tail
    evident = sum(len(strip(old[n])) for n in exact) >= _CHARACTERS and top >= 0 and bottom < len(here)
    fit = evident and _is_level(old, here, pairs) and not _are_joined(old, here, top, bottom)
    score = sum(weight(old[pair.line]) * pair.likeness for pair in pairs)
    if not fit and score < _LIKELY * total:
        return None
    known = frozenset((pair.line, first + pair.other) for pair in pairs if pair.line in exact)
    return Region(first + max(0, top), first + min(bottom, len(here) - 1), score, exact, known, fit)


def _is_evident(pair: Pair, here: Sequence[str], agreed: set[str]) -> bool:
    """Tell if a line is in the file as the old text has it, or as the new one has it and the old one almost."""
    return pair.likeness > ALMOST or (pair.likeness == ALMOST and strip(here[pair.other]) in agreed)


def _is_level(old: Sequence[str], here: Sequence[str], pairs: Sequence[Pair]) -> bool:
    """Tell if remembered lines stand to each other as in the file; where some are forgotten they may be others."""
    span = pairs[-1].other - pairs[0].other
    if span == pairs[-1].line - pairs[0].line:
        return True
    indents = [
        (indent_of(old[pair.line]), indent_of(here[pair.other]))
        for pair in pairs
        if pair.likeness >= ALMOST and strip(old[pair.line])
    ]
    if all(not mine for mine, _ in indents):
        return True
    return len({len(its) - len(mine) for mine, its in indents}) == 1


def _are_joined(old: Sequence[str], here: Sequence[str], top: int, bottom: int) -> bool:
    """Tell whether the old text begins or ends with lines of the file that it has made one."""
    above, below = (words(line) for line in (here[top - 1] if top else "", (*here, "")[bottom + 1]))
    if above and old[0] != here[top] and words(old[0]).startswith(f"{above} "):
        return True
    return bool(below) and old[-1] != here[bottom] and words(old[-1]).endswith(f" {below}")


def _count(view: TextForms) -> int:
    """The lines of the file, without the empty one behind the last line break."""
    return view.line_count - view.text.endswith("\n")


def _lines(view: TextForms, first: int, last: int) -> list[str]:
    if first >= last:
        return []
    span = view.span(first, last - 1)
    return [line.removesuffix("\r") for line in view.text[span.start : span.end].split("\n")]

"""Where an old text stands, judged by place: the strictest way of looking that finds anything, and all it finds."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from toolwright.diff import changed_lines
from toolwright.edits.blanks import BLANKS, strip
from toolwright.edits.similarity import Effort
from toolwright.edits.strategies import (
    escape,
    exact,
    fills_lines,
    indentation,
    inside_lines,
    line_trimmed,
    respaced_lines,
    trimmed_boundary,
    wanted_lines,
)
from toolwright.edits.views import Span, View

EVIDENT = 12
"""Characters that are not blank which a text needs to be trusted where it begins or ends inside a word."""
LIKE_ENOUGH = 0.6
_CANDIDATES = 400
_LINES = 100_000
_LISTED = 100


def find_places(view: View, wanted: str, *, everywhere: bool) -> tuple[str, list[Span]]:
    """The strategy that found the text and the places, in order; no places if none did.

    Only blanks, line ends and escapes may differ. All places are told apart even if their text is the same, so more
    than one means that the wanted text is ambiguous. Unless they are all to be replaced, a hundred are enough.
    """
    most = None if everywhere else _LISTED
    places = list(islice(exact(view, wanted), most))
    if places:
        return "exact", _apart(places) if everywhere else places
    if not strip(wanted):
        return "exact", []
    for name, strategy in _TOLERANT.items():
        found = (_settled(view.text, span) for span in strategy(view, wanted))
        places = _distinct(islice((span for span in found if _is_evident(view.text, span)), most))
        if places:
            return name, _apart(places) if everywhere else places
    return "none", []


class Block(NamedTuple):
    """Lines that begin and end like the wanted ones, and how like the lines between are."""

    first: int
    last: int
    score: float


def drifted_blocks(view: View, wanted: str) -> list[Block]:
    """Blocks of about the wanted size between the wanted first and last line, the likest first."""
    goal = [strip(line) for line in wanted_lines(wanted)]
    if len(goal) < 3:
        return []
    effort = Effort()
    blocks = []
    for first, last, place in _sized_blocks(view, goal):
        score = _score(view.flat_lines(place, last - first + 1)[1:-1], goal[1:-1], effort)
        if score >= LIKE_ENOUGH:
            blocks.append(Block(first, last, score))
    return sorted(blocks, key=lambda block: -block.score)


def _whitespace(view: View, wanted: str) -> Iterator[Span]:
    for _, span in inside_lines(view, wanted):
        yield span
    if "\n" in wanted:
        yield from respaced_lines(view, wanted)


_TOLERANT = {
    "line_trimmed": line_trimmed,
    "whitespace": _whitespace,
    "indentation": indentation,
    "escape": escape,
    "trimmed_boundary": trimmed_boundary,
}


def _settled(text: str, span: Span) -> Span:
    """The span, widened to whole lines where only blanks stand beside it, always without a final carriage return."""
    if not fills_lines(text, span):
        return span
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    return Span(start, end - 1 if end > start and text[end - 1] == "\r" else end)


def _is_evident(text: str, span: Span) -> bool:
    """Whether a tolerant match may be trusted: it is long, or it does not cut a word in two."""
    if not _joins(text, span.start) and not _joins(text, span.end):
        return True
    return sum(character not in BLANKS for character in text[span.start : span.end]) >= EVIDENT


def _joins(text: str, place: int) -> bool:
    """Whether the characters before and after this place belong to one word."""
    return 0 < place < len(text) and _in_word(text[place - 1]) and _in_word(text[place])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _distinct(spans: Iterable[Span]) -> list[Span]:
    """One span for each place: of two that lie in each other the first found stays."""
    places: list[Span] = []
    for span in sorted(set(spans)):
        if places and (span.start == places[-1].start or span.end <= places[-1].end):
            continue
        places.append(span)
    return places


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Those that do not overlap one before them."""
    places: list[Span] = []
    for span in spans:
        if not places or span.start >= places[-1].end:
            places.append(span)
    return places


def _sized_blocks(view: View, goal: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """First line, last line and place of blocks whose size is near the goal's, as many as may be looked at."""
    if f"\n{goal[0]}\n" not in view.flat:
        return
    spare = max(1, len(goal) // 4)
    ends = [line for line, _ in view.lines_like(goal[-1])]
    candidates = lines = low = 0
    for first, place in view.lines_like(goal[0]):
        while low < len(ends) and ends[low] < first + max(2, len(goal) - 1 - spare):
            low += 1
        for at in range(low, len(ends)):
            if ends[at] > first + len(goal) - 1 + spare:
                break
            candidates, lines = candidates + 1, lines + ends[at] - first
            if candidates > _CANDIDATES or lines > _LINES:
                return
            yield first, ends[at], place


def _score(here: Sequence[str], goal: Sequence[str], effort: Effort) -> float:
    """The share of lines kept, lines changed counting by how like they are, blank ones not at all."""
    most = max(sum(map(bool, here)), sum(map(bool, goal)))
    if not most:
        return 1.0
    total, at = 0.0, 0
    for change in changed_lines(goal, here):
        total += sum(map(bool, goal[at : change.before_start]))
        old, new = goal[change.before_start : change.before_end], here[change.after_start : change.after_end]
        if len(old) == len(new):
            total += sum(effort.alike(line, other) for line, other in zip(old, new, strict=True) if line and other)
        at = change.before_end
    return (total + sum(map(bool, goal[at:]))) / most

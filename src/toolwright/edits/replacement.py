"""One text for another: finds the old text, fits the new one in, and says what was done or why not."""

import dataclasses
from collections.abc import Sequence
from itertools import islice
from typing import Literal

from toolwright.edits.anchors import is_anchored
from toolwright.edits.blanks import strip
from toolwright.edits.divided import splices_of_parts
from toolwright.edits.elisions import is_elision
from toolwright.edits.escapes import resolved
from toolwright.edits.fitting import (
    Splice,
    are_lines,
    fitted,
    follow_line_ends,
    lines_of,
    lines_of_both,
    merged,
    merged_as,
    spliced,
    without_double_indent,
)
from toolwright.edits.leveled import leveled, leveled_place
from toolwright.edits.nearest import describe_collision, describe_miss, listed_lines
from toolwright.edits.numbers import without_numbers
from toolwright.edits.places import find_places
from toolwright.edits.reflowed import reflowed, reflowed_place
from toolwright.edits.regions import Region, apart, find_regions, is_distinct, is_sure, widened
from toolwright.edits.strategies import STRATEGIES, fills_lines
from toolwright.edits.views import TextForms, TextSpan
from toolwright.errors import ToolError
from toolwright.record import record

Drift = Literal["merge", "replace", "refuse"]
_LINES = 200_000
"""Lines of candidates that are looked at in the reference's way, which has no bound of its own."""


@record(frozen=True, slots=True, kw_only=True)
class TextReplacement:
    """A text after a replacement."""

    text: str
    strategy: str
    """The way the old text was found: one of the nine strategies, line_numbers, elision or alignment."""
    count: int
    head: int
    """Characters before the first change."""
    tail: int
    """Characters after the last change."""


def replace(text: str, old: str, new: str, *, everywhere: bool = False, drift: Drift = "merge") -> TextReplacement:
    """The text with `new` in place of `old`; a ToolError (same, not_found, ambiguous) if that cannot be done safely.

    `drift` decides about lines that differ from `old` in more than blanks: `merge` carries the change over where file
    and new text leave no doubt what it means there, `refuse` refuses, `replace` overwrites them as the reference does,
    and does without our care for indentation, line ends and places too.
    """
    if old == new:
        raise ToolError("oldString and newString are the same, so there is nothing to change.", "same")
    if not old:
        raise ToolError("oldString is empty, which names no place in a text. Give the lines to replace.", "ambiguous")
    view = TextForms(text)
    if drift == "replace":
        return _as_reference(view, old, new, everywhere=everywhere)
    numbered = None if old in text else without_numbers(old, new)
    if numbered is None:
        return _replaced(view, old, new, everywhere=everywhere, drift=drift)
    done = _replaced(view, numbered.old, numbered.new, everywhere=everywhere, drift=drift, line=numbered.line)
    return dataclasses.replace(done, strategy="line_numbers") if done.strategy == "exact" else done


def _replaced(
    view: TextForms, old: str, new: str, *, everywhere: bool, drift: Drift, line: int | None = None
) -> TextReplacement:
    """The replacement in our own manner; `line`, where the old text is said to begin, decides between places."""
    text = view.text
    strategy, places = find_places(view, old, everywhere=everywhere)
    if is_elision(old):
        places = [place for place in places if fills_lines(text, place)]  # part of a line is not what it stands for
    if strategy == "trimmed_boundary" and are_lines(old, new):
        places = [place for place in places if fills_lines(text, place)]
    if not places:
        return _carried_over(view, old, new, everywhere=everywhere, drift=drift, line=line)
    if len(places) > 1 and not everywhere:
        named = [place for place in places if view.line_of(place.start) == line]
        if len(named) != 1:
            raise _ambiguous([view.line_of(place.start) for place in places])
        places = named
    if strategy == "exact":
        pieces = [follow_line_ends(text, place, old, without_double_indent(text, place, old, new)) for place in places]
        splices = [Splice(*place, piece) for place, piece in zip(places, pieces, strict=True)]
        return _done(text, splices, strategy, len(places))
    splices = []
    for place in places:
        pair = resolved(old, new, text[place.start : place.end]) if strategy == "escape" else (old, new)
        if pair is None:
            raise _unclear_escapes(view.line_of(place.start))
        fit = fitted(text, place, *pair)
        if fit is None:
            raise ToolError(
                describe_collision(view, old, view.line_of(place.start), view.line_of(place.end)), "not_found"
            )
        splices += fit
    return _done(text, splices, strategy, len(places))


def _carried_over(
    view: TextForms, old: str, new: str, *, everywhere: bool, drift: Drift, line: int | None
) -> TextReplacement:
    """The change made in the one region that is remembered wrongly, where it does not touch what is."""
    if not strip(old):
        return _blank_replaced(view, new, everywhere=everywhere)
    if drift != "refuse" and not everywhere and (parts := splices_of_parts(view, old, new)):
        return _done(view.text, parts, "elision", 1)
    old_lines, new_lines = lines_of_both(old, new)
    if drift != "refuse" and (level := leveled_place(view, old_lines)):
        place = view.span(*level)
        splices = merged_as(
            view.text, place, leveled(old_lines, new_lines, lines_of(view.text[place.start : place.end]))
        )
        if splices:
            return _done(view.text, splices, "alignment", 1)
    if drift != "refuse" and (lines := reflowed_place(view, old_lines)):
        place = view.span(*lines)
        splices = merged_as(
            view.text, place, reflowed(old_lines, new_lines, lines_of(view.text[place.start : place.end]))
        )
        if splices:
            return _done(view.text, splices, "alignment", 1)
    regions = find_regions(view, old_lines, new_lines)
    named = [region for region in regions if region.first == line]
    regions = named if len(named) == 1 else regions
    if len(regions) > 1 and not is_sure(regions) and drift != "refuse":
        places = sorted(region.first for region in apart(regions))
        # One place that fits in several ways is nothing that more lines around it would settle.
        raise _ambiguous(places) if len(places) > 1 else ToolError(describe_miss(view, old), "not_found")
    if not regions or not regions[0].fit or drift == "refuse":
        raise ToolError(describe_miss(view, old), "not_found")
    lines = widened(view, regions[0], old_lines, new_lines) if is_distinct(view, old_lines, new_lines) else None
    splices = _merged(view, lines, old_lines, new_lines) if lines else None
    splices = splices or _added(view, (regions[0].first, regions[0].last), old_lines, new_lines)
    if splices is None:
        raise ToolError(describe_collision(view, old, regions[0].first, regions[0].last), "not_found")
    return _done(view.text, splices, _name(old_lines, regions[0]), 1)


def _merged(
    view: TextForms, lines: tuple[int, int], old_lines: Sequence[str], new_lines: Sequence[str]
) -> list[Splice] | None:
    place = view.span(*lines)
    here = lines_of(view.text[place.start : place.end])
    return merged(view.text, place, old_lines, new_lines) if is_anchored(view, old_lines, new_lines, here) else None


def _added(
    view: TextForms, lines: tuple[int, int], old_lines: Sequence[str], new_lines: Sequence[str]
) -> list[Splice] | None:
    """Add new lines to a place whose lines the new text has all, in their order: nothing unseen is removed.

    None where it has a line beside them too, for then the place may be larger.
    """
    place = view.span(*lines)
    here, rest = lines_of(view.text[place.start : place.end]), iter(new_lines)
    if len(here) != len(old_lines) or not all(line in rest for line in here):
        return None
    above, below = lines_of(view.text[: place.start])[-2:-1], lines_of(view.text[place.end :])[1:2]
    if any(line.strip() and line in new_lines for line in (*above, *below)):
        return None
    return merged(view.text, place, here, new_lines)


def _name(old_lines: Sequence[str], region: Region) -> str:
    """Name the way in which a region was found."""
    if any(map(is_elision, old_lines)):
        return "elision"
    if {0, len(old_lines) - 1} <= region.exact:
        return "context" if region.last - region.first + 1 == len(old_lines) else "block_anchor"
    return "alignment"


def _blank_replaced(view: TextForms, new: str, *, everywhere: bool) -> TextReplacement:
    """Blanks that are not there as given mean no place at all, but in an empty file."""
    if not view.text:
        return _done("", [Splice(0, 0, new)], "line_trimmed", 1)
    raise ToolError(
        "oldString is only blanks and does not stand in the file like that, so it names no place. Give the lines "
        "around it too.",
        "not_found" if everywhere else "ambiguous",
    )


def _as_reference(view: TextForms, old: str, new: str, *, everywhere: bool) -> TextReplacement:
    """The first candidate whose text occurs once, or, everywhere, the first of all. An empty one is never taken."""
    text, seen = view.text, set[str]()
    most = max(50, _LINES // (old.count("\n") + 1))
    for name, strategy in STRATEGIES.items():
        for span in islice(strategy(view, old), most):
            candidate = text[span.start : span.end]
            if candidate in seen:
                continue
            seen.add(candidate)
            if not candidate and text:
                continue
            if everywhere:
                places = _each(text, candidate) if candidate else [span]
                return _done(text, [Splice(*place, new) for place in places], name, len(places))
            if text.find(candidate) == span.start and (not text or text.find(candidate, span.start + 1) < 0):
                return _done(text, [Splice(*span, new)], name, 1)
    if seen and not everywhere:
        raise _ambiguous([view.line_of(span.start) for span in find_places(view, old, everywhere=False)[1]])
    raise ToolError(describe_miss(view, old), "not_found")


def _each(text: str, candidate: str) -> list[TextSpan]:
    """Every occurrence, from the left, none overlapping another."""
    spans, at = [], text.find(candidate)
    while at >= 0:
        spans.append(TextSpan(at, at + len(candidate)))
        at = text.find(candidate, at + len(candidate))
    return spans


def _done(text: str, splices: Sequence[Splice], strategy: str, count: int) -> TextReplacement:
    after = spliced(text, splices)
    if after == text:
        raise ToolError("The file already reads as newString has it, so there is nothing to change.", "same")
    tail = len(text) - splices[-1].end
    return TextReplacement(text=after, strategy=strategy, count=count, head=splices[0].start, tail=tail)


def _unclear_escapes(line: int) -> ToolError:
    return ToolError(
        f"oldString is at line {line + 1} but for its backslashes, and it cannot be told which of those in newString "
        "are meant to stay. Write both texts as they are to stand in the file, with line ends as line ends and quotes "
        "as quotes.",
        "not_found",
    )


def _ambiguous(lines: Sequence[int]) -> ToolError:
    where = f"{len(lines)} places (lines {listed_lines(lines)})" if lines else "several places"
    return ToolError(
        f"oldString matches {where}, and only one may be meant. Add lines around it until it matches one place, or set "
        "replaceAll to change every one.",
        "ambiguous",
    )

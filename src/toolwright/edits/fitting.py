"""A new text fitted into the place of the old one: its padding, its indentation, its line ends."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from toolwright.edits.blanks import BLANKS, indent_of, strip, words
from toolwright.edits.indented import indented
from toolwright.edits.indents import reindented
from toolwright.edits.merge import Merged, merge
from toolwright.edits.strategies import wanted_lines
from toolwright.edits.views import TextSpan
from toolwright.text.diff import Changed, changed_lines, split_lines

_BREAK = re.compile(r"\r?\n")


class Splice(NamedTuple):
    """A part of a text and what takes its place."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """The text with every part replaced. The parts come in order and do not overlap."""
    pieces, at = [], 0
    for splice in splices:
        pieces += [text[at : splice.start], splice.text]
        at = splice.end
    return "".join([*pieces, text[at:]])


def fitted(text: str, place: TextSpan, old: str, new: str) -> list[Splice] | None:
    """The new text for a place that has the old one but for blanks; None where blank lines make it a guess."""
    if _is_whole_lines(text, place):
        return _fitted_lines(text, place, old, new)
    new = _without_padding(old, new, text[place.start : place.end])
    return [Splice(place.start, place.end, follow_line_ends(text, place, old, new))]


def merged(text: str, place: TextSpan, old_lines: Sequence[str], new_lines: Sequence[str]) -> list[Splice] | None:
    """The change carried over to lines that differ from those asked for; None where that would guess."""
    return merged_as(text, place, merge(old_lines, new_lines, lines_of(text[place.start : place.end])))


def merged_as(text: str, place: TextSpan, result: Merged | None) -> list[Splice] | None:
    """Changes of the lines of a place, as splices."""
    return None if result is None else _line_splices(text, place, result.changes, result.lines, ended=False)


def lines_of_both(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines of both texts; a final line break that both have does not make an empty line after it.

    Where only the old text has one, it may mean a blank line that is to go, and stays.
    """
    old_lines, new_lines = lines_of(old), lines_of(new)
    if len(old_lines) > 1 and not old_lines[-1] and not new_lines[-1]:
        return old_lines[:-1], new_lines[:-1]
    return old_lines, new_lines


def are_lines(old: str, new: str) -> bool:
    """Tell whether both texts begin with the same indentation, so that whole lines are meant."""
    heads = [text[: len(text) - len(text.lstrip(BLANKS))].rpartition("\n")[2] for text in (old, new)]
    return bool(heads[0]) and heads[0] == heads[1]


def without_double_indent(text: str, place: TextSpan, old: str, new: str) -> str:
    """The new text without the indentation of its first line, where the old text begins behind that.

    So it is if the other lines are not moved: only the start of the first one was not copied.
    """
    indent = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    (head, *old_rest), (first, *new_rest) = old.split("\n"), new.split("\n")
    if not indent or strip(indent) or indent_of(head) or indent_of(first) != indent or not strip(first):
        return new
    if set(filter(strip, old_rest)) & set(new_rest):
        return new[len(indent) :]
    margins = [min((len(indent_of(line)) for line in part if strip(line)), default=-1) for part in (old_rest, new_rest)]
    return new[len(indent) :] if 0 <= margins[1] <= margins[0] else new


def follow_line_ends(text: str, span: TextSpan, old: str, new: str) -> str:
    """The new text with the line ends of the lines it replaces, or else of the line it stands in.

    Where old and new differ in nothing but line ends, these are what the edit is about and stay as given.
    """
    if "\n" not in new or "\n" not in text or ("\r" not in new and "\r" not in text):
        return new
    if _BREAK.sub("\n", old) == _BREAK.sub("\n", new):
        return new
    ends = _BREAK.findall(text, span.start, span.end) or [line_end_near(text, span.end)]
    lines = _BREAK.split(new)
    last = len(ends) - 1
    return "".join(line + ends[min(number, last)] for number, line in enumerate(lines[:-1])) + lines[-1]


def line_end_near(text: str, place: int) -> str:
    """Return the end of the line at this place; for a last line without an end, that of the one before it."""
    end = text.find("\n", place)
    if end < 0:
        end = text.rfind("\n", 0, place)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def lines_of(text: str) -> list[str]:
    """The lines without their ends, of whatever kind these are."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _fitted_lines(text: str, place: TextSpan, old: str, new: str) -> list[Splice] | None:
    """Whole lines replaced: lines that old and new share stay the file's, the others get its indentation."""
    here = lines_of(text[place.start : place.end])
    old_lines, new_lines = lines_of("\n".join(wanted_lines(old))), lines_of(new)
    tail = 0
    if _blank_head(here[::-1]) == _blank_head(old_lines[::-1]):
        new_lines = new_lines[:-1] if old.endswith("\n") and not new_lines[-1] else new_lines
    else:
        tail = _blank_head(here[::-1])
        old_lines, new_lines = (part[::-1] for part in _without_head(lines_of(old)[::-1], new_lines[::-1]))
    lead = 0
    if _blank_head(here) != _blank_head(old_lines):
        lead = _blank_head(here)
        old_lines, new_lines = _without_head(old_lines, new_lines)
    core = here[lead : len(here) - tail]
    level = len(core) == len(old_lines) and all(words(a) == words(b) for a, b in zip(old_lines, core, strict=True))
    result = merge(old_lines, new_lines, core) if _filled_words(old_lines) == _filled_words(core) else None
    if level and (result is None or all(strip(a) == strip(b) for a, b in zip(old_lines, core, strict=True))):
        pairs = list(zip(old_lines, core, strict=True))
        stands = indented(new_lines, pairs)
        if stands == "unclear":
            return None
        known = [indent_of(its) + strip(mine) if strip(mine) else "" for mine, its in pairs]
        known = known if stands == "file" else [line.rstrip(BLANKS) for line in old_lines]
        changes = changed_lines(known, [line.rstrip(BLANKS) for line in new_lines])
        new_lines = reindented(new_lines, pairs, changes)
    elif result:
        changes, new_lines = result.changes, result.lines
    elif _filled_words(old_lines) == _filled_words(core):
        return None
    else:
        changes = [Changed(0, len(core), 0, len(new_lines))]
        new_lines = reindented(new_lines, [(_first_filled(old_lines), _first_filled(core))])
    lower = [Changed(a + lead, b + lead, c, d) for a, b, c, d in changes]
    return _line_splices(text, place, lower, new_lines, ended=new.endswith("\n") and not old.endswith("\n"))


def _line_splices(
    text: str, place: TextSpan, changes: Sequence[Changed], new_lines: Sequence[str], *, ended: bool
) -> list[Splice]:
    """Line changes inside a place as splices. Each new line ends like the one it replaces, or like its neighbours."""
    stop = text.find("\n", place.end) + 1 or len(text)
    units = split_lines(text[place.start : stop])
    if not units or (place.end == len(text) and text.endswith("\n")):
        # A place that takes in the last line end goes on to the empty line after it.
        units.append("")
    starts = [place.start]
    for unit in units:
        starts.append(starts[-1] + len(unit))
    usual = line_end_near(text, place.start)
    splices = []
    for change in changes:
        new = new_lines[change.after_start : change.after_end]
        ends = [_end_of(unit) for unit in units[change.before_start : change.before_end]]
        ends += [ends[-1] if ends and ends[-1] else usual] * (len(new) - len(ends))
        ends = [end or usual for end in ends[: len(new)]]
        at_end = change.before_end == len(units) and not _end_of(units[-1])
        if at_end and new and not ended:
            ends[-1] = ""
        opening = usual if at_end and new and change.before_start == len(units) else ""
        piece = opening + "".join(line + end for line, end in zip(new, ends, strict=True))
        splices.append(Splice(starts[change.before_start], starts[change.before_end], piece))
    return splices


def _is_whole_lines(text: str, place: TextSpan) -> bool:
    starts = place.start == 0 or text[place.start - 1] == "\n"
    return starts and (place.end == len(text) or text.startswith(("\n", "\r\n"), place.end))


def _without_padding(old: str, new: str, matched: str) -> str:
    """The new text without the blanks around it that it shares with the old one and that the file does not have."""
    core = strip(old)
    start = old.index(core)
    head, tail = old[:start], old[start + len(core) :]
    new = new if matched.startswith(head) else new.removeprefix(head)
    return new if matched.endswith(tail) else new.removesuffix(tail)


def _blank_head(lines: Sequence[str]) -> int:
    """Return how many blank lines come first."""
    return next((number for number, line in enumerate(lines) if strip(line)), len(lines))


def _filled_words(lines: Sequence[str]) -> list[str]:
    """The words of each line that has any."""
    return [words(line) for line in lines if strip(line)]


def _first_filled(lines: Sequence[str]) -> str:
    return next(filter(strip, lines), "")


def _without_head(old_lines: list[str], new_lines: list[str]) -> tuple[list[str], list[str]]:
    """Both without the blank lines that the old ones begin with, if the new ones begin with as many."""
    blank = _blank_head(old_lines)
    return old_lines[blank:], new_lines[blank:] if _blank_head(new_lines) >= blank else new_lines


def _end_of(unit: str) -> str:
    return "\r\n" if unit.endswith("\r\n") else "\n" if unit.endswith("\n") else ""

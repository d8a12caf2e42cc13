"""How a new text takes the place of the old one: its padding, its indentation, its line ends."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from toolwright.edits.blanks import BLANKS, indent_of, strip, words
from toolwright.edits.indented import indented
from toolwright.edits.indents import reindented
from toolwright.edits.merge import Merged, merge
from toolwright.edits.strategies import wanted_lines
from toolwright.edits.views import Span
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


def fitted(text: str, place: Span, old: str, new: str) -> list[Splice] | None:
    """The new text for a place that has the old one but for blanks; None where blank lines make it a guess."""
    if _is_whole_lines(text, place):
        return _fitted_lines(text, place, old, new)
    new = _without_padding(old, new, text[place.start : place.end])
    return [Splice(place.start, place.end, follow_line_ends(text, place, old, new))]


def merged(text: str, place: Span, asked: Sequence[str], given: Sequence[str]) -> list[Splice] | None:
    """The change carried over to lines that differ from those asked for; None where that would guess."""
    return merged_as(text, place, merge(asked, given, lines_of(text[place.start : place.end])))


def merged_as(text: str, place: Span, found: Merged | None) -> list[Splice] | None:
    """Changes of the lines of a place, as splices."""
    return None if found is None else _line_splices(text, place, found.changes, found.lines, ended=False)


def asked_and_given(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines of both texts; a final line break that both have does not make an empty line after it.

    Where only the old text has one, it may mean a blank line that is to go, and stays.
    """
    asked, given = lines_of(old), lines_of(new)
    if len(asked) > 1 and not asked[-1] and not given[-1]:
        return asked[:-1], given[:-1]
    return asked, given


def are_lines(old: str, new: str) -> bool:
    """Whether both texts begin with the same indentation, so that whole lines are meant."""
    heads = [text[: len(text) - len(text.lstrip(BLANKS))].rpartition("\n")[2] for text in (old, new)]
    return bool(heads[0]) and heads[0] == heads[1]


def without_double_indent(text: str, place: Span, old: str, new: str) -> str:
    """The new text without the indentation of its first line, where the old text begins behind that.

    So it is if the other lines are not moved: only the start of the first one was not copied.
    """
    indent = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    (head, *asked), (first, *given) = old.split("\n"), new.split("\n")
    if not indent or strip(indent) or indent_of(head) or indent_of(first) != indent or not strip(first):
        return new
    if set(filter(strip, asked)) & set(given):
        return new[len(indent) :]
    margins = [min((len(indent_of(line)) for line in part if strip(line)), default=-1) for part in (asked, given)]
    return new[len(indent) :] if 0 <= margins[1] <= margins[0] else new


def follow_line_ends(text: str, span: Span, old: str, new: str) -> str:
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
    """How the line at this place ends; for a last line without an end, how the one before it does."""
    end = text.find("\n", place)
    if end < 0:
        end = text.rfind("\n", 0, place)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def lines_of(text: str) -> list[str]:
    """The lines without their ends, of whatever kind these are."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _fitted_lines(text: str, place: Span, old: str, new: str) -> list[Splice] | None:
    """Whole lines replaced: lines that old and new share stay the file's, the others get its indentation."""
    here = lines_of(text[place.start : place.end])
    asked, given = lines_of("\n".join(wanted_lines(old))), lines_of(new)
    tail = 0
    if _blank_head(here[::-1]) == _blank_head(asked[::-1]):
        given = given[:-1] if old.endswith("\n") and not given[-1] else given
    else:
        tail = _blank_head(here[::-1])
        asked, given = (part[::-1] for part in _without_head(lines_of(old)[::-1], given[::-1]))
    lead = 0
    if _blank_head(here) != _blank_head(asked):
        lead = _blank_head(here)
        asked, given = _without_head(asked, given)
    core = here[lead : len(here) - tail]
    level = len(core) == len(asked) and all(words(a) == words(b) for a, b in zip(asked, core, strict=True))
    found = merge(asked, given, core) if _filled_words(asked) == _filled_words(core) else None
    if level and (found is None or all(strip(a) == strip(b) for a, b in zip(asked, core, strict=True))):
        pairs = list(zip(asked, core, strict=True))
        stands = indented(given, pairs)
        if stands == "unclear":
            return None
        known = [indent_of(its) + strip(mine) if strip(mine) else "" for mine, its in pairs]
        known = known if stands == "file" else [line.rstrip(BLANKS) for line in asked]
        changes = changed_lines(known, [line.rstrip(BLANKS) for line in given])
        given = reindented(given, pairs, changes)
    elif found:
        changes, given = found.changes, found.lines
    elif _filled_words(asked) == _filled_words(core):
        return None
    else:
        changes = [Changed(0, len(core), 0, len(given))]
        given = reindented(given, [(_first_filled(asked), _first_filled(core))])
    lower = [Changed(a + lead, b + lead, c, d) for a, b, c, d in changes]
    return _line_splices(text, place, lower, given, ended=new.endswith("\n") and not old.endswith("\n"))


def _line_splices(
    text: str, place: Span, changes: Sequence[Changed], given: Sequence[str], *, ended: bool
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
        new = given[change.after_start : change.after_end]
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


def _is_whole_lines(text: str, place: Span) -> bool:
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
    """How many blank lines come first."""
    return next((number for number, line in enumerate(lines) if strip(line)), len(lines))


def _filled_words(lines: Sequence[str]) -> list[str]:
    """The words of each line that has any."""
    return [words(line) for line in lines if strip(line)]


def _first_filled(lines: Sequence[str]) -> str:
    return next(filter(strip, lines), "")


def _without_head(asked: list[str], given: list[str]) -> tuple[list[str], list[str]]:
    """Both without the blank lines that the asked ones begin with, if the given ones begin with as many."""
    blank = _blank_head(asked)
    return asked[blank:], given[blank:] if _blank_head(given) >= blank else given


def _end_of(unit: str) -> str:
    return "\r\n" if unit.endswith("\r\n") else "\n" if unit.endswith("\n") else ""

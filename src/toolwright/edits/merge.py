"""A change of an old text, carried over to lines that are not quite that text any more."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from toolwright.edits.alignment import ALMOST, Pair, align, weight
from toolwright.edits.blanks import BLANKS, indent_of, strip
from toolwright.edits.elisions import is_elision
from toolwright.edits.folding import folded
from toolwright.edits.indented import indented
from toolwright.edits.indents import reindented
from toolwright.edits.slips import is_slip
from toolwright.edits.tokens import carries, merge_line
from toolwright.text.diff import Changed

Kind = Literal["same", "like", "place", "elided"]


_VAGUE: tuple[Kind, ...] = ("place", "elided")
"""At an end of the old text nobody knows how far up or down such a line reaches, so nothing can go beyond it."""


class Merged(NamedTuple):
    """Changes that turn lines of the file into others, and the lines that `after_start` and `after_end` count in."""

    changes: list[Changed]
    lines: list[str]


def merge(old: Sequence[str], new: Sequence[str], here: Sequence[str]) -> Merged | None:
    """The changes that turn `old` into `new`, as changes of the lines that are `here`; None where that would guess.

    Lines that are not changed stay exactly as the file has them, whatever old and new text take them for. A change
    collides with lines of the file that the old text does not have, unless the new one has them. Where lines can be
    paired in two ways that come to different results, nobody knows which is meant.
    """
    ways = [_Merge(old, new, here, late=late).merged() for late in (False, True)]
    results = [None if way is None else _applied(here, way) for way in ways]
    if results[0] is None or results[0] != results[1]:
        return None
    return ways[0] if _adds_up(old, new, here, results[0]) else None


class Twin(NamedTuple):
    """The lines of the file, from `start` up to `end`, that a line of the old text stands for."""

    start: int
    end: int
    kind: Kind


def twins(old: Sequence[str], here: Sequence[str], *, late: bool = False) -> dict[int, Twin]:
    """Match each line of the old text with the file: the same line, one like it, one in its place, or several."""
    pairs = [pair for pair in align(old, here, late=late) if pair.likeness >= 0.99 or not is_elision(old[pair.line])]
    twins_by_line = {pair.line: Twin(pair.other, pair.other + 1, _kind(pair, old, here)) for pair in pairs}
    i = j = 0
    for pair in [*pairs, Pair(len(old), len(here), 1.0)]:
        marks = [number for number in range(i, pair.line) if is_elision(old[number])]
        if len(marks) == 1 and pair.line - i == 1:
            twins_by_line[i] = Twin(j, pair.other, "elided")
        elif not marks and pair.line - i == pair.other - j:
            twins_by_line |= {i + n: Twin(j + n, j + n + 1, "place") for n in range(pair.line - i)}
        i, j = pair.line + 1, pair.other + 1
    return twins_by_line


def _kind(pair: Pair, old: Sequence[str], here: Sequence[str]) -> Kind:
    """The line itself, or one like it. By a slip beside lines that are there nobody is misled."""
    if pair.likeness >= ALMOST:
        return "same"
    held = 0 < pair.line < len(old) - 1 or _has_neighbours(pair, old, here)
    return "same" if held and is_slip(strip(old[pair.line]), strip(here[pair.other])) else "like"


def _has_neighbours(pair: Pair, old: Sequence[str], here: Sequence[str]) -> bool:
    """Tell whether the next two lines of a text that begins or ends with this one are those beside it in the file."""
    step = 1 if pair.line == 0 else -1
    beside = [(pair.line + step * n, pair.other + step * n) for n in (1, 2)]
    if not all(0 <= i < len(old) and 0 <= j < len(here) for i, j in beside):
        return False
    return bool(strip(old[beside[0][0]])) and all(strip(old[i]) == strip(here[j]) for i, j in beside)


class _Merge:
    """One way to pair the lines, and what comes of it."""

    def __init__(self, old: Sequence[str], new: Sequence[str], here: Sequence[str], *, late: bool) -> None:
        self.old, self.new, self.here = old, new, here
        self.twins = twins(old, here, late=late)
        self.heirs = self._find_heirs(late=late)
        known = [(old[i], here[twin.start]) for i, twin in sorted(self.twins.items()) if twin.kind == "same"]
        self.clear = indented(new, known) != "unclear"
        self.fitted = reindented(new, known)
        self.level = all(indent_of(mine) == indent_of(its) for mine, its in known if strip(mine))
        self.given, self.there = ({strip(line) for line in lines} for lines in (new, here))
        self.lines: list[str] = []
        self.changes: list[Changed] = []

    def _find_heirs(self, *, late: bool) -> dict[int, int]:
        """The line of the new text that each line of the old one became.

        A new line that is in the file, where the old text forgot it, is that line, however like another it may be.
        """
        taken = {number for twin in self.twins.values() for number in range(twin.start, twin.end)}
        forgotten = {strip(line) for number, line in enumerate(self.here) if number not in taken and weight(line) == 1}
        pairs = align(self.old, self.new, late=late)
        return {
            pair.line: pair.other
            for pair in pairs
            if strip(self.new[pair.other]) not in forgotten or strip(self.old[pair.line]) in forgotten
        }

    def merged(self) -> Merged | None:
        """From one line that all three texts have to the next: first what lies between, then the line itself."""
        if not self.clear:
            return None
        i = j = k = 0
        both = [number for number in sorted(self.twins) if number in self.heirs]
        for number in both:
            twin, heir = self.twins[number], self.heirs[number]
            if number == both[0] and twin.kind in _VAGUE and heir > 0:
                return None
            if not self._between((i, number), (j, twin.start), (k, heir)) or not self._line(number, twin, heir):
                return None
            i, j, k = number + 1, twin.end, heir + 1
        if both and self.twins[both[-1]].kind in _VAGUE and k < len(self.new):
            return None
        if not self._between((i, len(self.old)), (j, len(self.here)), (k, len(self.new))):
            return None
        return Merged(self.changes, self.lines)

    def _line(self, number: int, twin: Twin, heir: int) -> bool:
        """A line that all three have: whether it is known what becomes of it."""
        old, new = self.old[number], self.new[heir]
        if old.rstrip(BLANKS) == new.rstrip(BLANKS):
            return True
        if twin.kind == "elided":
            return False
        here = self.here[twin.start]
        moved = indent_of(old) != indent_of(new)
        if strip(old) == strip(here):
            return self._change(twin.start, twin.end, [self.fitted[heir]])
        if strip(new) == strip(here):
            return not moved or self._change(twin.start, twin.end, [self.fitted[heir]])
        if twin.kind == "place" or strip(here) in self.given:
            return False
        line = merge_line(strip(old), strip(new), strip(here))
        if line is None:
            return False
        indent = indent_of(self.fitted[heir]) if moved else indent_of(here)
        return self._change(twin.start, twin.end, [indent + line])

    def _between(self, old: tuple[int, int], here: tuple[int, int], new: tuple[int, int]) -> bool:
        """Lines that not all three have: whether it is known what becomes of them."""
        mine, its = self.new[slice(*new)], self.here[slice(*here)]
        if _stripped(mine) == _stripped(its):
            return self._change(*here, list(map(self._kept, range(*here), range(*new))))
        if _stripped(mine) == _stripped(self.old[slice(*old)]):
            return not its or all(map(_stands_alike, mine, self.old[slice(*old)]))
        at_end = old[0] == 0 or old[1] == len(self.old)
        if at_end and any((twin := self.twins.get(n)) and twin.kind in ("like", "place") for n in range(*old)):
            return False
        invented = {self.heirs[number] for number in range(*old) if number in self.heirs}
        if any(strip(self.new[number]) in self.there for number in invented):
            return False
        if any(strip(self.new[self.heirs[n]]) != strip(self.old[n]) for n in range(*old) if n in self.heirs):
            return False
        added = [number for number in range(*new) if number not in invented]
        known = {twin.start: n for n in range(*old) if (twin := self.twins.get(n)) and twin.kind == "same"}
        if any(carries(self.old[n], self.here[at], self.new[number]) for at, n in known.items() for number in added):
            return False
        if any(strip(self.old[n]) != strip(self.here[at]) and not self._is_single(at) for at, n in known.items()):
            return False
        unknown = [number for number in range(*here) if number not in known]
        kept: dict[int, int] = {}
        at = 0
        for number in added:
            if at < len(unknown) and strip(self.new[number]) == strip(self.here[unknown[at]]):
                kept[number] = unknown[at]
                at += 1
        if at < len(unknown):
            return False
        return self._change(*here, [self._kept(kept[n], n) if n in kept else self.fitted[n] for n in added])

    def _is_single(self, number: int) -> bool:
        """Tell whether no other line of the file here is almost this one."""
        return sum(folded(line) == folded(self.here[number]) for line in self.here) == 1

    def _kept(self, here: int, new: int) -> str:
        """A line of the file that the new text has: as the file has it, unless it is moved sideways."""
        line, moved = self.here[here], self.fitted[new]
        return moved if self.level and strip(line) and indent_of(line) != indent_of(moved) else line

    def _change(self, start: int, end: int, lines: Sequence[str]) -> bool:
        if list(self.here[start:end]) != list(lines):
            self.changes.append(Changed(start, end, len(self.lines), len(self.lines) + len(lines)))
            self.lines += lines
        return True


def _adds_up(old: Sequence[str], new: Sequence[str], here: Sequence[str], result: Sequence[str]) -> bool:
    """Tell whether each line of words is there as often as it should be: no line doubled, no line lost.

    A line that file and old text have alike often is there as often as the new text has it. Of others there are not
    more than file or new text have, and not less.
    """
    before, wanted, there, after = (Counter(_stripped(lines)) for lines in (old, new, here, result))
    for line in before.keys() | there.keys():
        if weight(line) == 1 and before[line] == there[line] and after[line] != wanted[line]:
            return False
        if weight(line) == 1 and not min(wanted[line], there[line]) <= after[line] <= max(wanted[line], there[line]):
            return False
    return True


def _stands_alike(line: str, other: str) -> bool:
    return not strip(line) or indent_of(line) == indent_of(other)


def _stripped(lines: Sequence[str]) -> list[str]:
    return [strip(line) for line in lines]


def _applied(here: Sequence[str], merged: Merged) -> list[str]:
    result, at = [], 0
    for change in merged.changes:
        result += [*here[at : change.before_start], *merged.lines[change.after_start : change.after_end]]
        at = change.before_end
    return [*result, *here[at:]]

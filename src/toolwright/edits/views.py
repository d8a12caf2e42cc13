"""A text as the strategies look at it: its stripped, squeezed and unescaped forms, each made once when first needed.

No list of lines is kept. The stripped lines lie in one string, so that a block is found by one `str.find`, and a
table of sparse marks leads from a place in that string back to the line and its place in the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from toolwright.edits.blanks import squeeze, stripper
from toolwright.edits.folding import folded

_PIECE = 1024
_TESTED = 8
ESCAPE = re.compile(r"\\([ntr'\"`\\\n$])")
_MEANING = {"n": "\n", "t": "\t", "r": "\r"}


class TextSpan(NamedTuple):
    """A part of a text, by its first character and the one after its last."""

    start: int
    end: int


class TextForms:
    """One text, in the forms that matching needs."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def strip(self) -> Callable[[str], str]:
        return stripper(self.text)

    @cached_property
    def line_count(self) -> int:
        return self.text.count("\n") + 1

    @cached_property
    def _marks(self) -> "_Marks":
        return _Marks(self.text, self.strip)

    @property
    def flat(self) -> str:
        """Every line stripped, each between two line breaks."""
        return self._marks.flat

    @cached_property
    def squeezed(self) -> str:
        """`flat` with one space for every run of blanks inside a line."""
        return squeeze(self.flat)

    @cached_property
    def folded(self) -> str:
        """`flat` without what is easily mistyped: blanks, letters' case, look-alike signs."""
        return folded(self.flat)

    @cached_property
    def words(self) -> str:
        """All words of the text, a space before, between and after them."""
        return squeeze(f" {self.squeezed} ".replace("\n", " "))

    @cached_property
    def unescaped(self) -> str:
        return unescape(self.text)

    def may_have(self, goal: str) -> bool:
        """Tell whether the longest of these words occur: a cheap test before the forms above are made."""
        longest = sorted(set(goal.split(" ")), key=lambda word: (-len(word), word))[:_TESTED]
        return all(word in self.text for word in longest)

    def find_lines(self, stripped: str) -> Iterator[int]:
        """Yield where this run of stripped lines begins, as places in `flat`, overlapping ones too."""
        flat, wanted = self.flat, f"\n{stripped}\n"
        at = flat.find(wanted)
        while at >= 0:
            yield at + 1
            at = flat.find(wanted, at + 1)

    def lines_like(self, stripped: str) -> Iterator[tuple[int, int]]:
        """Every line that equals this one when stripped: its number from 0 and its place in `flat`."""
        flat, wanted = self.flat, f"\n{stripped}\n"
        step = len(wanted) - 1
        line, counted = 0, 1
        at = flat.find(wanted)
        while at >= 0:
            line += flat.count("\n", counted, at + 1)
            counted = at + 1
            yield line, counted
            at = flat.find(wanted, at + step)

    def lines_folded(self, line: str) -> Iterator[int]:
        """Every line that equals this one when both are folded, by its number from 0."""
        wanted, number, counted = f"\n{line}\n", 0, 1
        at = self.folded.find(wanted)
        while at >= 0:
            number += self.folded.count("\n", counted, at + 1)
            counted = at + 1
            yield number
            at = self.folded.find(wanted, at + len(wanted) - 1)

    def flat_lines(self, place: int, count: int) -> list[str]:
        """As many stripped lines as asked for, from a place in `flat` on."""
        lines = []
        for _ in range(count):
            end = self.flat.find("\n", place)
            if end < 0:
                break
            lines.append(self.flat[place:end])
            place = end + 1
        return lines

    def line_at(self, flat_place: int) -> int:
        """The number, from 0, of the line that a place in `flat` belongs to."""
        return self._marks.line_at(flat_place)

    def line_of(self, place: int) -> int:
        """The number, from 0, of the line that a place in the text belongs to."""
        return self._marks.line_of(place)

    def flat_start(self, line: int) -> int:
        """Return where a line begins in `flat`."""
        return self._marks.flat_start(line)

    def span(self, first: int, last: int) -> TextSpan:
        """The lines from first to last without the final line break."""
        start = self._marks.text_start(first)
        end = start
        if last > first:
            end = self._marks.text_start(last)
        end = self.text.find("\n", end)
        return TextSpan(start, len(self.text) if end < 0 else end)

    def line_of_word(self, number: int) -> int:
        """The line that holds the word with this number, both from 0."""
        return bisect_right(self._words_before, number)

    def is_blank(self, line: int) -> bool:
        return self._words_before[line] == (self._words_before[line - 1] if line else 0)

    def begins_line(self, number: int) -> bool:
        """Tell whether the word with this number is the first of its line, or comes after the last word of all."""
        before = bisect_left(self._words_before, number)
        return number == 0 or self._words_before[before] == number

    def source_of_unescaped(self, place: int) -> int:
        """Return where in the text a place of `unescaped` comes from. Each escape made two characters one."""
        return place + bisect_left(self._escapes, place)

    @cached_property
    def _words_before(self) -> list[int]:
        lines = self.squeezed[1:-1].split("\n")
        return list(accumulate(line.count(" ") + 1 if line else 0 for line in lines))

    @cached_property
    def _escapes(self) -> list[int]:
        return [match.start() - before for before, match in enumerate(ESCAPE.finditer(self.text))]


def unescape(text: str) -> str:
    """The text with backslash escapes made what they stand for."""
    return ESCAPE.sub(lambda match: meaning_of(match[1]), text) if "\\" in text else text


def meaning_of(letter: str) -> str:
    """Return what a backslash and this letter stand for."""
    return _MEANING.get(letter, letter)


class _Marks:
    """The stripped lines in one string, and where every few of them begin there and in the text."""

    def __init__(self, text: str, strip: Callable[[str], str]) -> None:
        self.text = text
        self._lines: list[int] = []
        self._text_places: list[int] = []
        self._flat_places: list[int] = []
        pieces: list[str] = []
        line, place, flat_place = 0, 0, 1
        while place <= len(text):
            end = text.find("\n", place + _PIECE)
            end = len(text) if end < 0 else end
            lines = text[place:end].split("\n")
            piece = "\n".join(map(strip, lines))
            self._lines.append(line)
            self._text_places.append(place)
            self._flat_places.append(flat_place)
            pieces.append(piece)
            line += len(lines)
            place = end + 1
            flat_place += len(piece) + 1
        self.flat = "\n" + "\n".join(pieces) + "\n"

    def line_at(self, flat_place: int) -> int:
        mark = bisect_right(self._flat_places, flat_place) - 1
        return self._lines[mark] + self.flat.count("\n", self._flat_places[mark], flat_place)

    def line_of(self, place: int) -> int:
        mark = bisect_right(self._text_places, place) - 1
        return self._lines[mark] + self.text.count("\n", self._text_places[mark], place)

    def text_start(self, line: int) -> int:
        return self._start(self.text, self._text_places, line)

    def flat_start(self, line: int) -> int:
        return self._start(self.flat, self._flat_places, line)

    def _start(self, text: str, places: list[int], line: int) -> int:
        mark = bisect_right(self._lines, line) - 1
        place = places[mark]
        for _ in range(line - self._lines[mark]):
            place = text.index("\n", place) + 1
        return place

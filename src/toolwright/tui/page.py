"""Lines for the screen: what the line-based conversation would print, kept as pieces of text with a colour each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from toolwright.chat.screen import CYAN, Screen
from toolwright.display import visible
from toolwright.record import record
from toolwright.tui.highlight import highlighted

Piece = tuple[str, str]
"""A text that is harmless to show, and the code of its colour."""
Line = list[Piece]
Palette = Mapping[str, Style]
"""What each code looks like."""

READABLE = 120
"""Columns beyond which lines of words are no longer easy to read."""
_PAINTED = re.compile(r"\x1b\[([0-9;]+)m(.*?)\x1b\[0m")


@record(slots=True, kw_only=True)
class Page(Screen):
    """A screen that keeps its lines instead of writing them."""

    columns: int
    lines: list[Line] = field(default_factory=list[Line])
    _line: str = ""
    _code: list[str] = field(default_factory=list[str])
    """The lines of the block of code that is being written."""
    _code_start: int = 0

    @classmethod
    def blank(cls, columns: int) -> "Page":
        return cls(columns=columns, colour=True)

    @property
    def width(self) -> int:
        return max(10, min(READABLE, self.columns))

    def shown(self) -> list[Line]:
        """All lines so far, with the one that is not complete yet."""
        return [*self.lines, *fitted(pieces_of(self._line), self.columns)] if self._line else self.lines

    def code(self, text: str, language: str) -> None:
        if not self._code:
            self._code_start = len(self.lines)
        self.line(f"  {text}", CYAN)
        self._code.append(text)

    def code_ends(self, language: str) -> None:
        """The block is complete: show it in the colours of its language."""
        code, self._code = self._code, []
        coloured = highlighted("\n".join(code), language)
        if code and coloured is not None and len(coloured) == len(code):
            del self.lines[self._code_start :]
            for line in coloured:
                self.lines += fitted([("  ", ""), *line], self.columns)

    def _write(self, text: str) -> None:
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self.lines += fitted(pieces_of(line), self.columns)


def pieces_of(painted: str) -> Line:
    """A line as it was painted for a terminal, taken apart."""
    if "\x1b" not in painted:
        return [(painted, "")] if painted else []
    made: Line = []
    at = 0
    for found in _PAINTED.finditer(painted):
        if found.start() > at:
            made.append((painted[at : found.start()], ""))
        made.append((found[2], found[1]))
        at = found.end()
    if at < len(painted):
        made.append((painted[at:], ""))
    return made


def fitted(line: Line, columns: int) -> list[Line]:
    """The line in as many as it takes: a word may be longer than the screen is wide."""
    if sum(len(text) for text, _ in line) * 2 <= columns or sum(cell_len(text) for text, _ in line) <= columns:
        return [line]
    made: list[Line] = [[]]
    room = columns
    for text, code in line:
        if cell_len(text) <= room:
            made[-1].append((text, code))
            room -= cell_len(text)
            continue
        end = _end_of(text, room)
        made[-1].append((text[:end], code))
        made += ([(piece, code)] for piece in chop_cells(text[end:], columns))
        room = columns - sum(cell_len(piece) for piece, _ in made[-1])
    return made


def _end_of(text: str, room: int) -> int:
    """How many characters fit."""
    for at, character in enumerate(text):
        room -= cell_len(character)
        if room < 0:
            return at
    return len(text)


def strip_of(line: Sequence[Piece], palette: Palette) -> Strip:
    """A line as the terminal is told it; whatever slipped through is made visible here."""
    return Strip([Segment(visible(text, lines=False), palette.get(code)) for text, code in line])

"""Lines for the screen: what the line-based conversation would print, kept as pieces of text with a colour each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from toolwright.record import record
from toolwright.terminal.screen import CYAN, DIM, GREEN, RED, Screen
from toolwright.text.display import visible
from toolwright.tui.highlight import highlighted

Piece = tuple[str, str]
"""A text that is harmless to show, and the code of its colour."""
Line = list[Piece]
Palette = Mapping[str, Style]
"""Style of each code."""

READABLE = 120
"""Columns beyond which lines of words are no longer easy to read."""
_DIFF = {"+": GREEN, "-": RED, "@": DIM}
_PAINTED = re.compile(r"\x1b\[([0-9;]+)m(.*?)\x1b\[0m")


@record(slots=True, kw_only=True)
class DrawnPage(Screen):
    """A screen that keeps its lines instead of writing them."""

    columns: int
    lines: list[Line] = field(default_factory=list[Line])
    _line: str = ""
    _code: list[str] = field(default_factory=list[str])
    """The lines of the block of code that is being written."""
    _code_start: int = 0

    @classmethod
    def blank(cls, columns: int) -> "DrawnPage":
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
        if language == "diff":
            del self.lines[self._code_start :]
            for text in code:
                self.lines += fitted([("  ", ""), (visible(text, lines=False), _DIFF.get(text[:1], ""))], self.columns)
            return
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
    pieces: Line = []
    at = 0
    for match in _PAINTED.finditer(painted):
        if match.start() > at:
            pieces.append((painted[at : match.start()], ""))
        pieces.append((match[2], match[1]))
        at = match.end()
    if at < len(painted):
        pieces.append((painted[at:], ""))
    return pieces


def fitted(line: Line, columns: int) -> list[Line]:
    """The line in as many as it takes, broken behind a blank where one is near: a word may be wider than the screen."""
    if sum(len(text) for text, _ in line) * 2 <= columns or sum(cell_len(text) for text, _ in line) <= columns:
        return [line]
    rows: list[Line] = []
    left, text = line, "".join(text for text, _ in line)
    while text:
        end = _end_of(text, columns)
        head, left = _parted(left, end)
        rows.append(head)
        text = text[end:]
    return rows


def _end_of(text: str, columns: int) -> int:
    """Return how many characters go into a row."""
    room, end = columns, min(columns, len(text))
    if not text[:end].isascii():
        end = 0
        while end < len(text) and (room := room - cell_len(text[end])) >= 0:
            end += 1
    blank = text.rfind(" ", end // 2, end) if end < len(text) else -1
    return max(1, end if blank < 0 else blank + 1)


def _parted(line: Line, end: int) -> tuple[Line, Line]:
    """The pieces up to a character, and the rest of them."""
    for at, (text, code) in enumerate(line):
        if end < len(text):
            return [*line[:at], *([(text[:end], code)] if end else [])], [(text[end:], code), *line[at + 1 :]]
        end -= len(text)
    return line, []


def strip_of(line: Sequence[Piece], palette: Palette) -> Strip:
    """A line as the terminal is told it; whatever slipped through is made visible here."""
    return Strip([Segment(visible(text, lines=False), palette.get(code)) for text, code in line])

"""The terminal as lines are written to it: colours if it has them, and one line of progress that is replaced."""

import os
import shutil
import sys
from dataclasses import field
from typing import TextIO

from toolwright.record import record
from toolwright.terminal.columns import clipped, pieces
from toolwright.text.display import visible

WIDEST = 110
NARROWEST = 20
DIM, RED, GREEN, YELLOW, CYAN, BOLD = "2", "31", "32", "33", "36", "1"


def has_colours(stream: TextIO) -> bool:
    return can_move(stream) and not os.environ.get("NO_COLOR")


def can_move(stream: TextIO) -> bool:
    """Tell whether the cursor can go back to the beginning of a line."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "")


@record(slots=True, kw_only=True)
class Screen:
    """The output of everything. Text of others goes through `line` or `words`, which show it harmlessly."""

    out: TextIO = field(default_factory=lambda: sys.stdout)
    colour: bool = False
    moves: bool = False
    column: int = 0
    """Column of the next word."""
    _progress: str = ""

    @classmethod
    def of(cls, out: TextIO) -> "Screen":
        return cls(out=out, colour=has_colours(out), moves=can_move(out))

    @property
    def width(self) -> int:
        return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((100, 24)).columns))

    @property
    def inside_line(self) -> bool:
        return self.column > 0

    def painted(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text

    def line(self, text: str = "", code: str = "") -> None:
        """A whole line; what cannot be seen is shown as an escape."""
        self.line_of((text, code))

    def line_of(self, *pieces: tuple[str, str]) -> None:
        """The same of several texts, each in its colour."""
        self.end_line()
        harmless = ((visible(text.expandtabs(4), lines=False), code) for text, code in pieces)
        self._write("".join(self.painted(text, code) for text, code in harmless) + "\n")

    def wrapped(self, text: str, code: str = "") -> None:
        """A line of ours with text of others in it, broken between words where it is too long."""
        harmless = visible(text.expandtabs(4), lines=False)
        indent = " " * (len(harmless) - len(harmless.lstrip(" ")))
        first, *rest = pieces(harmless.strip(), self.width - len(indent) - 2)
        self.line(f"{indent}{first}", code)
        for piece in rest:
            self.line(f"{indent}  {piece}", code)

    def code(self, text: str, language: str) -> None:
        """A line of a block of code."""
        marks = {"+": GREEN, "-": RED, "@": DIM} if language == "diff" else {}
        self.line(f"  {text}", marks.get(text[:1], "" if marks else CYAN))

    def code_ends(self, language: str) -> None:
        """The block of code is complete."""

    def clear(self) -> None:
        """Remove the line of progress."""
        self._write("")

    def words(self, text: str, size: int) -> None:
        """A piece of a line, already harmless and painted, that takes so many columns."""
        self._write(text)
        self.column += size

    def end_line(self) -> None:
        if self.column:
            self._write("\n")
            self.column = 0

    def progress(self, text: str) -> None:
        """Show a line that the next one replaces; written only if it has changed, and never inside other text."""
        if not self.moves or self.column:
            return
        line = clipped(visible(text.expandtabs(4), lines=False), self.width - 1)
        if line != self._progress:
            self.out.write(f"\r\x1b[K{self.painted(line, DIM)}")
            self.out.flush()
            self._progress = line

    def _write(self, text: str) -> None:
        if self._progress:
            self.out.write("\r\x1b[K")
            self._progress = ""
        self.out.write(text)
        self.out.flush()

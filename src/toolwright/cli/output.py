"""Output of the command line: all of it passes here, so that no text from elsewhere acts on a terminal."""

import sys
from typing import TextIO

from toolwright.terminal.typed import is_terminal
from toolwright.text.display import visible, visible_json


def say(text: str = "", *, lines: bool = False, end: str = "\n", to: TextIO | None = None) -> None:
    """Print a line, or with `lines` as many as the text has; to stdout, if nothing else is named."""
    print(visible(text, lines=lines), end=end, file=to, flush=to is not None)


def say_json(text: str, *, to: TextIO | None = None) -> None:
    """Print JSON, whose own escapes programs read."""
    print(visible_json(text), file=to, flush=True)


def say_result(text: str) -> None:
    """Print what was asked for: to a program as it is."""
    print(visible(text) if is_terminal(sys.stdout) else text)

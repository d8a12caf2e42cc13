"""The keyboard: lines with history and editing, and a terminal that stays quiet while the agent works."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import partial

from toolwright.app.history import PromptHistory
from toolwright.record import record
from toolwright.terminal.screen import Screen

Complete = Callable[[str, str], list[str]]
"""Returns completions of a word, given the line so far."""


class InputEnded(Exception):
    """The person has ended the input."""


class Continued(Exception):
    """The program goes on after it was stopped while this much of a line was typed."""


@record(slots=True, kw_only=True)
class Keyboard:
    """Reads lines. Ctrl-C raises KeyboardInterrupt, the end of input raises InputEnded."""

    screen: Screen
    history: PromptHistory = field(default_factory=PromptHistory)
    reading: bool = False
    """True while a line is being read; for a signal handler."""

    _reads: int = 0

    def place(self) -> int:
        """The number of the line that is being read; 0 if none is."""
        return self._reads if self.reading else 0

    def start(self, complete: Complete) -> None:
        """Read the history, and offer completions with the tab key."""
        try:
            import readline
        except ImportError:
            return
        readline.set_auto_history(False)
        for line in self.history.prompts():
            readline.add_history(line)
        readline.set_completer_delims(" \t\n")
        readline.set_completer(_completer(complete))
        readline.parse_and_bind("tab: complete")

    def line(self, prompt: str, code: str = "", *, text: str = "", remember: bool = False) -> str:
        """One line; `text` stands there already and can be edited."""
        coloured = prompt
        if self.screen.colour and code:
            # The marks tell the line editor what takes no room.
            coloured = f"\x01\x1b[{code}m\x02{prompt}\x01\x1b[0m\x02"
        self._reads += 1
        self.reading = True
        try:
            typed = self._typed(coloured, text)
        except EOFError:
            raise InputEnded from None
        finally:
            self.reading = False
        while typed.endswith("\\"):
            typed = f"{typed[:-1]}\n{self.line('… ', code)}"
        if remember and typed.strip():
            self._remember(typed)
        return typed

    def continued(self) -> None:
        """The shell has had the terminal: what is being read is shown again, and the terminal set up for it."""
        if self.reading:
            raise Continued(_line_so_far())

    def _typed(self, prompt: str, typed: str) -> str:
        while True:
            try:
                _begin_with(typed)
                return input(prompt)
            except Continued as stopped:
                typed = str(stopped)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Keys that are pressed are not shown, but kept for the next line."""
        if not sys.stdin.isatty():
            yield
            return
        import termios

        before = termios.tcgetattr(sys.stdin)
        silent = [*before]
        silent[3] &= ~termios.ECHO
        try:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
            yield
        finally:
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def _remember(self, text: str) -> None:
        with suppress(ImportError):
            import readline

            readline.add_history(text)
        self.history.remember(text)


def _line_so_far() -> str:
    with suppress(ImportError):
        import readline

        return readline.get_line_buffer()
    return ""


def _begin_with(text: str) -> None:
    """Set the text that the next line begins with."""
    with suppress(ImportError):
        import readline

        # Not by a function of ours: a signal that came in the middle of it would be forgotten with whatever it raised.
        insert = partial(readline.insert_text, text) if text and text.isprintable() else None
        readline.set_startup_hook(insert)


def _completer(complete: Complete) -> Callable[[str, int], str | None]:
    def offer(word: str, number: int) -> str | None:
        import readline

        matches = complete(word, readline.get_line_buffer())
        return matches[number] if number < len(matches) else None

    return offer

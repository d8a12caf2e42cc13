"""The terminal around the full screen: signals that end it, its title, and whether it is still there."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

from toolwright.text.display import visible
from toolwright.tui.chat_state import ChatState

ESCAPE = "\x1b"
STOPPED = 4
"""The exit code of a program that was told to end."""


def handle_signals(end: Callable[[int], None]) -> None:
    """A signal to end, or that the terminal was closed, ends the conversation in order."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        try:
            loop.add_signal_handler(number, end, STOPPED)
        except (RuntimeError, ValueError):
            return  # not in the main thread


def is_gone() -> bool:
    """Tell whether the terminal is gone."""
    return not os.isatty(sys.__stdin__.fileno() if sys.__stdin__ else 0)


def notification(text: str) -> str:
    """Return the code for a notification (iTerm2, kitty, WezTerm, Windows Terminal); other terminals ignore it."""
    code = f"\x1b]9;{visible(text, lines=False)[:200]}\x07"
    # A multiplexer hands on what is wrapped for it.
    return code if "TMUX" not in os.environ else f"\x1bPtmux;{code.replace(ESCAPE, 2 * ESCAPE)}\x1b\\"


def title_of(talk: ChatState) -> str:
    """Return the title of the terminal's window."""
    name = talk.session.title if talk.session else talk.project.directory.name
    return visible(f"{'… ' if talk.busy else ''}tw: {name}", lines=False)[:100]

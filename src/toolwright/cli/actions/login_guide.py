"""A login from the terminal: the address shown and opened, and what the person enters taken while the browser runs."""

import asyncio
import os
import sys
from pathlib import Path

from toolwright.cli.options import note
from toolwright.process.programs.browser import OpenedBrowser, open_browser
from toolwright.process.programs.lookup import Lookup
from toolwright.terminal.typed import is_terminal, read_line

HINT = "a browser on this machine comes back by itself; from another one, paste here the address that it ends at"


class TerminalGuide:
    """Brings the person to a login; `wants_browser` says whether one is to be opened."""

    def __init__(self, programs: Lookup, state: Path, *, wants_browser: bool) -> None:
        """`state` is where the file is left that leads the browser on."""
        self._programs, self._state, self._wants_browser = programs, state, wants_browser
        self._browser: OpenedBrowser | None = None

    async def show(self, address: str) -> None:
        note(f"log in at {address}")
        if self._wants_browser:
            self._browser = await asyncio.to_thread(
                open_browser, address, self._programs, self._state, has_terminal=_has_terminal()
            )
            if self._browser is None:
                note("no browser can be opened here")
        if self._can_enter():
            note(HINT)

    async def entered(self, complaint: str) -> str:
        if complaint:
            note(complaint)
        while self._can_enter():
            if line := (await read_line()).strip():
                return line
        return await _never()

    async def finish(self) -> None:
        """Leave the terminal to a browser that fills it until it is closed."""
        if self._browser is None:
            return
        self._browser.forget()
        if self._browser.fills_terminal:
            note("close the browser to go on")
            await asyncio.to_thread(self._browser.wait)

    def _can_enter(self) -> bool:
        return _has_terminal() and not (self._browser is not None and self._browser.fills_terminal)


async def _never() -> str:
    never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    return await never


def _has_terminal() -> bool:
    """Tell whether a person can type here: who reads a terminal from the background is stopped."""
    try:
        return is_terminal(sys.stdin) and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False

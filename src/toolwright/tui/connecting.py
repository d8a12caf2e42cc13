"""Connecting a provider: its key typed unseen, or a login followed until it is done."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from textual.app import ComposeResult
from textual.widgets import Input

from toolwright.errors import ToolwrightError
from toolwright.terminal.background import Background
from toolwright.terminal.screen import RED
from toolwright.text.display import visible
from toolwright.tui.dialog import CachedInput, Dialog
from toolwright.tui.page import DrawnPage, Line

Show = Callable[[str], None]
"""Tells the person what to do."""
Work = Callable[[Show], Coroutine[Any, Any, None]]


class KeyDialog(Dialog[str | None]):
    """Asks for the key of a provider; it is not shown."""

    def __init__(self, provider: str) -> None:
        super().__init__()
        self.title_text = f"Key for {provider}"

    def answers(self) -> ComposeResult:
        yield CachedInput(placeholder="paste the key")

    def on_mount(self) -> None:
        self.query_one("#read").display = False
        self.tell("Enter stores it, readable by you alone · Esc close")
        field = self.query_one(Input)
        field.password = True
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class LoginDialog(Dialog[bool]):
    """Shows what a login asks for until it is done; Escape gives it up."""

    def __init__(self, provider: str, background: Background, work: Work) -> None:
        super().__init__()
        self.title_text = f"Log in to {provider}"
        self.background, self.work = background, work
        self._told: list[tuple[str, str]] = []

    def on_mount(self) -> None:
        self.tell("Esc gives it up")
        loop = asyncio.get_running_loop()

        def show(text: str) -> None:
            loop.call_soon_threadsafe(self._say, text, "")

        self._login = self.background.submit(self.work(show))
        self.run_worker(self._follow(), exit_on_error=False)

    async def _follow(self) -> None:
        try:
            await asyncio.wrap_future(self._login)
        except ToolwrightError as error:
            self._say(str(error), RED)
            self.tell("Esc close")
        else:
            self.dismiss(result=True)

    def _say(self, text: str, code: str) -> None:
        self._told.append((text, code))
        if self.is_mounted:
            self._show()

    def on_resize(self) -> None:
        super().on_resize()
        self._show()

    def _show(self) -> None:
        lines: list[Line] = []
        for text, code in self._told:
            page = DrawnPage.blank(max(20, self.size.width - 4))
            page.wrapped(visible(text, lines=False), code)
            lines += page.lines
        self.read(lines)

    def action_give_up(self) -> None:
        self._login.cancel()
        self.dismiss(result=False)

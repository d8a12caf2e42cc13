"""Questions to the person: they lie below the talk, and are answered by keys pressed once they had been seen."""

import time
from typing import TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from toolwright.inbox import Choice
from toolwright.terminal.screen import BOLD, DIM
from toolwright.tui.dialog import CachedInput, Dialog
from toolwright.tui.page import DrawnPage

ARMED = 0.4
"""Seconds without a key before a question takes an answer: whoever is typing when it appears has not read it."""
HIGH = 32
"""Lines of a screen from which on a question may take more room."""
ROWS = (12, 16)
"""Lines of a question at most, on a screen that is lower and on one that is not: the talk is seen above it."""
WHEEL = 3

T = TypeVar("T")


class Asking(Dialog[T]):
    """A question. It is answered by keys that were pressed when it had been seen, and by no others."""

    DEFAULT_CSS = """
    Asking { background: transparent; }
    Asking > Vertical { border-top: none; border-left: thick $warning; }
    Asking #title { height: 1; }
    """

    class RoomTaken(Message):
        """It covers so many lines of the screen."""

        def __init__(self, rows: int) -> None:
            super().__init__()
            self.rows = rows

    class TalkScrolled(Message):
        """A key or the wheel has scrolled the talk above it."""

        def __init__(self, step: int, *, pages: bool) -> None:
            super().__init__()
            self.step, self.pages = step, pages

    class Early(Message):
        """A letter that was meant for the prompt."""

        def __init__(self, letter: str) -> None:
            super().__init__()
            self.letter = letter

    armed = False
    """True while keys are answers."""
    _since = 0.0
    _rest: Timer | None = None
    _withdrawn = False
    whole = False
    """True if it takes all of the screen."""

    def on_mount(self) -> None:
        # Not before it has been drawn.
        self.call_after_refresh(self._wait)

    def on_key(self, event: events.Key) -> None:
        if self.armed and event.time >= self._since:
            self.pressed(event)
            return
        event.stop()
        if not self.scroll(event.key):
            self._wait()
            if event.is_printable and event.character:
                self.post_message(self.Early(event.character))

    def pressed(self, event: events.Key) -> None:
        """Carry out a key that is an answer."""
        raise NotImplementedError

    @property
    def most(self) -> int:
        """Lines that it takes at most."""
        height = self.app.size.height
        return height if self.whole or self.app.is_inline else min(ROWS[height >= HIGH], max(6, height // 2))

    def _fit(self) -> None:
        """Give the text the lines that the answers leave."""
        box, read = self.query_one(Vertical), self.query_one("#read", VerticalScroll)
        others = sum(
            one.outer_size.height + one.styles.margin.height for one in box.children if one is not read and one.display
        )
        read.styles.max_height = room = max(1, self.most - others)
        self.post_message(self.RoomTaken(others + min(room, self.lines_read)))
        self.fitted(self.lines_read > room)

    def fitted(self, hides: bool) -> None:
        """Say, if it is of interest, whether not all is seen at once."""

    def scroll(self, key: str) -> bool:
        """Carry out a key that scrolls: the talk by pages, what is asked by lines."""
        read = self.query_one("#read", VerticalScroll)
        match key:
            case "pageup" | "pagedown":
                self.post_message(self.TalkScrolled(-1 if key == "pageup" else 1, pages=True))
            case "up" | "down":
                read.scroll_relative(y=-1 if key == "up" else 1, animate=False)
            case "home" | "end":
                read.scroll_to(y=0 if key == "home" else read.max_scroll_y, animate=False)
            case "ctrl+f":
                self.whole = not self.whole
                self._fit()
            case _:
                return False
        return True

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.post_message(self.TalkScrolled(-WHEEL, pages=False))
        event.stop()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.post_message(self.TalkScrolled(WHEEL, pages=False))
        event.stop()

    def on_unmount(self) -> None:
        self.app.post_message(self.RoomTaken(0))

    def withdraw(self) -> None:
        """It was settled elsewhere."""
        self._withdrawn = True
        self._leave_withdrawn()

    def on_screen_resume(self) -> None:
        self._leave_withdrawn()

    def _leave_withdrawn(self) -> None:
        if self._withdrawn and self.app.screen is self:
            self.dismiss(None)

    def _wait(self) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(ARMED, self._arm)

    def _arm(self) -> None:
        if not self.armed:
            self.armed, self._since = True, time.monotonic()


class ChoiceDialog(Asking[tuple[str, ...] | None]):
    """A question of the agent with answers to choose from, or words of one's own; none of them declines."""

    def __init__(self, choice: Choice, number: int, count: int) -> None:
        super().__init__()
        self.choice = choice
        self.at = 0
        self.picked: set[int] = set()
        self.title_text = choice.header or "The agent asks"
        if count > 1:
            self.title_text += f" ({number} of {count})"

    def answers(self) -> ComposeResult:
        yield CachedInput(placeholder="your own words; Enter answers", widget_id="own")

    def on_mount(self) -> None:
        self.query_one("#own").display = not self.choice.options
        keys = ["↑↓ or a number, Enter answer"] if self.choice.options else []
        keys += ["Space select several"] if self.choice.multiple else []
        keys += ["o your own words"] if self.choice.custom and self.choice.options else []
        self.tell(" · ".join([*keys, "Esc decline"]))
        self._show()

    def _arm(self) -> None:
        super()._arm()
        if not self.choice.options:
            self.query_one("#own").focus()

    def _show(self) -> None:
        page = DrawnPage.blank(max(20, self.size.width - 4))
        for line in self.choice.question.splitlines():
            page.wrapped(line, BOLD)
        for at, option in enumerate(self.choice.options):
            mark = ("[x] " if at in self.picked else "[ ] ") if self.choice.multiple else ""
            here = "›" if at == self.at else " "
            page.wrapped(f"{here} {at + 1}. {mark}{option.label}", BOLD if at == self.at else "")
            if option.description:
                page.wrapped(f"       {option.description}", DIM)
        self.read(page.lines)

    def on_resize(self) -> None:
        super().on_resize()
        self._show()

    def pressed(self, event: events.Key) -> None:
        if self.query_one("#own").has_focus:
            return
        key, count = event.character or event.key, len(self.choice.options)
        if event.key in ("up", "down") and count:
            self.at = (self.at + (1 if event.key == "down" else -1)) % count
        elif self.scroll(event.key) or not count:
            event.stop()
            return
        elif event.key == "space" and self.choice.multiple:
            self.picked ^= {self.at}
        elif key.isdigit() and 0 < int(key) <= count:
            self._take(int(key) - 1)
        elif event.key == "enter":
            self._answer()
            return
        elif key == "o" and self.choice.custom:
            self.query_one("#own").display = True
            self.query_one("#own").focus()
            event.prevent_default()
        event.stop()
        self._show()

    def _take(self, at: int) -> None:
        if self.choice.multiple:
            self.picked ^= {at}
        else:
            self.dismiss((self.choice.options[at].label,))

    def _answer(self) -> None:
        taken = sorted(self.picked) if self.choice.multiple and self.picked else [self.at]
        self.dismiss(tuple(self.choice.options[at].label for at in taken))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss((event.value.strip(),) if event.value.strip() else ())

    def action_give_up(self) -> None:
        self.dismiss(())

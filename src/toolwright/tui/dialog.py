"""Base of all dialogs: a box above the conversation, with lines to read and answers to choose from by one key."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from toolwright.errors import ToolwrightError
from toolwright.terminal.columns import clipped
from toolwright.text.display import visible
from toolwright.tui.diffs import ADDED, ADDED_WORD, REMOVED, REMOVED_WORD
from toolwright.tui.page import Line

T = TypeVar("T")
Entry = tuple[str, str]
"""The value that is returned, and its text on the screen."""
SHORTEST = 3
"""Letters from which on more is looked for."""
PAUSE = 0.15
"""Seconds without a key before it is."""
_STYLES = {
    "1": "bold",
    "2": "dim",
    "31": "$text-error",
    "32": "$text-success",
    "33": "$text-warning",
    "36": "$text-accent",
    "35": "$text-secondary",
    ADDED: "on $added",
    REMOVED: "on $removed",
    ADDED_WORD: "bold $word on $added-word",
    REMOVED_WORD: "bold $word on $removed-word",
}


def content_of(lines: Iterable[Line]) -> Content:
    """Lines as textual draws them, without anything in them being read as markup."""
    rows: list[Content] = []
    for line in lines:
        pieces = [(visible(text, lines=False), _STYLES.get(code, "")) for text, code in line]
        rows.append(Content.assemble(*pieces))
    return Content("\n").join(rows)


class Dialog(ModalScreen[T]):
    """A box at the foot of the screen. Escape gives it up."""

    DEFAULT_CSS = """
    Dialog { align: center bottom; }
    Dialog > Vertical {
        width: 100%; height: auto; max-height: 100%; background: $panel; padding: 0 1; border-top: solid $accent;
    }
    Dialog #title { text-style: bold; height: auto; }
    Dialog #read { height: auto; scrollbar-size-vertical: 1; }
    Dialog #foot { color: $text-muted; height: auto; }
    Dialog OptionList { height: auto; background: $panel; padding: 0; }
    Dialog OptionList, Dialog OptionList:focus { border: none; background-tint: transparent; }
    Dialog OptionList:focus > .option-list--option-highlighted {
        color: $block-cursor-blurred-foreground; background: $block-cursor-blurred-background;
        text-style: $block-cursor-blurred-text-style;
    }
    Dialog #offers { margin-top: 1; }
    Dialog Input { border: none; height: 1; background: $background; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "give up"),
        # Before a line of input in the dialog, for which it means to copy.
        Binding("ctrl+c", "stop", "stop", priority=True),
    ]
    AUTO_FOCUS = ""
    title_text = ""
    lines_read = 0
    """Lines there are to read."""
    _left = False

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content(visible(self.title_text, lines=False)), id="title")
            with VerticalScroll(id="read", can_focus=False):
                yield Static(id="text", markup=False)
            yield from self.answers()
            yield Static(id="foot", markup=False)

    def answers(self) -> ComposeResult:
        """The widgets below what is read."""
        yield from ()

    def read(self, lines: Sequence[Line]) -> None:
        self.lines_read = len(lines)
        self.query_one("#text", Static).update(content_of(lines))
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Give the text the room that the answers leave; it scrolls."""
        box = self.query_one("#read")
        for options in self.query(OptionList):
            options.styles.max_height = max(3, self.size.height // 2)
        others = sum(
            one.outer_size.height + one.styles.margin.height
            for one in self.query_one(Vertical).children
            if one is not box and one.display
        )
        box.styles.max_height = max(2, self.size.height - others - 1)

    def tell(self, text: str) -> None:
        self.query_one("#foot", Static).update(Content(text))
        self.query_one("#foot").display = bool(text)

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Leave it, once: whatever comes later must not close what lies below."""
        if self._left:
            return AwaitComplete()
        self._left = True
        return super().dismiss(result)

    def action_give_up(self) -> None:
        self.dismiss(None)

    def action_stop(self) -> None:
        """Ctrl-C: of a question, it stops the turn; of anything else, it is Escape."""
        self.dismiss(None)

    def scroll(self, key: str) -> bool:
        """Carry out a key that scrolls what is read."""
        box = self.query_one("#read", VerticalScroll)
        step = {"pageup": -1, "pagedown": 1}.get(key)
        if step is not None:
            box.scroll_relative(y=step * max(1, box.size.height - 1), animate=False)
        elif key in ("home", "end"):
            box.scroll_to(y=0 if key == "home" else box.max_scroll_y, animate=False)
        return step is not None or key in ("home", "end")


class CachedInput(Input):
    """One line of input with a cursor that does not blink."""

    def __init__(self, *, placeholder: str = "", widget_id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=widget_id, compact=True, select_on_focus=False)
        self.cursor_blink = False


class Picker(Dialog[str | None]):
    """A list to choose one from, narrowed down by typing."""

    def __init__(
        self,
        title: str,
        entries: Sequence[Entry],
        *,
        chosen: str = "",
        keys: str = "",
        foot: str = "Enter select · Esc close · type to search",
        more: Callable[[str], Awaitable[Sequence[Entry]]] | None = None,
    ) -> None:
        """Entries are what is returned and what is shown; `keys` return themselves before the entry, as in `d:name`.

        `more` looks for entries that fit what is typed in another way; they stand below those that fit by themselves.
        """
        super().__init__()
        self.title_text = title
        self.entries = entries
        self.chosen = chosen
        self.keys = {"ctrl+" + letter: letter for letter in keys}
        self.foot = foot
        self.more = more
        self._found: tuple[str, Sequence[Entry]] = ("", ())
        """Typed words, and further entries that match them."""
        self._shown: list[str] = []

    def answers(self) -> ComposeResult:
        yield CachedInput(placeholder="search")
        yield OptionList(markup=False)

    def on_mount(self) -> None:
        self.tell(self.foot)
        self.query_one("#read").display = False
        self.query_one(OptionList).can_focus = False
        self._fit()
        self._narrow("")
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._narrow(event.value)
        if self.more is not None and len(event.value.strip()) >= SHORTEST:
            self.run_worker(self._look_for(event.value), exclusive=True, group="more", exit_on_error=False)

    async def _look_for(self, words: str) -> None:
        assert self.more is not None
        await asyncio.sleep(PAUSE)
        with suppress(ToolwrightError):
            self._found = (words, await self.more(words))
            self._narrow(words)

    def on_input_submitted(self) -> None:
        self._take()

    def on_option_list_option_selected(self) -> None:
        self._take()

    def on_key(self, event: events.Key) -> None:
        options = self.query_one(OptionList)
        if event.key in ("up", "down"):
            (options.action_cursor_up if event.key == "up" else options.action_cursor_down)()
        elif event.key in ("pageup", "pagedown"):
            at = (options.highlighted or 0) + (-1 if event.key == "pageup" else 1) * max(1, options.size.height)
            options.highlighted = max(0, min(at, len(self._shown) - 1))
        elif event.key in self.keys:
            self._take(f"{self.keys[event.key]}:")
        else:
            return
        event.stop()

    def _narrow(self, words: str) -> None:
        options = self.query_one(OptionList)
        wanted = words.lower().split()
        matches = [one for one in self.entries if all(word in f"{one[0]} {one[1]}".lower() for word in wanted)]
        if self._found[0] == words:
            matches += [one for one in self._found[1] if one[0] not in {name for name, _ in matches}]
        self._shown = [name for name, _ in matches]
        options.clear_options()
        room = max(20, self.size.width - 4)
        options.add_options([Option(_entry(clipped(visible(text, lines=False), room))) for _, text in matches])
        # Once something is typed, the first that fits is meant.
        at = self._shown.index(self.chosen) if self.chosen in self._shown and not wanted else 0
        options.highlighted = at if matches else None

    def _take(self, before: str = "") -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(f"{before}{self._shown[at]}")


def _entry(text: str) -> Content:
    """Return an entry with its name in bold; its description follows after two blanks."""
    name, gap, rest = text.partition("  ")
    return Content.assemble((name, "bold"), gap + rest)


class LineDialog(Dialog[str | None]):
    """Asks for a line of words."""

    def __init__(self, title: str, text: str = "", lines: Sequence[Line] = ()) -> None:
        super().__init__()
        self.title_text = title
        self.first, self.lines = text, lines

    def answers(self) -> ComposeResult:
        yield CachedInput()

    def on_mount(self) -> None:
        self.read(self.lines)
        self.tell("Enter select · Esc close")
        self.query_one(Input).value = self.first
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class TextDialog(Dialog[None]):
    """Lines to read."""

    can_focus = True

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self.title_text, self.lines = title, lines

    def on_mount(self) -> None:
        self.read(self.lines)
        self.tell("Page Up and Page Down scroll · Esc close")

    def on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "q"):
            self.dismiss(None)
        elif event.key in ("up", "down"):
            self.query_one("#read", VerticalScroll).scroll_relative(y=-1 if event.key == "up" else 1, animate=False)
        else:
            self.scroll(event.key)

"""The input field: several lines, history, what was pasted as a placeholder, and completions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from toolwright.app.history import PromptHistory
from toolwright.record import record
from toolwright.terminal.columns import clipped
from toolwright.text.display import visible
from toolwright.tui.keys import Chosen

PASTED_LINES = 6
PASTED_LETTERS = 1_000
"""Pasted text longer than this is shown as a placeholder."""
OFFERED = 50

Complete = Callable[[str, bool], list[tuple[str, str]]]
"""Completions of a word, given whether it is the first: what it becomes, and what that is."""


class Offers(OptionList):
    """The completions of the word before the cursor."""

    DEFAULT_CSS = """
    Offers { display: none; max-height: 8; height: auto; border: none; padding: 0 1; background: $panel; }
    Offers.shown { display: block; }
    """
    can_focus = False

    entries: list[tuple[str, str]]

    def offer(self, entries: list[tuple[str, str]]) -> None:
        self.entries = entries[:OFFERED]
        self.clear_options()
        self.set_class(bool(entries), "shown")
        if entries:
            room = max(20, self.screen.query_one(PromptField).size.width)
            self.add_options([Option(_line(word, text, room)) for word, text in self.entries])
            self.highlighted = 0


@record(slots=True, kw_only=True)
class Past:
    """The prompts before this one, walked through with the arrow keys."""

    history: PromptHistory = field(default_factory=PromptHistory)
    prompts: list[str] = field(default_factory=list[str])
    at: int = 0
    draft: str = ""

    def load(self, history: PromptHistory) -> None:
        self.history = history
        self.prompts = [*history.prompts(), *self.prompts]
        self.at = len(self.prompts)

    def remember(self, text: str) -> None:
        if not self.prompts or self.prompts[-1] != text:
            self.prompts.append(text)
            self.history.remember(text)
        self.at = len(self.prompts)

    def walk(self, step: int, now: str) -> str | None:
        """The prompt so many steps away; None if there is none."""
        if not 0 <= self.at + step <= len(self.prompts):
            return None
        if self.at == len(self.prompts):
            self.draft = now
        self.at += step
        return self.draft if self.at == len(self.prompts) else self.prompts[self.at]


class PromptField(TextArea):
    """The text of the next prompt."""

    DEFAULT_CSS = """
    PromptField {
        height: auto; min-height: 1; max-height: 10; border: none; border-left: thick $accent !important; padding: 0 1;
        background: $panel;
        &:focus { border: none; border-left: thick $accent !important; }
        & .text-area--cursor-line { background: $panel; }
    }
    """

    class Sent(Message):
        """The person has pressed Enter: the prompt is gone from here."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Searched(Message):
        """More completions are wanted than those of one folder."""

        def __init__(self, word: str) -> None:
            super().__init__()
            self.word = word

    class LeaderKey(Message):
        """A key was pressed after the leader."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, offers: Offers, complete: Complete, directory: Callable[[], Path]) -> None:
        super().__init__(
            compact=True, highlight_cursor_line=False, placeholder="Ask anything · / commands · @ files · ? keys"
        )
        self.cursor_blink = False
        self.past = Past()
        self.offers = offers
        self.complete = complete
        self.directory = directory
        self._pasted: dict[str, str] = {}
        self._completed = (0, "", True)
        """The word before the cursor that completions were last looked for."""
        self.keys = Chosen(keys={})
        self.leader_until = 0.0
        """Time until which the next key counts as one after the leader."""

    def whole(self) -> str:
        """The prompt with what was pasted in the place of its placeholders."""
        text = self.text
        for name, pasted in self._pasted.items():
            text = text.replace(name, pasted)
        return text

    def put(self, text: str) -> None:
        """Another text, with the cursor behind it."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def give_back(self, texts: Sequence[str]) -> None:
        """Prompts that were not sent, before whatever is being written; long ones as a placeholder again."""
        written = self.text
        self.put("")
        for text in texts:
            self._insert_pasted(text)
            self.insert("\n\n")
        self.put(self.text + written if written else self.text.rstrip("\n"))

    def take(self) -> str:
        """The prompt, which is gone from here."""
        text = self.whole()
        self._pasted.clear()
        self.put("")
        self.offer_none()
        return text

    async def _on_key(self, event: events.Key) -> None:
        if self._own_key(event.key):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    def _own_key(self, key: str) -> bool:
        """Carry out a key that means something else here than in any text."""
        leader_until, self.leader_until = self.leader_until > time.monotonic(), 0.0
        if leader_until:
            self.post_message(self.LeaderKey(key))
        elif key == "question_mark" and not self.text:
            self.post_message(self.Sent("?"))
        elif key == "ctrl+z":
            self.app.action_suspend_process()
        elif key in self.keys.newline or (key in self.keys.send and self._goes_on()):
            self.insert("\n")
        elif key in self.keys.send:
            if not self.accept(send=True):
                self.post_message(self.Sent(self.take()))
        elif key == "up" and self._offering():
            self.offers.action_cursor_up()
        elif key == "down" and self._offering():
            self.offers.action_cursor_down()
        elif key == "up" and self.cursor_location[0] == 0:
            self._walk(-1)
        elif key == "down" and self.cursor_location[0] == self.document.line_count - 1:
            self._walk(1)
        else:
            return False
        return True

    def _goes_on(self) -> bool:
        """A backslash at the end of the line goes on with the next; it is removed."""
        row, column = self.cursor_location
        if column and self.document.get_line(row)[:column].endswith("\\"):
            self.delete((row, column - 1), (row, column))
            return True
        return False

    def _walk(self, step: int) -> None:
        past = self.past.walk(step, self.text)
        if past is not None:
            self.put(past)
            self.offer_none()

    # Completions.

    def offer_none(self) -> None:
        self._completed = self._word()
        self.offers.offer([])

    def accept(self, *, send: bool = False) -> bool:
        """Take the chosen completion; whether there was one. One that changes nothing is no reason not to send."""
        if not self._offering() or (chosen := self.offers.highlighted) is None:
            return False
        start, word, _ = self._word()
        wanted = self.offers.entries[chosen][0]
        self.offer_none()
        if send and wanted.rstrip() == word:
            return False
        row, column = self.cursor_location
        self.replace(wanted, (row, start), (row, column))
        return True

    def _offering(self) -> bool:
        """Tell whether completions are shown. A key may come before what was typed was looked at: then it is now."""
        self.on_text_area_changed()
        return self.offers.has_class("shown")

    def on_text_area_changed(self) -> None:
        if self._completed == self._word():
            return
        self._completed = _, word, first = self._word()
        wanted = word.startswith("@") or (first and word.startswith("/"))
        entries = self.complete(word, first) if wanted else []
        self.offers.offer(entries)
        if word.startswith("@") and len(word) > 2 and len(entries) < OFFERED:
            self.post_message(self.Searched(word))

    def offer_more(self, word: str, entries: list[tuple[str, str]]) -> None:
        """Completions that took longer to find, if they are still wanted."""
        if self._word()[1] == word:
            known = self.offers.entries
            self.offers.offer([*known, *(one for one in entries if one not in known)])

    def _word(self) -> tuple[int, str, bool]:
        """Return where the word before the cursor begins, the word, and whether it is the first of all."""
        row, column = self.cursor_location
        line = self.document.get_line(row)[:column]
        start = max(line.rfind(" "), line.rfind("\t")) + 1
        return start, line[start:], row == 0 and start == 0

    # Pasting.

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if (path := self._pasted_file(text)) is not None:
            self.insert(f'@"{path}" ' if any(map(str.isspace, path)) else f"@{path} ")
        else:
            self._insert_pasted(text)

    def _insert_pasted(self, text: str) -> None:
        if text.count("\n") < PASTED_LINES and len(text) <= PASTED_LETTERS:
            self.insert(visible(text))
            return
        lines = text.count("\n") + (not text.endswith("\n"))
        name = f"[pasted {lines:,} lines #{len(self._pasted) + 1}]"
        self._pasted[name] = text
        self.insert(f"{name} ")

    def _pasted_file(self, text: str) -> str | None:
        """A picture that was dropped on the terminal comes as its path."""
        name = text.strip().strip("'\"").replace("\\ ", " ")
        if "\n" in name or len(name) > 1_000 or Path(name).suffix.lower() not in _PICTURES:
            return None
        path = self.directory() / name
        try:
            return name if path.is_file() else None
        except OSError:
            return None


_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")


def _line(word: str, text: str, columns: int) -> Content:
    name = f"{visible(word, lines=False):<16}"
    rest = clipped(visible(text, lines=False), max(0, columns - cell_len(name)))
    return Content.assemble((clipped(name, columns), "bold"), rest)

"""Searching the conversation: words typed below it, and the lines that hold them marked above."""

from textual import events
from textual.app import ComposeResult
from textual.widgets import Input

from toolwright.app.words import plural
from toolwright.tui.dialog import CachedInput, Dialog
from toolwright.tui.view import Transcript


class FindDialog(Dialog[None]):
    """A line to type words in. The talk stays in sight, at the line that was found."""

    DEFAULT_CSS = """
    FindDialog { background: transparent; }
    FindDialog #title { display: none; }
    """

    def __init__(self, transcript: Transcript, words: str) -> None:
        super().__init__()
        self.transcript, self.words = transcript, words
        self.at = 0
        """Index of the line that is shown, from the last."""

    def answers(self) -> ComposeResult:
        yield CachedInput(placeholder="search this conversation")

    def on_mount(self) -> None:
        self.query_one("#read").display = False
        field = self.query_one(Input)
        field.value = self.words
        field.focus()
        self._look(self.words)

    def on_unmount(self) -> None:
        self.transcript.look_for("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._look(event.value)

    def on_input_submitted(self) -> None:
        self._go(1)

    def on_key(self, event: events.Key) -> None:
        if step := {"up": 1, "down": -1}.get(event.key):
            self._go(step)
            event.stop()
        elif event.key in ("pageup", "pagedown"):
            self.transcript.scroll_lines((-1 if event.key == "pageup" else 1) * self.transcript.page)
            event.stop()

    def _look(self, words: str) -> None:
        self.at = 0
        self.transcript.look_for(words.strip())
        self._go(0)

    def _go(self, step: int) -> None:
        """Show the line that is so many before the present one."""
        matches = self.transcript.matching_lines
        if matches:
            self.at = (self.at + step) % len(matches)
            self.transcript.show_line(matches[-1 - self.at])
            where = f"{len(matches) - self.at} of {plural(len(matches), 'line')}"
        else:
            where = "no line has these words" if self.query_one(Input).value.strip() else "type what to look for"
        self.tell(f"{where} · Enter and ↑ earlier · ↓ later · Esc close")

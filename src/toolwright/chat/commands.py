"""The lines of a conversation that are no prompts, carried out and shown."""

import base64
import sys
from collections.abc import Callable, Mapping
from getpass import getpass

from toolwright.app.line import OwnLine, ShellLine, meaning_of
from toolwright.app.outcome import AtScreen, FileChanges, Outcome, OutputLines, Pick
from toolwright.app.own import OwnCommand, own_commands
from toolwright.chat.chat import Chat
from toolwright.chat.keyboard import InputEnded
from toolwright.chat.transcript import show_messages
from toolwright.commands import Command
from toolwright.config.auth import account_of
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.process.running.child import run_at_terminal
from toolwright.record import record
from toolwright.terminal.calls import diff_lines
from toolwright.terminal.changes import shown_change
from toolwright.terminal.editor import edited
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.screen import BOLD, DIM

MOST_CHOICES = 40
LONGEST_DIFF = 2_000
_KEYS = (
    "Enter sends; a \\ at the end of a line goes on with the next; Tab completes /commands and @files",
    "↑ and ↓ bring back earlier prompts, Ctrl-R searches them; readline's keys edit",
    "Ctrl-C stops a turn, twice leaves; Ctrl-D leaves",
)


@record(slots=True, kw_only=True)
class ChatCommands:
    """Commands beside prompts."""

    chat: Chat
    named: Mapping[str, Command]
    """Prompts with a name: the user's, and those that are built in."""

    def __call__(self, line: str) -> bool:
        """Carry a line out if it is no prompt."""
        match meaning_of(line, self.named, self.chat.desk.room):
            case ShellLine(command=command):
                run_at_terminal(["/bin/sh", "-c", command], self.chat.project.here)
            case OwnLine(command=command, rest=rest):
                before = self.chat.session
                self._show(self._done(command, rest))
                self._show_opened(before)
            case meant:
                if meant.sentence:
                    raise UsageError(f"{meant.sentence} /help lists them.")
                return False
        return True

    def names(self) -> list[str]:
        return sorted({*own_commands(self.chat.desk.room), *self.named})

    def _done(self, command: OwnCommand, rest: str) -> Outcome:
        """Carry out a command of ours; what happens in the session meanwhile is shown."""
        chat, work = self.chat, command.run(self.chat.desk, rest)
        if chat.session is None:
            return chat.wait(work)
        return chat.followed(Renderer(session_id=chat.session.id, screen=chat.screen), chat.background.submit(work))

    def _show(self, outcome: Outcome) -> None:
        match outcome:
            case OutputLines():
                for text, mark in outcome.lines:
                    self._line(text, DIM if mark == "remark" else "")
            case Pick():
                for value, text in outcome.entries[:MOST_CHOICES]:
                    self._line(f"  {text}", BOLD if value == outcome.chosen else "")
                if (more := len(outcome.entries) - MOST_CHOICES) > 0:
                    self._line(f"  … {more} more; a part of the name finds them", DIM)
                self._line(outcome.hint, DIM)
            case FileChanges():
                self._show_changes(outcome)
            case AtScreen():
                _ACTS[outcome.act](self, outcome.text)

    def _show_opened(self, before: SessionInfo | None) -> None:
        """Show the end of a session that has been opened."""
        chat = self.chat
        if chat.session is not None and (before is None or before.id != chat.session.id):
            show_messages(chat.screen, chat.wait(chat.project.messages(chat.session.id)), last=4)

    def _show_changes(self, outcome: FileChanges) -> None:
        if not outcome.plans:
            self._line(outcome.none, DIM)
        for plan in outcome.plans:
            self._line(plan.path, BOLD)
            text = shown_change(plan.path, *plan.shown(), self.chat.project.directory)
            for line, code in diff_lines(text, LONGEST_DIFF):
                self.chat.screen.line(f"  {line}", code)

    def _line(self, text: str, code: str = "") -> None:
        self.chat.screen.wrapped(text, code)

    # What a terminal does by itself.

    def _copy(self, text: str) -> None:
        """Give it to the terminal in the way that all of them understand that can be given anything."""
        if not self.chat.screen.moves:
            raise UsageError("This terminal has no clipboard.")
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
        self.chat.screen.words(f"\x1b]52;c;{encoded}\x07", 0)
        self._line("copied to the terminal's clipboard", DIM)

    def _edit(self, text: str) -> None:
        """Write a prompt in the user's editor; an empty one is not sent."""
        written = edited(text)
        if not written.strip():
            self._line("the prompt is empty, so nothing was sent", DIM)
            return
        self.chat.prompt(written)

    def _theme(self, _: str) -> None:
        self._line("lines have the colours of your terminal; the full screen has themes", DIM)

    def _keys(self, _: str) -> None:
        for line in _KEYS:
            self._line(f"  {line}")

    def _connect(self, provider: str) -> None:
        """Ask for the key of a provider, which is not shown, and list its models."""
        key = getpass(f"Key for {provider}: ")
        if key:
            self.chat.wait(self.chat.project.store_key(provider, key))
            self._show(self._done(own_commands(self.chat.desk.room)["connect"], provider))

    def _login(self, provider: str) -> None:
        """Log in to a provider, and list its models."""
        project, show = self.chat.project, self._line
        self.chat.wait(project.log_in(provider, show))
        self._show(self._done(own_commands(self.chat.desk.room)["connect"], provider))

    def _account(self, service: str) -> None:
        name = self.chat.keyboard.line(f"A name for the other account at {service}, such as work: ", "")
        if name.strip():
            self._show(self._done(own_commands(self.chat.desk.room)["connect"], account_of(service, name.strip())))

    def _demo(self, _: str) -> None:
        run_at_terminal([sys.executable, "-P", "-m", "toolwright", "demo"])

    def _leave(self, _: str) -> None:
        raise InputEnded


_ACTS: Mapping[str, Callable[[ChatCommands, str], None]] = {
    "account": ChatCommands._account,
    "connect": ChatCommands._connect,
    "login": ChatCommands._login,
    "copy": ChatCommands._copy,
    "edit": ChatCommands._edit,
    "theme": ChatCommands._theme,
    "keys": ChatCommands._keys,
    "demo": ChatCommands._demo,
    "leave": ChatCommands._leave,
}

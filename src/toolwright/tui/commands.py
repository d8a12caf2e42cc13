"""The lines that are no prompts, carried out and shown: commands of ours, and `!` for the shell."""

from typing import TYPE_CHECKING

from toolwright.app.line import OwnLine, ShellLine, meaning_of
from toolwright.app.outcome import AtScreen, FileChanges, Outcome, OutputLines, Pick
from toolwright.app.own import OTHER_NAMES, own_commands
from toolwright.config.auth import account_of
from toolwright.errors import UsageError
from toolwright.terminal.screen import BOLD, DIM
from toolwright.text.ids import new_id
from toolwright.tui.blocks import Shell
from toolwright.tui.chat_state import ChatState
from toolwright.tui.choosing import Choosing
from toolwright.tui.dialog import LineDialog, Picker, TextDialog
from toolwright.tui.keys import KEYS
from toolwright.tui.page import Line

if TYPE_CHECKING:
    from toolwright.messages import SessionInfo
    from toolwright.tui.app import ChatApp


class ScreenCommands(Choosing):
    """Commands beside prompts. Each act that only a screen has is a method of its name."""

    def __init__(self, app: "ChatApp", talk: ChatState) -> None:
        super().__init__(app, talk)
        self.named: dict[str, str] = {}
        self._mentionable: list[str] = []
        self._dialogs = {"sessions": self.sessions, "undo": self.undo, "rename": self.rename, "export": self.export}
        """Dialogs for commands typed without an argument."""

    async def load(self) -> None:
        """Look up what completions need."""
        self.named = {one.name: one.description or "yours" for one in await self.talk.call(self.project.commands())}
        self._mentionable = await self.talk.call(self.project.mentionable())

    async def run(self, line: str) -> bool:
        """Carry a line out if it is no prompt."""
        match meaning_of(line, self.named, self.talk.desk.room):
            case ShellLine(command=command):
                await self._shell(command)
            case OwnLine(command=command, rest=rest):
                await self.do(command.name, rest)
            case meant:
                if meant.sentence:
                    raise UsageError(f"{meant.sentence}{'' if meant.nearest else ' /help lists them.'}")
                return False
        return True

    async def do(self, name: str, rest: str = "") -> None:
        """Carry out a command of ours."""
        if not rest and name in self._dialogs:
            await self._dialogs[name]()
            return
        before = self.talk.session
        if name == "compact":
            self.app.note("summarising …")
            self.app.pressed.release()
        outcome = await self.talk.call(own_commands("screen")[name].run(self.talk.desk, rest))
        if _id(before) != _id(self.talk.session):
            await self.show_session()
            return
        if isinstance(outcome, OutputLines) and outcome.reread:
            await self.talk.reload()
        await self.show(outcome, name)
        await self.talk.refresh()

    async def show(self, outcome: Outcome, again: str = "") -> None:
        """Show what a command came to; `again` is called with what is picked."""
        match outcome:
            case OutputLines(brief=True):
                for text, _ in outcome.lines:
                    self.app.note(text)
            case OutputLines() if outcome.lines:
                lines: list[Line] = [[(text, DIM if mark == "remark" else "")] for text, mark in outcome.lines]
                await self.app.ask(TextDialog(outcome.title, lines))
            case Pick():
                picked = await self.app.ask(Picker(outcome.title, outcome.entries, chosen=outcome.chosen))
                if picked:
                    await self.do(again, picked)
            case FileChanges():
                await self._show_changes(outcome)
            case AtScreen():
                await getattr(self, outcome.act)(outcome.text)
            case _:
                pass

    async def _show_changes(self, outcome: FileChanges) -> None:
        from toolwright.tui.undoing import ChangesDialog

        if outcome.plans:
            await self.app.ask(ChangesDialog(outcome, self.talk))
        else:
            await self.app.ask(TextDialog(outcome.title, [[(outcome.none, "")]]))

    def completions(self, word: str, *, first: bool) -> list[tuple[str, str]]:
        """Commands after `/`; agents and files of the folder after `@`."""
        if first and word.startswith("/"):
            ours = own_commands("screen")
            # What people know them by from elsewhere is offered once they have begun to type it.
            also = {name: f"the same as /{one}" for name, one in OTHER_NAMES.items() if word[1:] and one in ours}
            known = also | {name: one.help for name, one in ours.items()} | self.named
            return [(f"/{name} ", text) for name, text in sorted(known.items()) if name.startswith(word[1:])]
        folder, _, start = word[1:].rpartition("/")
        agents = [(f"@{name} ", "agent") for name in self._mentionable if not folder and name.startswith(start)]
        try:
            paths = sorted((self.project.directory / folder).iterdir())
        except (OSError, ValueError):
            paths = []
        prefix = f"@{folder}/" if folder else "@"
        files = [one for one in paths if one.name.startswith(start) and (start or not one.name.startswith("."))]
        return [*agents, *((f"{prefix}{one.name}{'/' if one.is_dir() else ' '}", "") for one in files)]

    async def found_files(self, word: str) -> list[tuple[str, str]]:
        """Files anywhere in the project whose path holds the letters after `@`."""
        return [
            (f'@"{path}" ' if " " in path else f"@{path} ", "")
            for path in await self.talk.call(self.project.files(word[1:]))
        ]

    # What a screen does by itself.

    async def keys(self, _: str) -> None:
        lines: list[Line] = [
            [(f"  {ways:<24}", BOLD), (key.text, "")] for key in KEYS if (ways := self.app.keys.of(key))
        ]
        more = (
            "Enter sends, Shift-Enter or Ctrl-J begins a line, ↑ and ↓ walk through earlier prompts",
            "Ctrl-A and Ctrl-E go to the ends of a line, Ctrl-W and Ctrl-U delete before the cursor, Ctrl-K behind it",
        )
        await self.app.ask(TextDialog("Keys", [*lines, *([(f"  {line}", DIM)] for line in more)]))

    async def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.app.note("copied to the terminal's clipboard")

    async def edit(self, text: str) -> None:
        from toolwright.terminal.editor import edited

        with self.app.suspend():
            written = edited(text or self.app.prompt.whole())
        self.app.prompt.put(written.rstrip("\n"))

    async def demo(self, _: str) -> None:
        import sys

        from toolwright.process.running.child import run_at_terminal

        with self.app.suspend():
            run_at_terminal([sys.executable, "-P", "-m", "toolwright", "demo", "--screen"])
        self.app.note("that was the demo; /model chooses a model")

    async def leave(self, _: str) -> None:
        self.app.exit(0)

    async def connect(self, provider: str) -> None:
        """Ask for the key of a provider, and for one of its models then."""
        from toolwright.tui.connecting import KeyDialog

        key = await self.app.ask(KeyDialog(provider))
        if key:
            await self.talk.call(self.project.store_key(provider, key))
            await self.do("connect", provider)

    async def login(self, provider: str) -> None:
        """Log in to a provider, and ask for one of its models then."""
        from toolwright.tui.connecting import LoginDialog

        talk = self.talk
        if await self.app.ask(LoginDialog(provider, talk.background, lambda show: self.project.log_in(provider, show))):
            await self.do("connect", provider)

    async def account(self, service: str) -> None:
        """Ask for the name of another account, and connect it."""
        name = await self.app.ask(LineDialog(f"A name for the other account at {service}, such as work"))
        if name and name.strip():
            await self.do("connect", account_of(service, name.strip()))

    async def find(self, words: str) -> None:
        from toolwright.tui.finding import FindDialog

        if self.app.is_inline:
            raise UsageError("What was said stands above, where your terminal searches it.")
        await self.app.ask(FindDialog(self.app.transcript, words))

    async def tell_no_model(self) -> None:
        """Say how to get a model, from what is found on this machine."""
        from toolwright.terminal.no_model import no_model_lines

        for line, code in no_model_lines(await self.talk.call(self.project.usable_models())):
            self.app.note(line, code)

    async def _shell(self, command: str) -> None:
        from toolwright.tui.shell import run

        block = Shell(new_id("shell"), command)
        self.talk.story.add(block)

        def changed() -> None:
            self.talk.story.changed.add(block.id)
            if self.app.drawing is not None:
                self.app.drawing.wake()

        await run(block, self.project.here, changed)


def _id(session: "SessionInfo | None") -> str:
    return session.id if session else ""

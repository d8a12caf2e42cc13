"""The lines that are no prompts: `/` commands of ours and of the user, and `!` for the shell."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from toolwright.chat.command_table import COMMANDS, FULL_SCREEN, OTHER_NAMES, OTHERS
from toolwright.chat.screen import BOLD, DIM
from toolwright.errors import UsageError
from toolwright.ids import new_id
from toolwright.messages import SessionInfo
from toolwright.tui.blocks import Answer, Block, Shell
from toolwright.tui.choosing import Choosing
from toolwright.tui.dialog import LineDialog, TextDialog
from toolwright.tui.keys import KEYS
from toolwright.tui.page import Line
from toolwright.tui.talk import Talk

if TYPE_CHECKING:
    from toolwright.commands import Command
    from toolwright.tui.app import Conversation


class Commands(Choosing):
    """What can be done beside prompting. Each command of the table is a method of the same name."""

    def __init__(self, app: "Conversation", talk: Talk) -> None:
        super().__init__(app, talk)
        self.own: dict[str, Command] = {}
        self._mentionable: list[str] = []

    async def load(self) -> None:
        """Look up what completions need."""
        self.own = {one.name: one for one in await self.talk.call(self.backend.commands())}
        self._mentionable = await self.talk.call(self.backend.mentionable())

    async def run(self, line: str) -> bool:
        """Carry a line out if it is a command."""
        text = line.strip()
        if text.startswith("!"):
            await self._shell(text[1:].strip())
            return True
        name, _, rest = text[1:].partition(" ")
        if not text.startswith("/") or ("/" in name and name not in self.own) or name in self.own:
            return False
        known = OTHER_NAMES.get(name, name)
        do: Callable[[str], Awaitable[None]] | None = getattr(self, known, None)
        if known not in {**COMMANDS, **FULL_SCREEN} or do is None:
            raise UsageError(f"There is no command /{name}. /help lists them.")
        await do(rest.strip())
        return True

    def completions(self, word: str, *, first: bool) -> list[tuple[str, str]]:
        """Commands after `/`; agents and files of the folder after `@`."""
        if first and word.startswith("/"):
            known = {**COMMANDS, **FULL_SCREEN} | {name: one.description or "yours" for name, one in self.own.items()}
            return [(f"/{name} ", text) for name, text in sorted(known.items()) if name.startswith(word[1:])]
        folder, _, start = word[1:].rpartition("/")
        agents = [(f"@{name} ", "agent") for name in self._mentionable if not folder and name.startswith(start)]
        try:
            found = sorted((self.backend.directory / folder).iterdir())
        except (OSError, ValueError):
            found = []
        prefix = f"@{folder}/" if folder else "@"
        files = [one for one in found if one.name.startswith(start) and (start or not one.name.startswith("."))]
        return [*agents, *((f"{prefix}{one.name}{'/' if one.is_dir() else ' '}", "") for one in files)]

    async def found_files(self, word: str) -> list[tuple[str, str]]:
        """Files anywhere in the project whose path holds the letters after `@`."""
        return [(f"@{path} ", "") for path in await self.talk.call(self.backend.files(word[1:]))]

    # Ours, in the order of the help.

    async def help(self, _: str) -> None:
        known = {**COMMANDS, **FULL_SCREEN} | {name: one.description or "yours" for name, one in self.own.items()}
        lines: list[Line] = [[(f"  /{name:<13}", BOLD), (text, "")] for name, text in known.items()]
        await self._read("Commands", [*lines, *([(f"  {line}", DIM)] for line in OTHERS)])

    async def keys(self, _: str) -> None:
        lines: list[Line] = [[(f"  {self.app.keys.of(key):<24}", BOLD), (key.text, "")] for key in KEYS]
        more = (
            "Enter sends, Shift-Enter or Ctrl-J begins a line, ↑ and ↓ walk through earlier prompts",
            "readline's keys edit",
        )
        await self._read("Keys", [*lines, *([(f"  {line}", DIM)] for line in more)])

    async def compact(self, _: str) -> None:
        self.app.note("summarising …")
        self.app.pressed.release()
        await self.talk.call(self.backend.compact(self.session().id, self.talk.model))
        await self.talk.reload()

    async def cost(self, _: str) -> None:
        from toolwright.chat.renderer import money

        use = await self.talk.call(self.backend.use_of(self.session().id))
        lines = [f"{money(use.cost)} and {use.tokens:,} tokens in this session"]
        await self._read(
            "Cost", _plain([*lines, *(f"  {name:<12} {money(one)}" for name, one in use.by_agent.items())])
        )

    async def context(self, _: str) -> None:
        use = await self.talk.call(self.backend.use_of(self.session().id))
        full = f" of {use.limit:,}, {100 * use.context // use.limit} %" if use.limit else ""
        shares: dict[str, int] = {}
        for block in self.talk.story.blocks:
            kind = _kind(block)
            shares[kind] = shares.get(kind, 0) + len(block.text)
        whole = sum(shares.values()) or 1
        lines = [f"{use.context:,} tokens{full}", "", "of the words in this session:"]
        ranked = sorted(shares.items(), key=lambda one: -one[1])
        lines += [f"  {kind:<20} {100 * size // whole:>3} %  {'█' * (30 * size // whole)}" for kind, size in ranked]
        await self._read("Context", _plain([*lines, "", "/compact makes room"]))

    async def permissions(self, _: str) -> None:
        found = await self.talk.call(self.backend.approvals())
        lines = [f"  {scope:<9} {permission} {pattern}" for scope, permission, pattern in found]
        told = "tw permission revoke ends one" if found else "nothing is approved for longer than once"
        await self._read("Approved", _plain([*lines, f"{told}; /explain TOOL ARGUMENT tells what a call would need"]))

    async def explain(self, what: str) -> None:
        tool, _, argument = what.partition(" ")
        if not tool:
            raise UsageError("/explain takes a tool and its argument, such as /explain bash git push.")
        lines = await self.talk.call(self.backend.explain(tool, argument, self.talk.agent))
        await self._read(what, _plain(lines))

    async def tools(self, _: str) -> None:
        found = await self.talk.call(self.backend.tools(self.talk.agent))
        await self._read(f"The tools of {self.talk.agent}", _plain([f"  {name:<14} {text}" for name, text in found]))

    async def mcp(self, _: str) -> None:
        found = await self.talk.call(self.backend.programs())
        lines = [f"  {kind:<10} {name:<16} {state}" for kind, name, state in found]
        await self._read("Servers and formatters", _plain(lines or ["  none are configured; tw mcp add adds one"]))

    async def jobs(self, _: str) -> None:
        found = await self.talk.call(self.backend.jobs(self.session().id))
        lines = [f"  {name:<8} {command}" for name, command in found]
        working = [f"  {block.part.state.status:<10} {block.child}" for block in self.talk.story.children()]
        await self._read("In the background", _plain([*(lines or ["  no command"]), "", "subagents", *working]))

    async def export(self, file: str) -> None:
        from toolwright.private import update

        session = self.session()
        path = self.backend.here / (file or f"{session.slug or session.id}.json")
        if path.exists():
            raise UsageError(f"There is a file {path} already; name another.")
        value = await self.talk.call(self.backend.exported(session.id))
        update(path, lambda _: json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        self.app.note(f"written to {path}")

    async def copy(self, _: str) -> None:
        answers = [block for block in self.talk.story.blocks if isinstance(block, Answer) and block.text.strip()]
        if not answers:
            raise UsageError("There is no answer to copy yet.")
        self.app.copy_to_clipboard(answers[-1].text)
        self.app.note("the last answer was given to the terminal's clipboard")

    async def rename(self, title: str) -> None:
        session = self.session()
        if not title:
            said = await self.app.ask(LineDialog("Another title", session.title))
            title = said or ""
        if title.strip():
            self.talk.session = await self.talk.call(self.backend.rename(session.id, title.strip()))
            self.app.refresh_edges()

    async def fork(self, _: str) -> None:
        await self.open_session(await self.talk.call(self.backend.fork(self.session().id)))

    async def new(self, _: str) -> None:
        if self.talk.busy:
            raise UsageError("The agent is at work; stop it first (Esc twice).")
        await self.talk.new()
        self.app.look_at(None)

    async def editor(self, text: str) -> None:
        from toolwright.chat.editor import edited

        with self.app.suspend():
            written = edited(text or self.app.prompt.whole())
        self.app.prompt.put(written.rstrip("\n"))

    async def demo(self, _: str) -> None:
        import subprocess
        import sys

        with self.app.suspend():
            subprocess.run([sys.executable, "-m", "toolwright", "demo", "--screen"], check=False)
        self.app.note("that was the demo; /model chooses a model")

    async def quit(self, _: str) -> None:
        self.app.exit(0)

    async def tell_no_model(self) -> None:
        """How to get a model, from what is found on this machine."""
        from toolwright.chat.no_model import no_model_lines

        for line, code in no_model_lines(await self.talk.call(self.backend.usable_models())):
            self.app.note(line, code)

    def session(self) -> SessionInfo:
        if self.talk.session is None:
            raise UsageError("There is no session yet; it begins with your first prompt.")
        return self.talk.session

    async def _read(self, title: str, lines: Sequence[Line]) -> None:
        await self.app.ask(TextDialog(title, lines))

    async def _shell(self, command: str) -> None:
        from toolwright.tui.shell import run

        block = Shell(new_id("shell"), command)
        self.talk.story.add(block)

        def changed() -> None:
            self.talk.story.changed.add(block.id)
            if self.app.drawing is not None:
                self.app.drawing.wake()

        await run(block, self.backend.here, changed)


def _plain(lines: Sequence[str]) -> list[Line]:
    return [[(line, "")] for line in lines]


def _kind(block: Block) -> str:
    part = getattr(block, "part", None)
    if part is not None:
        return f"results of {part.tool}"
    return {"Said": "your prompts", "Answer": "answers", "Thoughts": "thoughts"}.get(type(block).__name__, "notes")

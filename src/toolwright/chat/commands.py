"""The lines of a conversation that are no prompts: `/` commands of ours and of the user, and `!` for the shell."""

import base64
import json
import subprocess
import sys
from collections.abc import Mapping

from toolwright.chat.calls import diff_lines
from toolwright.chat.chat import Chat
from toolwright.chat.command_table import COMMANDS, OTHER_NAMES, OTHERS
from toolwright.chat.editor import edited
from toolwright.chat.keyboard import Left
from toolwright.chat.naming import fitting
from toolwright.chat.renderer import Renderer, money
from toolwright.chat.screen import BOLD, DIM
from toolwright.chat.transcript import show_messages
from toolwright.cli.changes import shown_change
from toolwright.commands import Command
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.private import update
from toolwright.record import record
from toolwright.session.undo import FileUndo, Selection

LISTED = 15
LONGEST_DIFF = 2_000


@record(slots=True, kw_only=True)
class ChatCommands:
    """What can be done beside prompting."""

    chat: Chat
    own: Mapping[str, Command]
    """Prompts with a name: the user's, and those that are built in."""

    def __call__(self, line: str) -> bool:
        """Carry a line out if it is a command."""
        text = line.strip()
        if text.startswith("!"):
            subprocess.run(text[1:], shell=True, check=False, cwd=self.chat.backend.here)  # noqa: S602 - typed by the user
            return True
        name, _, rest = text[1:].partition(" ")
        if not text.startswith("/") or ("/" in name and name not in self.own):
            return False
        if name in self.own:
            self.chat.prompt(text)
        elif (known := OTHER_NAMES.get(name, name)) in COMMANDS:
            getattr(self, known)(rest.strip())
        else:
            raise UsageError(f"There is no command /{name}. /help lists them.")
        return True

    def names(self) -> list[str]:
        return sorted({*COMMANDS, *self.own})

    # Ours, in the order of the help.

    def help(self, _: str) -> None:
        for name, text in COMMANDS.items():
            self._line(f"  /{name:<13}{text}")
        for name, command in self.own.items():
            self._line(f"  /{name:<13}{command.description or 'yours'}")
        for line in OTHERS:
            self._line(f"  {line}")
        self._line("  a \\ at the end of a line goes on with the next; Ctrl-C stops a turn, twice leaves", DIM)

    def new(self, _: str) -> None:
        self.chat.session = None
        self._line("the next prompt begins a new session", DIM)

    def sessions(self, name: str) -> None:
        chat = self.chat
        found = chat.wait(chat.backend.sessions(LISTED if not name else 10_000))
        if not name:
            for info in found:
                self._line(f"  {info.slug or info.id:<22} {info.title}", BOLD if _is(info, chat.session) else "")
            self._line("/sessions NAME goes on with one", DIM)
            return
        chat.session = chat.wait(chat.backend.resume(fitting(found, name).id))
        show_messages(chat.screen, chat.wait(chat.backend.messages(chat.session.id)), last=4)

    def model(self, name: str) -> None:
        chat = self.chat
        known = chat.wait(chat.backend.models())
        if not name or "/" not in name:
            for one in (one for one in known if name in one):
                self._line(f"  {one}", BOLD if one == chat.model else "")
            self._line("/model PROVIDER/MODEL takes one from the next prompt on", DIM)
            return
        chat.model = name
        self._line(f"{name} from the next prompt on", DIM)

    def agent(self, name: str) -> None:
        chat = self.chat
        agents = chat.wait(chat.backend.agents())
        if not name:
            for one in agents:
                self._line(f"  {one.name:<12} {one.description}", BOLD if one.name == chat.agent else "")
            return
        if name not in [one.name for one in agents]:
            raise UsageError(f"There is no agent {name!r}. There are: {', '.join(one.name for one in agents)}.")
        chat.agent = name
        self._line(f"{name} from the next prompt on", DIM)

    def undo(self, what: str) -> None:
        words = what.split()
        preview = "preview" in words
        words = [word for word in words if word != "preview"]
        match words:
            case []:
                selection = Selection()
            case ["call", call]:
                selection = Selection(call=call)
            case ["file", path]:
                selection = Selection(file=path)
            case ["hunk", path, number] if number.isdigit():
                selection = Selection(file=path, hunks=(number,))
            case _:
                raise UsageError(
                    "/undo takes nothing, `file PATH`, `hunk PATH NUMBER` or `call ID`, and `preview` to see it first."
                )
        plans = self.chat.wait(self.chat.backend.undo(self._session().id, selection, preview=preview))
        if preview:
            self._show(plans)
        elif not plans:
            self._line("the last turn changed no file that is known; it no longer counts. /redo brings it back", DIM)
        else:
            self._tell(plans)
            self._line("/redo makes it again", DIM)

    def redo(self, _: str) -> None:
        self._tell(self.chat.wait(self.chat.backend.redo(self._session().id)))

    def compact(self, _: str) -> None:
        chat, session = self.chat, self._session()
        renderer = Renderer(session_id=session.id, screen=chat.screen)
        chat.followed(renderer, chat.background.submit(chat.backend.compact(session.id, chat.model)))

    def diff(self, _: str) -> None:
        plans = self.chat.wait(self.chat.backend.changes(self._session().id))
        if not plans:
            self._line("the session has changed nothing that still stands", DIM)
        self._show([_turned(plan) for plan in plans])

    def cost(self, _: str) -> None:
        use = self.chat.wait(self.chat.backend.use_of(self._session().id))
        self._line(f"{money(use.cost)} and {use.tokens:,} tokens in this session")
        for agent, cost in use.by_agent.items():
            self._line(f"  {agent:<12} {money(cost)}")

    def context(self, _: str) -> None:
        use = self.chat.wait(self.chat.backend.use_of(self._session().id))
        if use.limit:
            self._line(f"{use.context:,} of {use.limit:,} tokens, {100 * use.context // use.limit} %")
        else:
            self._line(f"{use.context:,} tokens; how many the model can take is not known")

    def permissions(self, _: str) -> None:
        found = self.chat.wait(self.chat.backend.approvals())
        for scope, permission, pattern in found:
            self._line(f"  {scope:<9} {permission} {pattern}")
        told = "tw permission revoke ends one" if found else "nothing is approved for longer than once"
        self._line(f"{told}; /explain TOOL ARGUMENT tells what a call would need", DIM)

    def explain(self, what: str) -> None:
        tool, _, argument = what.partition(" ")
        if not tool:
            raise UsageError("/explain takes a tool and its argument, such as /explain bash git push.")
        for line in self.chat.wait(self.chat.backend.explain(tool, argument, self.chat.agent)):
            self._line(line)

    def tools(self, _: str) -> None:
        for name, text in self.chat.wait(self.chat.backend.tools(self.chat.agent)):
            self._line(f"  {name:<12} {text}")

    def export(self, file: str) -> None:
        session = self._session()
        path = self.chat.backend.here / (file or f"{session.slug or session.id}.json")
        if path.exists():
            raise UsageError(f"There is a file {path} already; name another.")
        value = self.chat.wait(self.chat.backend.exported(session.id))
        update(path, lambda _: json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        self._line(f"written to {path}", DIM)

    def editor(self, text: str) -> None:
        """Write a prompt in the user's editor; an empty one is not sent."""
        written = edited(text)
        if not written.strip():
            self._line("the prompt is empty, so nothing was sent", DIM)
            return
        self.chat.prompt(written)

    def rename(self, title: str) -> None:
        if not title:
            raise UsageError("/rename takes the new title.")
        self.chat.session = self.chat.wait(self.chat.backend.rename(self._session().id, title))
        self._line(f"the session is called {self.chat.session.title!r} now", DIM)

    def fork(self, _: str) -> None:
        self.chat.session = self.chat.wait(self.chat.backend.fork(self._session().id))
        self._line(f"this is {self.chat.session.slug} now, a copy", DIM)

    def variant(self, name: str) -> None:
        known = self.chat.wait(self.chat.backend.variants(self.chat.next_model()))
        if name and name not in known:
            raise UsageError(f"There is no variant {name!r}. There are: {', '.join(known) or 'none'}.")
        if not name:
            self._line(", ".join(known) or "this model cannot be told how hard to think")
        self.chat.variant = name or self.chat.variant

    def mcp(self, _: str) -> None:
        found = self.chat.wait(self.chat.backend.programs())
        for kind, name, state in found:
            self._line(f"  {kind:<10} {name:<16} {state}")
        if not found:
            self._line("none are configured; tw mcp add adds one", DIM)

    def jobs(self, _: str) -> None:
        found = self.chat.wait(self.chat.backend.jobs(self._session().id))
        for name, command in found:
            self._line(f"  {name:<8} {command}")
        if not found:
            self._line("no command runs in the background", DIM)

    def copy(self, _: str) -> None:
        """Given to the terminal in the way that all of them understand that can be given anything."""
        messages = self.chat.wait(self.chat.backend.messages(self._session().id))
        text = next((one.text for one in reversed(messages) if one.info.role == "assistant" and one.text), "")
        if not text or not self.chat.screen.moves:
            raise UsageError("There is no answer to copy yet." if not text else "This terminal has no clipboard.")
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
        self.chat.screen.words(f"\x1b]52;c;{encoded}\x07", 0)
        self._line("the last answer was given to the terminal's clipboard", DIM)

    def theme(self, _: str) -> None:
        self._line("lines have the colours of your terminal; the full screen has themes", DIM)

    def keys(self, _: str) -> None:
        for line in _KEYS:
            self._line(f"  {line}")

    def demo(self, _: str) -> None:
        subprocess.run([sys.executable, "-m", "toolwright", "demo"], check=False)

    def quit(self, _: str) -> None:
        raise Left

    def _session(self) -> SessionInfo:
        if self.chat.session is None:
            raise UsageError("There is no session yet; it begins with your first prompt.")
        return self.chat.session

    def _line(self, text: str, code: str = "") -> None:
        self.chat.screen.wrapped(text, code)

    def _tell(self, plans: list[FileUndo]) -> None:
        for plan in plans:
            additions, deletions = plan.counts()
            self._line(f"  {plan.kind:<9} +{additions} -{deletions}  {plan.path}")

    def _show(self, plans: list[FileUndo]) -> None:
        for plan in plans:
            self._line(plan.path, BOLD)
            text = shown_change(plan.path, plan.present, plan.restored, self.chat.backend.directory)
            for line, code in diff_lines(text, LONGEST_DIFF):
                self.chat.screen.line(f"  {line}", code)


_KEYS = (
    "Enter sends; a \\ at the end of a line goes on with the next; Tab completes /commands and @files",
    "↑ and ↓ bring back earlier prompts, Ctrl-R searches them; readline's keys edit",
    "Ctrl-C stops a turn, twice leaves; Ctrl-D leaves",
)


def _is(info: SessionInfo, session: SessionInfo | None) -> bool:
    return session is not None and session.id == info.id


def _turned(plan: FileUndo) -> FileUndo:
    """What was changed, from what would undo it."""
    return FileUndo(path=plan.path, present=plan.restored, restored=plan.present, calls=plan.calls)

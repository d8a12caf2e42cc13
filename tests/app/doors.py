"""Every door by which a person or a program reaches a session: lines typed at it, and what is told of them there.

A door is given the same project, settings and scripted model as all others. What came of the lines is read from the
store afterwards, so that it can be compared.
"""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.waiting import patience, patience_left, until
from toolwright.app.line import OwnLine, meaning_of
from toolwright.inbox import Question, Reply, ReplyKind
from toolwright.messages import Assistant, Message, SessionInfo, User
from toolwright.models.scripted import ScriptedTurn
from toolwright.testing import ScriptedModel, make_workspace


@dataclass(frozen=True)
class Record:
    """A session as the store has it."""

    info: SessionInfo
    messages: list[Message]

    @property
    def prompts(self) -> list[User]:
        return [one.info for one in self.messages if isinstance(one.info, User)]

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Who said what."""
        return [(one.info.role, one.text) for one in self.messages if one.text]

    @property
    def errors(self) -> list[str]:
        """How replies have failed."""
        infos = (one.info for one in self.messages)
        return [info.error.name for info in infos if isinstance(info, Assistant) and info.error]

    @property
    def models(self) -> list[str]:
        return [
            f"{one.info.provider_id}/{one.info.model_id}" for one in self.messages if isinstance(one.info, Assistant)
        ]


WORDS = "use the other"
SECOND = "Second."
"""What is answered to a line that is given while another is under way."""
T = TypeVar("T")
KEYS = {"once": "y", "always": "a", "reject": f"n {WORDS}"}


@dataclass
class Place:
    """A project with its settings, and the home of its user."""

    folder: Path
    turns: Sequence[ScriptedTurn] = ()
    config: dict[str, Any] = field(default_factory=dict)
    agent: str = ""
    """Who is chosen at the beginning."""
    agrees: bool = False
    """Whether the person takes the first answer of what is asked with the first line."""
    answer: str = ""
    """How the person answers each permission that is asked for: `once`, `always` or `reject`, with WORDS."""
    asked: int = 0
    """How often that was."""
    session: str = ""
    """The session that is gone on with, by what the person calls it; a new one if empty."""
    stops: bool = False
    """Whether the person stops the first line as soon as a file `started` is there."""

    hurries: bool = False
    """Whether the person gives the second line as soon as that file is there, and then one that is called `go`."""

    def has_started(self) -> bool:
        return (self.folder / "started").exists()

    async def stopping(self, stop: Callable[[], Awaitable[object]]) -> None:
        """Stop what is under way, once, if that is wanted."""
        if self.stops:
            self.stops = False
            await until(self.has_started)
            await stop()

    async def hurrying(self, lines: list[str], say: Callable[[str], Awaitable[T]]) -> list[T]:
        """Give the next line, once, if that is wanted while another is under way."""
        if not self.hurries:
            return []
        self.hurries = False
        await until(self.has_started)
        given = [await say(lines.pop(0))]
        (self.folder / "go").touch()
        return given

    @property
    def home(self) -> Path:
        return self.folder.parent / f"{self.folder.name}.home"

    def write(self) -> None:
        """Write the settings for programs that read them."""
        settings = self.home / ".config" / "toolwright"
        settings.mkdir(parents=True, exist_ok=True)
        script = self.home / "turns.json"
        script.write_text(json.dumps(list(self.turns)))
        (settings / "toolwright.json").write_text(json.dumps({"model": f"scripted/{script}", **self.config}))

    @property
    def chosen(self) -> tuple[str, ...]:
        named = ("--session", self.session) if self.session else ()
        return (*(("--agent", self.agent) if self.agent else ()), *named)

    @property
    def variables(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "xterm", "COLUMNS": "200"}

    async def records(self) -> tuple[list[Record], list[Record]]:
        """The sessions, and those below them, each the oldest first."""
        async with make_workspace(self.folder, keep=True) as workspace:
            listed = sorted(await workspace.sessions.listed(), key=lambda one: one.id)
            found = [Record(one, await workspace.sessions.messages(one.id)) for one in listed]
        return [one for one in found if not one.info.parent_id], [one for one in found if one.info.parent_id]


if TYPE_CHECKING:
    from tests.server.harness import Served
    from tests.tui.stage import Stage

Door = Callable[[Place, Sequence[str]], Awaitable[str]]
"""Types lines one after the other in one session, and returns what was shown."""


def begun(say: Callable[[str], Coroutine[Any, Any, T]]) -> "Callable[[str], Awaitable[asyncio.Task[T]]]":
    """Return a function that begins to say a line and does not wait for what comes of it."""

    async def begin(line: str) -> "asyncio.Task[T]":
        return asyncio.create_task(say(line))

    return begin


async def python(place: Place, lines: Sequence[str]) -> str:
    shown: list[str] = []
    model = ScriptedModel(*place.turns)

    def person(question: Question) -> Reply:
        place.asked += 1
        kind: ReplyKind = "once" if place.answer == "once" else "always" if place.answer == "always" else "reject"
        return Reply(kind=kind, message=WORDS if kind == "reject" else "")

    opened = make_workspace(place.folder, model=model, config=place.config, user=person, keep=True)
    async with opened as workspace, workspace.session(id=place.session) as session:
        left = [*lines]
        while left:
            asking = [asyncio.ensure_future(session.prompt(left.pop(0)))]
            await place.stopping(session.abort)
            asking += await place.hurrying(left, begun(session.prompt))
            shown += [str(result.error or result.text) for result in await asyncio.gather(*asking)]
    return "\n".join(shown)


async def run(place: Place, lines: Sequence[str]) -> str:
    """`tw run`, and `tw run --continue` for what follows."""
    place.write()
    return "\n".join([await _ran(place, line, *(("--continue",) if at else ())) for at, line in enumerate(lines)])


async def _ran(place: Place, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
    if place.answer:
        return await asyncio.to_thread(_run_at_terminal, place, arguments, variables or {})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", "run", "--trust", *place.chosen, *arguments),
        cwd=place.folder,
        env={**place.variables, **(variables or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    reading = asyncio.ensure_future(process.communicate())

    async def interrupt() -> None:
        process.send_signal(signal.SIGINT)

    await place.stopping(interrupt)
    async with patience():
        out, _ = await reading
    return out.decode()


async def killed(place: Place, line: str) -> None:
    """Send a line by `tw run`, and kill that as soon as a file `started` is there."""
    place.write()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", "run", "--trust", line),
        cwd=place.folder,
        env=place.variables,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    await until(place.has_started)
    process.kill()
    await process.wait()


def _run_at_terminal(place: Place, arguments: Sequence[str], more: Mapping[str, str]) -> str:
    """The same with a person at it who answers."""
    from tests.cli.person import at_terminal

    words = ("run", "--trust", *place.chosen, *arguments)
    with at_terminal(place.folder, *words, variables={**place.variables, **more}) as terminal:
        asked, left = 0, patience_left()
        while terminal._read():
            assert left(), terminal.seen
            if terminal.seen.count("Allow?") > asked:
                asked += 1
                terminal.type(KEYS[place.answer])
        place.asked += asked
        terminal.exit_code()
        return terminal.words


async def attached(place: Place, lines: Sequence[str]) -> str:
    """`tw run --attach`, and `--continue` for what follows."""
    pytest.importorskip("uvicorn", reason="the server's parts are an extra")
    from tests.server.harness import TOKEN, served

    shown: list[str] = []
    place.home.mkdir(exist_ok=True)
    async with served(place.folder, *place.turns, config=dict(place.config)) as server:
        more = {"OPENCODE_SERVER_PASSWORD": TOKEN}
        for at, line in enumerate(lines):
            going_on = ("--continue",) if at else ()
            shown.append(await _ran(place, line, "--attach", server.url, *going_on, variables=more))
    return "\n".join(shown)


async def chat(place: Place, lines: Sequence[str]) -> str:
    """The conversation in lines, at a terminal."""
    place.write()
    return await asyncio.to_thread(_chatted, place, lines)


def _chatted(place: Place, lines: Sequence[str]) -> str:
    from tests.cli.person import at_terminal

    with at_terminal(place.folder, "--trust", *place.chosen, variables=place.variables) as terminal:
        terminal.wait_for("> ")
        for line in lines:
            before = len(terminal.seen)
            terminal.type(line)
            left, agrees, asked = patience_left(), place.agrees, 0
            while "\n> " not in _plain(terminal.seen[before:]):
                assert left(), terminal.seen
                terminal._read()
                if terminal.seen[before:].count("Allow?") > asked:
                    asked += 1
                    terminal.type(KEYS[place.answer])
                if place.stops and place.has_started():
                    place.stops = False
                    terminal.press_interrupt()
                if agrees and "A number" in terminal.seen[before:]:
                    agrees = False
                    terminal.type("1")
            place.asked += asked
        terminal.type("/quit")
        terminal.exit_code()
        return terminal.words


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


async def screen(place: Place, lines: Sequence[str]) -> str:
    """The full screen."""
    pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")
    from tests.tui.stage import on_stage
    from toolwright.tui.dialog import TextDialog

    read: list[str] = []
    info = await _info(place) if place.session else None
    async with on_stage(place.folder, *place.turns, config=place.config, size=(120, 60), session=info) as stage:
        stage.talk.desk.agent = place.agent or stage.talk.desk.agent
        waiting = [*lines]
        while waiting:
            await stage.type(waiting.pop(0))
            if place.agrees:
                place.agrees = False
                await stage.asked()
                await stage.press("1")
            await place.stopping(lambda: stage.press("ctrl+c"))
            await place.hurrying(waiting, stage.type)
            await _settled(stage, place)
            if isinstance(stage.app.screen, TextDialog):
                read.append(stage.text)
                await stage.press("escape")
            # What a line has left is gone where the next reads the conversation anew.
            read.append(stage.shown)
        return "\n".join(read)


async def _info(place: Place) -> SessionInfo:
    async with make_workspace(place.folder, keep=True) as workspace:
        return await workspace.sessions.own(place.session)


async def _settled(stage: "Stage", place: Place) -> None:
    """Answer what is asked until a line is carried out."""
    from toolwright.tui.dialog import TextDialog
    from toolwright.tui.permission import PermissionDialog

    def there() -> bool:
        screen = stage.app.screen
        return isinstance(screen, TextDialog | PermissionDialog) or not (stage.talk.busy or list(stage.app.workers))

    await stage.until(there, "the end of the line")
    while isinstance(stage.app.screen, PermissionDialog):
        asked = await stage.asked()
        place.asked += 1
        # For longer is for how long.
        await stage.press(*("a", "a") if place.answer == "always" else KEYS[place.answer][0])
        if place.answer == "reject":
            await stage.until(lambda: stage.app.screen.query_one("#advice").has_focus, "the line for words")
            await stage.press(*("space" if letter == " " else letter for letter in WORDS), "enter")
        await stage.until(partial(_is_left, stage, asked), "the end of the question")
        await stage.until(there, "what comes of the answer")


def _is_left(stage: "Stage", asked: object) -> bool:
    return stage.app.screen is not asked


async def message(place: Place, lines: Sequence[str]) -> str:
    """HTTP: every line as a message."""
    return await _posted(place, lines, by_name=False)


async def command(place: Place, lines: Sequence[str]) -> str:
    """HTTP: a line that names a command as a command, as OpenCode's clients send it."""
    return await _posted(place, lines, by_name=True)


async def _posted(place: Place, lines: Sequence[str], *, by_name: bool) -> str:
    pytest.importorskip("uvicorn", reason="the server's parts are an extra")
    from tests.server.harness import served

    shown: list[str] = []
    async with served(place.folder, *place.turns, config=dict(place.config)) as server:
        session = place.session or await server.session()

        async def say(line: str) -> "asyncio.Task[Any]":
            name, _, rest = line[1:].partition(" ")
            if by_name and line.startswith("/"):
                body = {"command": name, "arguments": rest}
                return asyncio.create_task(server.post(f"/session/{session}/command", body))
            return server.say(session, line)

        left = [*lines]
        while left:
            asking = [await say(left.pop(0))]
            await place.stopping(lambda: server.post(f"/session/{session}/abort"))
            asking += await place.hurrying(left, say)
            for answer in [await _answering(server, place, one) for one in asking]:
                assert answer["info"]["sessionID"] == session
                shown += [part["text"] for part in answer["parts"] if part["type"] == "text"]
                shown.append(str(answer["info"].get("error", "")))
    return "\n".join(shown)


async def _answering(server: "Served", place: Place, work: "asyncio.Task[Any]") -> Any:
    """Answer what is asked until some work is done, and return what it comes to."""
    while place.answer and not work.done():
        for asked in await server.get("/permission"):
            place.asked += 1
            body = {"reply": place.answer, **({"message": WORDS} if place.answer == "reject" else {})}
            await server.post(f"/permission/{asked['id']}/reply", body)
    return await work


async def page(place: Place, lines: Sequence[str]) -> str:
    """The web page, in a browser."""
    pytest.importorskip("uvicorn", reason="the server's parts are an extra")
    from playwright.async_api import expect

    from tests.server.browser import PROGRAM, button, conversation, dialog, opened, read, say
    from tests.server.harness import served

    if not PROGRAM:
        pytest.skip("there is no chromium on this machine")
    path = f"#{place.session}" if place.session else ""
    async with (
        served(place.folder, *place.turns, config=dict(place.config)) as server,
        opened(server.url, path) as shown,
    ):
        if place.agent:
            await shown.get_by_label("Agent", exact=True).select_option(place.agent)
        before = await _messages(server) if place.session else set[str]()
        await expect(shown.locator("article")).to_have_count(len(before))
        told: list[str] = []
        left = [*lines]
        while left:
            line = left.pop(0)
            await say(shown, line)
            if isinstance(meaning_of(line, place.config.get("command", {}), "desk"), OwnLine):
                outcome = dialog(shown, "Command")
                told.append(await outcome.inner_text())
                await button(outcome, "Close").click()
                continue
            if place.agrees:
                place.agrees = False
                asked = dialog(shown, "Question")
                await read(asked)
                await asked.locator(".options button").first.click()
            await place.stopping(button(shown, "Stop").click)
            if place.hurries:
                await place.hurrying(left, partial(say, shown))
                await expect(conversation(shown)).to_contain_text(SECOND)
            answering = asyncio.create_task(_clicking(shown, place))
            before = await _grown(server, before)
            answering.cancel()
            # What the server has done is drawn a moment later; the line that ends a turn comes last.
            await expect(shown.locator("article")).to_have_count(len(before))
            await expect(shown.locator("article").last.locator(".end, .trouble").first).to_be_visible()
        return "\n".join([await conversation(shown).inner_text(), *told])


async def _clicking(shown: Any, place: Place) -> None:
    """Answer every permission that the page asks for."""
    from tests.server.browser import button, dialog, read

    asked = dialog(shown, "Permission")
    while place.answer:
        await read(asked)
        place.asked += 1
        if place.answer == "reject":
            await asked.get_by_label("What to do instead").fill(WORDS)
        names = {"once": "Allow once", "always": "Always allow", "reject": "Reject"}
        await button(asked, names[place.answer]).click()
        await asked.wait_for(state="hidden")


async def _grown(server: "Served", before: set[str]) -> set[str]:
    """Wait until there are new messages in the session, and it rests."""
    left = patience_left()
    while left():
        found = await _messages(server)
        if found > before and not await server.get("/session/status") and found == await _messages(server):
            return found
        await asyncio.sleep(0)
    raise AssertionError("nothing came of the line")


async def _messages(server: "Served") -> set[str]:
    roots = await server.get("/session", params={"roots": "true"})
    return {one["info"]["id"] for info in roots for one in await server.get(f"/session/{info['id']}/message")}


async def editor(place: Place, lines: Sequence[str]) -> str:
    """ACP."""
    from tests.acp.harness import editor as opened
    from toolwright.protocols.jsonrpc import RpcError

    refused: list[str] = []
    async with opened(place.folder, *place.turns, config=dict(place.config)) as person:
        session = place.session or await person.session()
        if place.session:
            await person.ask("session/load", sessionId=session, cwd=str(place.folder), mcpServers=[])
        person.choice = place.answer or "answer:0"
        if place.agent:
            await person.ask("session/set_mode", sessionId=session, modeId=place.agent)
        left = [*lines]
        while left:
            asking = [asyncio.ensure_future(person.prompt(session, left.pop(0)))]
            await place.stopping(partial(person.peer.notify, "session/cancel", {"sessionId": session}))
            asking += await place.hurrying(left, begun(partial(person.prompt, session)))
            for one in asking:
                try:
                    await one
                except RpcError as error:
                    refused.append(str(error))
        place.asked = len(person.requests)
        return "".join([*(one["content"]["text"] for one in person.of_kind("agent_message_chunk")), *refused])


DOORS: dict[str, Door] = {
    "python": python,
    "tw run": run,
    "tw run --attach": attached,
    "chat": chat,
    "full screen": screen,
    "HTTP message": message,
    "HTTP command": command,
    "page": page,
    "editor": editor,
}


def every_door(*but: str) -> pytest.MarkDecorator:
    """A test for each door, without those that are named."""
    found = {name: door for name, door in DOORS.items() if name not in but}
    return pytest.mark.parametrize("door", found.values(), ids=found.keys())


__all__ = ["DOORS", "Door", "Place", "Record", "every_door", "killed"]

"""The terminals that clients have opened, and the WebSockets to them."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from toolwright.http_server.guard import Receive, Scope, Send
from toolwright.http_server.refusal import not_found
from toolwright.process.running.on_terminal import KEPT, PIECE, OnTerminal
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.ids import new_id

MOST = 32
"""Terminals that are open at a time."""

Tell = Callable[[str, str, Json], None]
"""Tells clients of a folder an event, by its kind and properties."""


@record(slots=True, kw_only=True, eq=False)
class Terminal:
    """One terminal, and the program on it."""

    id: str
    directory: Path
    title: str
    command: str
    args: list[str]
    cwd: Path
    program: OnTerminal = field(init=False)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def as_json(self) -> Json:
        status = "exited" if self.over.is_set() else "running"
        row = {"id": self.id, "title": self.title, "command": self.command, "args": self.args}
        return row | {"cwd": str(self.cwd), "status": status, "pid": self.program.pid}


class ServerTerminals:
    """All of one server."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._by_id: dict[str, Terminal] = {}

    def of(self, directory: Path) -> list[Json]:
        return [one.as_json() for one in self._by_id.values() if one.directory == directory]

    def get(self, terminal_id: str) -> Terminal:
        try:
            return self._by_id[terminal_id]
        except KeyError:
            raise not_found(f"There is no terminal {terminal_id[:80]!r}.") from None

    def make(self, directory: Path, environment: Mapping[str, str], body: Json) -> Json:
        """A program on a terminal of its own. OSError or ValueError if it cannot be started."""
        if len(self._by_id) >= MOST:
            raise ValueError(f"there are {MOST} terminals already; remove one")
        shell = environment.get("SHELL") or "/bin/sh"
        command = str(body.get("command") or shell)
        args = [*body.get("args", ()), *(["-l"] if command.endswith("sh") else [])]
        cwd = directory / body.get("cwd", "")
        terminal_id = new_id("pty")
        title = body.get("title") or f"Terminal {terminal_id[-4:]}"
        terminal = Terminal(id=terminal_id, directory=directory, title=title, command=command, args=args, cwd=cwd)
        env = {**environment, **body.get("env", {}), "TERM": "xterm-256color"}
        terminal.program = OnTerminal(
            [command, *args], cwd=cwd, env=env, ended=lambda code: self._ended(terminal, code)
        )
        self._by_id[terminal_id] = terminal
        self._tell(str(directory), "pty.created", {"info": terminal.as_json()})
        return terminal.as_json()

    def change(self, terminal: Terminal, body: Json) -> Json:
        terminal.title = body.get("title") or terminal.title
        if size := body.get("size"):
            terminal.program.resize(int(size["rows"]), int(size["cols"]))
        self._tell(str(terminal.directory), "pty.updated", {"info": terminal.as_json()})
        return terminal.as_json()

    def remove(self, terminal: Terminal) -> None:
        del self._by_id[terminal.id]
        terminal.program.close()
        terminal.over.set()
        self._tell(str(terminal.directory), "pty.deleted", {"id": terminal.id})

    def close(self, directory: Path | None = None) -> None:
        """Remove those of a folder, or all."""
        for terminal in list(self._by_id.values()):
            if directory in (None, terminal.directory):
                self.remove(terminal)

    def _ended(self, terminal: Terminal, code: int) -> None:
        if self._by_id.pop(terminal.id, None) is not None:
            terminal.over.set()
            self._tell(str(terminal.directory), "pty.exited", {"id": terminal.id, "exitCode": code})


async def converse(terminal: Terminal, receive: Receive, send: Send) -> None:
    """Show a client what a terminal prints, and type what it sends, until either is over."""
    printed: asyncio.Queue[str] = asyncio.Queue()
    waiting = [0]

    def heard(text: str) -> None:
        # Whoever is too slow misses the middle, and does not take our memory.
        if waiting[0] < KEPT:
            waiting[0] += len(text)
            printed.put_nowait(text)

    async def show() -> None:
        while True:
            text = await printed.get()
            waiting[0] -= len(text)
            for start in range(0, len(text), PIECE):
                await send({"type": "websocket.send", "text": text[start : start + PIECE]})

    async def take() -> None:
        while (event := await receive())["type"] == "websocket.receive":
            terminal.program.type(event.get("text") or (event.get("bytes") or b"").decode("utf-8", "replace"))

    if terminal.program.printed:
        heard(terminal.program.printed)
    terminal.program.followers.add(heard)
    work = [asyncio.ensure_future(one) for one in (show(), take(), terminal.over.wait())]
    try:
        await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        if terminal.over.is_set():
            while not printed.empty():
                await send({"type": "websocket.send", "text": printed.get_nowait()})
            await send({"type": "websocket.close", "code": 1000})
    except OSError:
        return
    finally:
        terminal.program.followers.discard(heard)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)


def terminal_of(scope: Scope) -> str:
    """The id in the path of a WebSocket; empty for any other path."""
    start, _, end = str(scope["path"]).removeprefix("/pty/").partition("/")
    return start if end == "connect" else ""

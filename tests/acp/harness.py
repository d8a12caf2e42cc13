"""An editor for tests: it speaks the protocol over a pair of sockets, holds buffers and runs terminals."""

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.waiting import patience
from toolwright.acp.agent import EditorAgent
from toolwright.extension import Extension
from toolwright.inbox import Answerer
from toolwright.protocols.json_types import JsonView
from toolwright.protocols.jsonrpc import ACP, Peer, RpcError
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.workspace import Workspace

READ = {"tools": [{"name": "read", "args": {"filePath": "a.py"}}]}
EDIT = {"tools": [{"name": "edit", "args": {"filePath": "a.py", "oldString": "hi", "newString": "bye"}}]}
ASK_EDIT = {"permission": {"edit": "ask"}}
FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}
BOTH = FILES | {"terminal": True}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": tool, "args": arguments}]}


class Editor:
    """What the other side has seen, and how it answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.updates: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.methods: list[str] = []
        """What was asked of it, in order."""
        self.choice = "once"
        self.asked = asyncio.Event()
        self.buffers: dict[str, str] = {}
        """Texts that are not saved."""
        self.answers: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        """Methods that it answers in another way."""
        self.terminals: dict[str, subprocess.Popen[str]] = {}
        self.peer: Peer
        self.first: Any = None
        """The answer to its greeting."""
        self.model: ScriptedModel | None = None
        self.workspaces: list[Workspace] = []
        """Those that were made for it, the last one for its session."""

    async def answer(self, method: str, params: Any) -> Any:
        self.methods.append(method)
        if method in self.answers:
            return await self.answers[method](params)
        match method:
            case "session/request_permission":
                return await self._permission(params)
            case "fs/read_text_file":
                path = params["path"]
                return {"content": self.buffers[path] if path in self.buffers else Path(path).read_text()}
            case "fs/write_text_file":
                self.buffers.pop(params["path"], None)
                with Path(params["path"]).open("w", newline="") as file:
                    file.write(params["content"])
                return {}
        return await self._terminal(method, params)

    async def _permission(self, params: Any) -> Any:
        self.requests.append(params)
        self.asked.set()
        if self.choice == "never":
            await never(params)
        return {"outcome": {"outcome": "selected", "optionId": self.choice}}

    async def _terminal(self, method: str, params: Any) -> Any:
        if method == "terminal/create":
            name = f"term_{len(self.terminals) + 1}"
            words = [params["command"], *params["args"]]
            self.terminals[name] = subprocess.Popen(
                words, cwd=params["cwd"], text=True, stdout=-1, stderr=subprocess.STDOUT
            )
            return {"terminalId": name}
        running = self.terminals[params["terminalId"]]
        match method:
            case "terminal/wait_for_exit":
                code = await asyncio.to_thread(running.wait)
                return {"exitCode": code if code >= 0 else None, "signal": "SIGKILL" if code < 0 else None}
            case "terminal/kill":
                running.kill()
                return {}
            case "terminal/output":
                said, _ = await asyncio.to_thread(running.communicate)
                return {"output": said, "truncated": False}
            case "terminal/release":
                return {}
        raise RpcError(f"There is no method {method}.", -32601)

    def notified(self, method: str, params: Any) -> None:
        assert method == "session/update"
        self.updates.append(params["update"])

    async def ask(self, method: str, **params: Any) -> Any:
        async with patience():
            return await self.peer.request(method, params)

    async def session(self, **more: Any) -> str:
        made = await self.ask("session/new", **{"cwd": str(self.folder), "mcpServers": [], **more})
        return str(made["sessionId"])

    async def prompt(self, session: str, text: str) -> Any:
        return await self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def kinds(self) -> list[str]:
        return [one["sessionUpdate"] for one in self.updates]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.updates if one["sessionUpdate"] == kind]

    def ends(self) -> list[dict[str, Any]]:
        """How each call ended."""
        return [one for one in self.of_kind("tool_call_update") if one.get("status") in ("completed", "failed")]


async def never(_: Any) -> None:
    await asyncio.Event().wait()


async def refused(_: Any) -> None:
    raise RpcError("not today")


async def _streams(made: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(sock=made)


@asynccontextmanager
async def editor(
    folder: Path,
    *turns: Any,
    config: dict[str, Any] | None = None,
    can: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    trust: bool = True,
) -> AsyncIterator[Editor]:
    folder.mkdir(exist_ok=True)
    (folder / "a.py").write_text('print("hi")\n')
    model = ScriptedModel(*turns) if turns else None
    person = Editor(folder)
    given = config or {}

    def make(path: Path, answer: Answerer, *, config: JsonView, extensions: list[Extension]) -> Workspace:
        made = make_workspace(
            path,
            model=model,
            config={**given, **config},
            user=answer,
            client="acp",
            keep=True,
            extensions=extensions,
            environment=environment,
            trust=trust,
        )
        person.workspaces.append(made)
        return made

    ours, theirs = socket.socketpair()
    agent = EditorAgent(folder, make)
    async with (
        Peer(*await _streams(ours), ACP, answer=agent.answer, notified=agent.notified) as served,
        Peer(*await _streams(theirs), ACP, answer=person.answer, notified=person.notified) as peer,
    ):
        person.peer = peer
        serving = asyncio.create_task(agent.serve(served))
        person.first = await person.ask("initialize", protocolVersion=7, clientCapabilities=can or {})
        person.model = model
        try:
            yield person
        finally:
            for running in person.terminals.values():
                running.kill()
                await asyncio.to_thread(running.__exit__, None, None, None)
            await peer.close()
            await serving

"""The agent an editor talks to: sessions, prompts, modes and models, each method of the protocol once."""

import asyncio
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Protocol

from toolwright.acp.blocks import read_blocks
from toolwright.acp.delegation import delegation
from toolwright.acp.editor import FAILED, Abilities, Editor
from toolwright.acp.folders import folders_of, open_folders
from toolwright.acp.login import login_methods
from toolwright.acp.open_session import OpenSession
from toolwright.acp.outcome import outcome_of
from toolwright.acp.permission import put
from toolwright.acp.servers import servers_of
from toolwright.acp.updates import Updates, plan
from toolwright.app.desk import Desk
from toolwright.app.line import OwnLine, ShellLine, meaning_of
from toolwright.app.project import LocalProject
from toolwright.app.shell_line import run_line
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Event
from toolwright.extension import Extension
from toolwright.inbox import NOBODY, Answerer, Question, Reply
from toolwright.messages import Assistant
from toolwright.proof.goal import goal_of
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json, JsonView
from toolwright.protocols.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Peer, RpcError
from toolwright.session.prompt import Attached, Prompt
from toolwright.session.session import Session
from toolwright.text.ids import new_id
from toolwright.version import VERSION
from toolwright.workspace import Workspace

NO_MODEL = -32000
NOT_FOUND = -32002
PAGE = 50
ANNOUNCED_AFTER = 0.05
"""Seconds until a new session's commands are announced: the editor has to know the session first."""


class MakeWorkspace(Protocol):
    """Makes the workspace of a folder, with more of what its settings say, and what the editor brings."""

    def __call__(self, path: Path, answer: Answerer, *, config: JsonView, extensions: list[Extension]) -> Workspace: ...


class EditorAgent:
    """Everything one editor has open."""

    def __init__(self, folder: Path, make: MakeWorkspace) -> None:
        self._folder, self._make = folder, make
        self._editor = Editor()
        self._workspaces: dict[Path, Workspace] = {}
        self._opening = asyncio.Lock()
        self._sessions: dict[str, OpenSession] = {}
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._methods = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/fork": self._fork,
            "session/close": self._close_session,
            "session/delete": self._delete,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
            "session/set_config_option": self._set_option,
        }

    async def serve(self, peer: Peer) -> None:
        """Answer until the editor is gone."""
        try:
            await self._editor.serve(peer)
        finally:
            own = [known.workspace for known in self._sessions.values() if known.own]
            for workspace in (*own, *self._workspaces.values()):
                await workspace.close()

    async def answer(self, method: str, params: Any) -> Any:
        if method not in self._methods:
            raise RpcError(f"There is no method {method[:80]!r}.", METHOD_NOT_FOUND)
        if params and not isinstance(params, dict):
            raise RpcError("params must be an object.", INVALID_PARAMS)
        try:
            return await self._methods[method](params or {})
        except ToolwrightError as error:
            raise RpcError(str(error), INVALID_PARAMS) from error

    def notified(self, method: str, params: Any) -> None:
        name = params.get("sessionId") if isinstance(params, dict) else None
        known = self._sessions.get(name) if isinstance(name, str) else None
        if method == "session/cancel" and known is not None:
            self._editor.begin(known.cancel())

    # Beginning.

    async def _initialize(self, params: Json) -> Json:
        self._editor.can = Abilities.of(params.get("clientCapabilities"))
        try:
            workspace = self._make(self._folder, self._ask, config={}, extensions=[])
        except ToolwrightError:
            methods: list[Json] = []
        else:
            methods = [] if _why_no_model(workspace) is None else login_methods(self._editor.can)
            await workspace.close()
        return {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": False},
                "sessionCapabilities": {
                    "list": {},
                    "resume": {},
                    "close": {},
                    "delete": {},
                    "fork": {},
                    "additionalDirectories": {},
                },
            },
            "agentInfo": {"name": "toolwright", "title": "Toolwright", "version": VERSION},
            "authMethods": methods,
        }

    async def _authenticate(self, _: Json) -> Json:
        workspace = self._make(self._folder, self._ask, config={}, extensions=[])
        try:
            _require_model(workspace)
        finally:
            await workspace.close()
        return {}

    async def _workspace(self, cwd: Any, config: JsonView | None = None) -> Workspace:
        """The workspace of a folder; one of its own for who brings settings."""
        if not isinstance(cwd, str) or not Path(cwd).is_absolute() or "\0" in cwd:
            raise RpcError("cwd must be an absolute path.", INVALID_PARAMS)
        path = Path(cwd).resolve()
        async with self._opening:
            if config or path not in self._workspaces:
                workspace = self._make(
                    path, self._ask, config=config or {}, extensions=[delegation(self._editor, self._root)]
                )
                await workspace.__aenter__()
                workspace.bus.subscribe(lambda event: self._hear(workspace, event))
                if config:
                    return workspace
                self._workspaces[path] = workspace
            return self._workspaces[path]

    def _hear(self, workspace: Workspace, event: Event) -> None:
        for session_id, known in list(self._sessions.items()):
            if known.workspace is workspace:
                known.desk.take(event)
                for update in known.updates.of(event):
                    self._editor.tell(session_id, update)

    def _root(self, session_id: str) -> OpenSession | None:
        """The session that the editor knows, of it or of one below it."""
        if session_id in self._sessions:
            return self._sessions[session_id]
        for workspace in {known.workspace for known in self._sessions.values()}:
            below = workspace.sessions_open.get(session_id)
            if below is not None and below.callers:
                return self._sessions.get(below.callers[-1])
        return None

    async def _ask(self, question: Question) -> Reply:
        """Put a question to the person; those of subagents stand under the session the editor knows."""
        known = self._root(question.session_id)
        if known is None:
            return Reply(kind="reject", message=NOBODY)
        async with self._asking[known.session.id]:
            await self._editor.flush()
            try:
                return await put(question, known, self._editor)
            except FAILED:
                return Reply(kind="reject")

    # Sessions.

    def _hold(self, workspace: Workspace, session: Session, cwd: str, *, own: bool) -> Json:
        updates = Updates(workspace, session.id, cwd.rstrip("/") or "/", _title=session.info.title, _mode=session.agent)
        desk = Desk(project=LocalProject(workspace), agent=session.agent, session=session.info)
        self._sessions[session.id] = OpenSession(
            workspace=workspace, session=session, updates=updates, desk=desk, own=own
        )
        return self._sessions[session.id].state()

    def _announce(self, known: OpenSession) -> None:
        """Tell what can be called in a session, if that is news."""
        session_id = known.session.id
        if self._sessions.get(session_id) is known and (commands := known.commands()) != known.announced:
            known.announced = commands
            self._editor.tell(session_id, {"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def _announce_soon(self, known: OpenSession) -> None:
        asyncio.get_running_loop().call_later(ANNOUNCED_AFTER, self._announce, known)

    async def _new(self, params: Json) -> Json:
        servers, folders = servers_of(params.get("mcpServers")), folders_of(params.get("additionalDirectories"))
        workspace = await self._workspace(params.get("cwd"), {"mcp": servers} if servers else None)
        try:
            _require_model(workspace)
        except RpcError:
            if servers:
                await workspace.close()
            raise
        session = workspace.sessions.create()
        open_folders(session, folders)
        state = self._hold(workspace, session, params["cwd"], own=bool(servers))
        self._announce_soon(self._sessions[session.id])
        return {"sessionId": session.id, **state}

    async def _find_session(self, params: Json) -> tuple[Workspace, str]:
        workspace = await self._workspace(params.get("cwd") or str(self._folder))
        session_id = str(params.get("sessionId", ""))
        try:
            await workspace.sessions.info(session_id)
        except ToolwrightError as error:
            raise RpcError(f"There is no session {session_id[:80]!r}.", NOT_FOUND) from error
        return workspace, session_id

    async def _reopened(self, params: Json) -> tuple[OpenSession, Json]:
        """An earlier session, with the servers that the editor brings for it."""
        workspace, session_id = await self._find_session(params)
        held = self._sessions.get(session_id)
        if held is not None and held.session.turns.busy:
            raise RpcError(f"{session_id} is at work. Wait for it, or cancel it first.", INVALID_REQUEST)
        folders = folders_of(params.get("additionalDirectories"))
        if servers := servers_of(params.get("mcpServers")):
            workspace = await self._workspace(params.get("cwd") or str(self._folder), {"mcp": servers})
        if held is not None:
            await self._let_go(held)
        session = await workspace.sessions.open(session_id)
        open_folders(session, folders)
        self._hold(workspace, session, params.get("cwd") or str(self._folder), own=bool(servers))
        known = self._sessions[session_id]
        await known.restore_choices()
        return known, known.state()

    async def _load(self, params: Json) -> Json:
        known, state = await self._reopened(params)
        session_id = known.session.id
        for update in known.updates.replay(await known.session.conversation.all_messages()):
            self._editor.tell(session_id, update)
        if todos := await known.workspace.todos.of(session_id):
            self._editor.tell(session_id, plan([to_json(one) for one in todos]))
        self._announce(known)
        await self._editor.flush()
        return state

    async def _resume(self, params: Json) -> Json:
        known, state = await self._reopened(params)
        self._announce(known)
        return state

    async def _list(self, params: Json) -> Json:
        workspace = await self._workspace(params.get("cwd") or str(self._folder))
        cursor = str(params.get("cursor") or "0")
        if not cursor.isascii() or not cursor.isdecimal() or len(cursor) > 9:
            raise RpcError(f"{cursor[:40]!r} is no cursor of ours. Leave it out to begin anew.", INVALID_PARAMS)
        start = int(cursor)
        listed = await workspace.sessions.listed(start + PAGE + 1, roots=True)
        rows = [
            {
                "sessionId": info.id,
                "cwd": info.directory,
                "title": info.title,
                "updatedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime((info.time.updated or 0) / 1000)),
            }
            for info in listed[start : start + PAGE]
        ]
        return {"sessions": rows} | ({"nextCursor": str(start + PAGE)} if len(listed) > start + PAGE else {})

    async def _fork(self, params: Json) -> Json:
        workspace, session_id = await self._find_session(params)
        copy = await workspace.sessions.fork(session_id)
        known, state = await self._reopened(params | {"sessionId": copy.id})
        self._announce_soon(known)
        return {"sessionId": copy.id, **state}

    async def _close_session(self, params: Json) -> Json:
        await self._let_go(self._known(params))
        return {}

    async def _let_go(self, known: OpenSession) -> None:
        await known.session.close()
        await self._editor.flush()
        self._sessions.pop(known.session.id, None)
        if known.own:
            await known.workspace.close()

    async def _delete(self, params: Json) -> Json:
        workspace, session_id = await self._find_session(params)
        if session_id in self._sessions:
            await self._let_go(self._sessions[session_id])
        await workspace.sessions.delete(session_id)
        return {}

    def _known(self, params: Json) -> OpenSession:
        session_id = str(params.get("sessionId", ""))
        if session_id not in self._sessions:
            raise RpcError(f"There is no session {session_id[:80]!r} open. Make or load it first.", NOT_FOUND)
        return self._sessions[session_id]

    # Turns.

    async def _prompt(self, params: Json) -> Json:
        known = self._known(params)
        text, files = read_blocks(params.get("prompt"))
        if known.prompted or known.session.turns.busy:
            raise RpcError(f"{known.session.id} is at work. Wait for it, or cancel it first.", INVALID_REQUEST)
        known.prompted = object()
        try:
            return await self._answered(known, text, files)
        except asyncio.CancelledError:
            # Whoever hears that the request is cancelled may send the next.
            await known.session.abort()
            raise
        finally:
            known.prompted = None
            self._announce(known)
            await self._editor.flush()

    async def _answered(self, known: OpenSession, text: str, files: tuple[Attached, ...]) -> Json:
        session, desk = known.session, known.desk
        prompt = Prompt(
            waits=False,
            text=text,
            files=files,
            agent=desk.agent,
            model=desk.model,
            variant=desk.variant,
            message_id=new_id("msg"),
            until=goal_of(desk.goal) if desk.goal else None,
        )
        match meaning_of(text, known.workspace.commands, desk.room):
            case OwnLine(command=command, rest=rest):
                for update in known.updates.outcome(await command.run(desk, rest)):
                    self._editor.tell(session.id, update)
                return {"stopReason": "end_turn"}
            case ShellLine(command=line):
                end = await run_line(session, line, prompt)
            case _:
                end = await session.turns.answer_whole(prompt)
        info = end.message.info
        assert isinstance(info, Assistant)
        return outcome_of(info)

    async def _set_mode(self, params: Json) -> Json:
        known = self._known(params)
        known.choose_mode(str(params.get("modeId", "")))
        for update in known.updates.mode(known.desk.agent):
            self._editor.tell(known.session.id, update)
        return {}

    async def _set_model(self, params: Json) -> Json:
        known = self._known(params)
        known.choose_model(str(params.get("modelId", "")))
        self._tell_options(known)
        return {}

    async def _set_option(self, params: Json) -> Json:
        known = self._known(params)
        value, session_id = params.get("value"), known.session.id
        match params.get("configId"):
            case "model":
                await self._set_model({"sessionId": session_id, "modelId": value})
            case "mode":
                await self._set_mode({"sessionId": session_id, "modeId": value})
                self._tell_options(known)
            case "variant":
                known.choose_variant(str(value))
                self._tell_options(known)
            case other:
                raise RpcError(f"There is no option {str(other)[:40]!r}: model, mode or variant.", INVALID_PARAMS)
        await self._editor.flush()
        return {"configOptions": known.options()}

    def _tell_options(self, known: OpenSession) -> None:
        update = {"sessionUpdate": "config_option_update", "configOptions": known.options()}
        self._editor.tell(known.session.id, update)


def _why_no_model(workspace: Workspace) -> ToolwrightError | None:
    try:
        if not workspace.default_model:
            return UsageError("No model is chosen. Set `model` in toolwright.json; tw models lists them.")
        workspace.connections.open(workspace.default_model)
    except ToolwrightError as error:
        return error
    return None


def _require_model(workspace: Workspace) -> None:
    if (why := _why_no_model(workspace)) is not None:
        raise RpcError(str(why), NO_MODEL) from why

"""The agent an editor talks to: sessions, prompts, modes and models, each method of the protocol once."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwright.acp.blocks import read_blocks
from toolwright.acp.permission import reply_of, request_of
from toolwright.acp.updates import Updates, plan
from toolwright.commands import called_by, fill_in
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Event
from toolwright.ids import new_id
from toolwright.inbox import NOBODY, Answerer, Question, Reply
from toolwright.jsontypes import Json
from toolwright.messages import Assistant
from toolwright.rpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Peer, RpcClosed, RpcError
from toolwright.session.prompt import Prompt
from toolwright.session.session import Session
from toolwright.version import VERSION
from toolwright.wire import to_json
from toolwright.workspace import Workspace

NO_MODEL = -32000
NOT_FOUND = -32002
PAGE = 50
ANNOUNCED_AFTER = 0.05
_STOPS = {"length": "max_tokens", "content-filter": "refusal"}


class EditorAgent:
    """Everything one editor has open."""

    def __init__(self, folder: Path, make: Callable[[Path, Answerer], Workspace]) -> None:
        self._folder, self._make = folder, make
        self._peer: Peer | None = None
        self._workspaces: dict[Path, Workspace] = {}
        self._sessions: dict[str, tuple[Workspace, Session, Updates]] = {}
        self._models: dict[str, str] = {}
        self._queue: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: set[asyncio.Task[Any]] = set()
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
        self._peer = peer
        sending = asyncio.create_task(self._send_updates())
        try:
            await peer.ended.wait()
        finally:
            sending.cancel()
            for workspace in self._workspaces.values():
                await workspace.close()

    async def answer(self, method: str, params: Any) -> Any:
        if method not in self._methods:
            raise RpcError(f"There is no method {method[:80]!r}.", METHOD_NOT_FOUND)
        if not isinstance(params, dict):
            raise RpcError("params is an object.", INVALID_PARAMS)
        try:
            return await self._methods[method](params)
        except ToolwrightError as error:
            raise RpcError(str(error), INVALID_PARAMS) from error

    def notified(self, method: str, params: Any) -> None:
        known = self._sessions.get(params.get("sessionId", "")) if isinstance(params, dict) else None
        if method == "session/cancel" and known is not None:
            task = asyncio.get_running_loop().create_task(known[1].abort())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    # Updates, in order, before the answer they belong to.

    def _tell(self, session_id: str, update: Json) -> None:
        self._queue.put_nowait((session_id, update))

    async def _send_updates(self) -> None:
        held: tuple[str, Json] | None = None
        while True:
            session_id, update = held or await self._queue.get()
            held, joined = None, 1
            while update["sessionUpdate"].endswith("_chunk") and not self._queue.empty():
                following = self._queue.get_nowait()
                if following[0] != session_id or following[1]["sessionUpdate"] != update["sessionUpdate"]:
                    held = following
                    break
                text = update["content"]["text"] + following[1]["content"]["text"]
                update = {**update, "content": {"type": "text", "text": text}}
                joined += 1
            try:
                if self._peer is not None:
                    await self._peer.notify("session/update", {"sessionId": session_id, "update": update})
            except RpcClosed:
                return
            finally:
                for _ in range(joined):
                    self._queue.task_done()

    # Beginning.

    async def _initialize(self, _: Json) -> Json:
        return {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": False, "sse": False},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}},
            },
            "agentInfo": {"name": "toolwright", "title": "Toolwright", "version": VERSION},
            "authMethods": [],
        }

    async def _authenticate(self, _: Json) -> Json:
        workspace = await self._workspace(str(self._folder))
        self._require_model(workspace)
        return {}

    def _require_model(self, workspace: Workspace) -> None:
        try:
            if not workspace.default_model:
                raise UsageError("No model is chosen. Set `model` in toolwright.json; tw models lists them.")
            workspace.connections.open(workspace.default_model)
        except ToolwrightError as error:
            raise RpcError(str(error), NO_MODEL) from error

    async def _workspace(self, cwd: Any) -> Workspace:
        if not isinstance(cwd, str) or not Path(cwd).is_absolute() or "\0" in cwd:
            raise RpcError("cwd is an absolute path.", INVALID_PARAMS)
        path = Path(cwd).resolve()
        if path not in self._workspaces:
            workspace = self._make(path, self._ask)
            await workspace.__aenter__()
            workspace.bus.subscribe(self._hear)
            self._workspaces[path] = workspace
        return self._workspaces[path]

    def _hear(self, event: Event) -> None:
        for session_id, (_, _, updates) in list(self._sessions.items()):
            for update in updates.of(event):
                self._tell(session_id, update)

    async def _ask(self, question: Question) -> Reply:
        """Put a question to the person; those of subagents stand under the session the editor knows."""
        root = question.callers[-1] if question.callers else question.session_id
        if question.kind != "permission" or self._peer is None or root not in self._sessions:
            return Reply(kind="reject", message=NOBODY)
        async with self._asking[root]:
            await self._queue.join()
            directory = str(self._sessions[root][0].directory)
            try:
                answer = await self._peer.request("session/request_permission", request_of(question, root, directory))
            except (RpcError, RpcClosed):
                return Reply(kind="reject")
        return reply_of(question, answer)

    # Sessions.

    def _hold(self, workspace: Workspace, session: Session) -> Json:
        self._sessions[session.id] = (workspace, session, Updates(workspace, session.id, _title=session.info.title))
        return self._state(session.id)

    def _state(self, session_id: str) -> Json:
        workspace, session, _ = self._sessions[session_id]
        modes = [
            {"id": agent.name, "name": agent.name.capitalize(), "description": agent.description}
            for agent in workspace.agents.visible()
            if agent.mode != "subagent"
        ]
        model = self._models.get(session_id) or workspace.default_model.partition(",")[0].strip()
        names = self._model_names(workspace, model)
        options = [
            _option("model", "Model", "model", model, [(name, name) for name in names]),
            _option("mode", "Mode", "mode", session.agent, [(one["id"], one["name"]) for one in modes]),
        ]
        return {
            "modes": {"currentModeId": session.agent, "availableModes": modes},
            "models": {
                "currentModelId": model,
                "availableModels": [{"modelId": name, "name": name} for name in names],
            },
            "configOptions": options,
        }

    def _model_names(self, workspace: Workspace, chosen: str) -> list[str]:
        from toolwright.server.shapes import providers_json

        found = providers_json(workspace)
        ready = (one for one in found["all"] if one["id"] in found["connected"])
        return list(dict.fromkeys([chosen, *(f"{one['id']}/{model}" for one in ready for model in one["models"])]))

    def _announce(self, session_id: str) -> None:
        if session_id not in self._sessions:
            return
        workspace = self._sessions[session_id][0]
        commands = [
            {"name": one.name, "description": one.description or one.name}
            | ({"input": {"hint": " ".join(one.hints)}} if one.hints else {})
            for one in workspace.commands.all()
        ]
        commands.append({"name": "compact", "description": "put a summary in the place of the conversation"})
        self._tell(session_id, {"sessionUpdate": "available_commands_update", "availableCommands": commands})

    async def _new(self, params: Json) -> Json:
        workspace = await self._workspace(params.get("cwd"))
        self._require_model(workspace)
        session = workspace.sessions.create()
        state = self._hold(workspace, session)
        # The editor has to know the session before it hears of it.
        asyncio.get_running_loop().call_later(ANNOUNCED_AFTER, self._announce, session.id)
        return {"sessionId": session.id, **state}

    async def _found(self, params: Json) -> tuple[Workspace, str]:
        workspace = await self._workspace(params.get("cwd") or str(self._folder))
        session_id = str(params.get("sessionId", ""))
        try:
            await workspace.sessions.info(session_id)
        except ToolwrightError as error:
            raise RpcError(f"There is no session {session_id[:80]!r}.", NOT_FOUND) from error
        return workspace, session_id

    async def _load(self, params: Json) -> Json:
        workspace, session_id = await self._found(params)
        session = await workspace.sessions.open(session_id)
        state = self._hold(workspace, session)
        for update in self._sessions[session_id][2].replay(await session.conversation.all_messages()):
            self._tell(session_id, update)
        if todos := await workspace.todos.of(session_id):
            self._tell(session_id, plan([to_json(one) for one in todos]))
        self._announce(session_id)
        await self._queue.join()
        return state

    async def _resume(self, params: Json) -> Json:
        workspace, session_id = await self._found(params)
        state = self._hold(workspace, await workspace.sessions.open(session_id))
        self._announce(session_id)
        return state

    async def _list(self, params: Json) -> Json:
        workspace = await self._workspace(params.get("cwd") or str(self._folder))
        given = str(params.get("cursor") or "0")
        start = int(given) if given.isdecimal() else 0
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
        workspace, session_id = await self._found(params)
        copy = await workspace.sessions.fork(session_id)
        state = self._hold(workspace, await workspace.sessions.open(copy.id))
        self._announce(copy.id)
        return {"sessionId": copy.id, **state}

    async def _close_session(self, params: Json) -> Json:
        _, session, _ = self._known(params)
        await session.close()
        await self._queue.join()
        del self._sessions[session.id]
        return {}

    async def _delete(self, params: Json) -> Json:
        workspace, session_id = await self._found(params)
        await workspace.sessions.delete(session_id)
        self._sessions.pop(session_id, None)
        return {}

    def _known(self, params: Json) -> tuple[Workspace, Session, Updates]:
        session_id = str(params.get("sessionId", ""))
        if session_id not in self._sessions:
            raise RpcError(f"There is no session {session_id[:80]!r} open. Make or load it first.", NOT_FOUND)
        return self._sessions[session_id]

    # Turns.

    async def _prompt(self, params: Json) -> Json:
        workspace, session, _ = self._known(params)
        text, files = read_blocks(params.get("prompt"))
        if session.turns.busy:
            raise RpcError(f"{session.id} is at work. Wait for it, or cancel it first.", INVALID_REQUEST)
        if text.strip() == "/compact":
            await session.turns.compact(self._models.get(session.id, ""))
            await self._queue.join()
            return {"stopReason": "end_turn"}
        called = called_by(text, workspace.commands)
        prompt = Prompt(
            text=await fill_in(*called, session) if called else text,
            files=files,
            agent=(called[0].agent if called else "") or session.agent,
            model=self._models.get(session.id, ""),
            message_id=new_id("msg"),
        )
        info = (await session.turns.answer(prompt)).message.info
        await self._queue.join()
        assert isinstance(info, Assistant)
        return _ended(info)

    async def _set_mode(self, params: Json) -> Json:
        workspace, session, _ = self._known(params)
        name = str(params.get("modeId", ""))
        agent = workspace.agents[name]
        if agent.hidden or agent.mode == "subagent":
            raise RpcError(f"{name} is no mode.", INVALID_PARAMS)
        session.agent = name
        self._tell(session.id, {"sessionUpdate": "current_mode_update", "currentModeId": name})
        return {}

    async def _set_model(self, params: Json) -> Json:
        workspace, session, _ = self._known(params)
        name = str(params.get("modelId", ""))
        workspace.connections.open(name)
        self._models[session.id] = name
        return {}

    async def _set_option(self, params: Json) -> Json:
        _, session, _ = self._known(params)
        value = params.get("value")
        match params.get("configId"):
            case "model":
                await self._set_model({"sessionId": session.id, "modelId": value})
            case "mode":
                await self._set_mode({"sessionId": session.id, "modeId": value})
            case other:
                raise RpcError(f"There is no option {str(other)[:40]!r}: model or mode.", INVALID_PARAMS)
        options = self._state(session.id)["configOptions"]
        self._tell(session.id, {"sessionUpdate": "config_option_update", "configOptions": options})
        return {"configOptions": options}


def _option(name: str, title: str, category: str, current: str, choices: list[tuple[str, str]]) -> Json:
    options = [{"value": value, "name": shown} for value, shown in choices]
    return {
        "id": name,
        "name": title,
        "category": category,
        "type": "select",
        "currentValue": current,
        "options": options,
    }


def _ended(info: Assistant) -> Json:
    """How a turn ended; a failure of the model is an error of the request."""
    tokens = info.tokens
    usage = {
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "totalTokens": tokens.total,
        "thoughtTokens": tokens.reasoning,
        "cachedReadTokens": tokens.cache.read,
        "cachedWriteTokens": tokens.cache.write,
    }
    if info.error is None:
        return {"stopReason": _STOPS.get(info.finish or "", "end_turn"), "usage": usage}
    match info.error.name:
        case "MessageAbortedError":
            return {"stopReason": "cancelled", "usage": usage}
        case "LimitReachedError":
            return {"stopReason": "max_turn_requests", "usage": usage}
    raise RpcError(f"{info.error.name}: {info.error.data.get('message', '')}")

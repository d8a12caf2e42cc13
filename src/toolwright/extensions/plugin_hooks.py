"""Hooks of plugins, by OpenCode's names and shapes, around ours."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from toolwright.config.auth import AuthFile
from toolwright.definition import Call, Result, ToolContext
from toolwright.errors import PermissionDenied, ToolError
from toolwright.events import Event
from toolwright.extension import ExtensionProblem, Hook
from toolwright.extensions.answering import answering_first
from toolwright.extensions.contributions import join_contributions
from toolwright.extensions.home import ExtensionHome
from toolwright.extensions.memory import Memory
from toolwright.extensions.packages import PackageStore
from toolwright.extensions.plugin_logins import PluginLogins
from toolwright.extensions.plugins import Plugin, Plugins, plugin_sources
from toolwright.extensions.typed import entry_point, is_typed
from toolwright.hooks import Proceed
from toolwright.inbox import Question, Reply
from toolwright.models.hooked import ModelRequest, Stream
from toolwright.models.model import AssistantMessage, ModelMessage, SystemMessage, ToolMessage, ToolSpec, UserMessage
from toolwright.process.programs.environment import ADDED
from toolwright.protocols.json_types import Json
from toolwright.session.events import SessionStatus
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnEnd

WAITING = 1000
"""Events that wait for slow plugins before the oldest are dropped."""
FAREWELL = 5.0
"""Seconds that the last events have to be heard when the workspace closes."""


@asynccontextmanager
async def with_plugins(workspace: ExtensionHome) -> AsyncIterator[None]:
    """Join the plugins of the settings and folders to a workspace, as long as it is open."""
    from toolwright.extensions import active_folders

    store = store_of(workspace)
    sources, missing = plugin_sources(workspace.config, active_folders(workspace.config), store)
    missing = [(name, reason) for name, reason in missing if entry_point(name) is None]
    plugins = Plugins(
        plugins=[Plugin(source=source) for source in sources if not is_typed(source.path)],
        hosts=workspace.hosts,
        registry=workspace.registry,
        memory=Memory(folder=workspace.folders.cache / "plugins"),
        store=store,
        logins=PluginLogins(connections=lambda: workspace.connections, file=AuthFile(workspace.folders.auth)),
        tell=partial(_tell_users, workspace),
        settings=lambda: _json(workspace.config.data),
        join=partial(join_contributions, workspace),
    )
    workspace.problems += (ExtensionProblem(name=name, reason=reason) for name, reason in missing)
    workspace.reports.append(
        lambda: [ExtensionProblem(name=str(one.source.path), reason=one.error) for one in plugins.plugins if one.error]
    )
    workspace.plugins = plugins
    plugins.recall()
    hook = _hook(plugins)
    workspace.hooks.append(hook)
    if hook.call is not None:
        workspace.caller.hooks.append(hook.call)
    workspace.inbox.answer = answering_first(_decides(plugins), workspace.inbox.answer)
    earlier = workspace.registry.refresh

    async def refresh(wanted: str) -> None:
        await plugins.described()
        if earlier is not None:
            await earlier(wanted)

    workspace.registry.refresh = refresh
    telling = asyncio.create_task(_tell(plugins, following := workspace.bus.follow(limit=WAITING)))
    try:
        yield
    finally:
        following.close()
        await asyncio.wait([telling], timeout=FAREWELL)
        telling.cancel()
        workspace.registry.refresh = earlier


def store_of(workspace: ExtensionHome) -> PackageStore:
    """Return the store of the packages of a user's plugins."""
    folder = workspace.folders.data / "plugins"
    return PackageStore(folder=folder, lookup=workspace.lookup, environment=workspace.environment)


def _hook(plugins: Plugins) -> Hook:
    async def around_call(proceed: Proceed, call: Call, ctx: ToolContext) -> Result:
        about: Json = {"tool": call.tool, "sessionID": ctx.session_id, "callID": ctx.call_id}
        if isinstance(call.arguments, dict):
            before = await _guarded(plugins, about, call.arguments)
            call = replace(call, arguments=(before or {}).get("args", call.arguments))
        added = await _variables(plugins, call, ctx)
        token = ADDED.set(added) if added else None
        try:
            result = await proceed(call)
        finally:
            if token is not None:
                ADDED.reset(token)
        if result.error is not None:
            return result
        view: Json = {"title": result.title, "output": result.output, "metadata": dict(result.metadata)}
        after = await plugins.fire("tool.execute.after", {**about, "args": call.arguments}, view)
        return _changed(result, after)

    async def around_prompt(
        proceed: Callable[[Prompt], Awaitable[TurnEnd]], prompt: Prompt, session_id: str
    ) -> TurnEnd:
        if not plugins.has("chat.message"):
            return await proceed(prompt)
        part = {"type": "text", "text": prompt.text, "sessionID": session_id, "messageID": prompt.message_id}
        message = {"id": prompt.message_id, "sessionID": session_id, "role": "user", "agent": prompt.agent}
        about = {"sessionID": session_id, "agent": prompt.agent, "messageID": prompt.message_id}
        answer = await plugins.fire("chat.message", about, {"message": message, "parts": [part]}) or {}
        texts = [str(one.get("text", "")) for one in answer.get("parts", [part]) if one.get("type") == "text"]
        return await proceed(replace(prompt, text="\n\n".join(texts)))

    async def around_request(proceed: Stream, request: ModelRequest) -> AsyncIterator[Any]:
        async for event in proceed(await _transformed(plugins, request)):
            yield event

    async def around_compaction(proceed: Callable[[], Awaitable[None]], session_id: str) -> None:
        await plugins.fire("experimental.session.compacting", {"sessionID": session_id}, {"context": []})
        await proceed()

    return Hook(call=around_call, prompt=around_prompt, request=around_request, compaction=around_compaction)


async def _guarded(plugins: Plugins, about: Json, arguments: Json) -> Json | None:
    """Return what the plugins make of the arguments. What one of them throws here is its way to say no."""
    try:
        return await plugins.fire("tool.execute.before", about, {"args": arguments}, strict=True)
    except ToolError as error:
        if error.kind != "crash":
            raise
        raise PermissionDenied(str(error)) from error


async def _variables(plugins: Plugins, call: Call, ctx: ToolContext) -> dict[str, str]:
    if call.tool != "bash" or not plugins.has("shell.env"):
        return {}
    about = {"cwd": str(ctx.directory), "sessionID": ctx.session_id, "callID": ctx.call_id}
    answer = await plugins.fire("shell.env", about, {"env": {}})
    env = (answer or {}).get("env")
    return {str(name): str(value) for name, value in env.items()} if isinstance(env, dict) else {}


def _changed(result: Result, after: Json | None) -> Result:
    if after is None:
        return result
    output, title, metadata = after.get("output"), after.get("title"), after.get("metadata")
    return replace(
        result,
        output=output if isinstance(output, str) else result.output,
        title=title if isinstance(title, str) else result.title,
        metadata=metadata if isinstance(metadata, dict) else result.metadata,
    )


def _decides(plugins: Plugins) -> Callable[[Question], Awaitable[Reply | None]]:
    async def decide(question: Question) -> Reply | None:
        if question.kind != "permission" or not plugins.has("permission.ask"):
            return None
        about: Json = {
            "id": question.id,
            "type": question.permission,
            "permission": question.permission,
            "pattern": list(question.patterns),
            "patterns": list(question.patterns),
            "sessionID": question.session_id,
            "messageID": question.message_id,
            "callID": question.call_id,
            "title": question.title,
            "metadata": _json(question.metadata),
        }
        answer = await plugins.fire("permission.ask", about, {"status": "ask"})
        status = (answer or {}).get("status")
        if status == "allow":
            return Reply(kind="once")
        return Reply(kind="reject", message="a plugin refused it") if status == "deny" else None

    return decide


async def _transformed(plugins: Plugins, request: ModelRequest) -> ModelRequest:
    model = {"id": request.info.id, "providerID": request.info.provider}
    about: Json = {"sessionID": request.session_id, "model": model, "provider": {"id": request.info.provider}}
    settings, messages = request.settings, list(request.messages)
    if plugins.has("chat.params"):
        before: Json = {
            "temperature": settings.temperature,
            "topP": settings.top_p,
            "topK": settings.top_k,
            "options": _json(settings.options),
        }
        chosen = await plugins.fire("chat.params", about, before) or before
        settings = replace(
            settings,
            temperature=_number(chosen.get("temperature")),
            top_p=_number(chosen.get("topP")),
            top_k=chosen["topK"] if isinstance(chosen.get("topK"), int) else None,
            options=chosen["options"] if isinstance(chosen.get("options"), dict) else settings.options,
        )
    tools = (
        [await _redefined(plugins, one) for one in request.tools] if plugins.has("tool.definition") else request.tools
    )
    if plugins.has("experimental.chat.system.transform"):
        system = [one.text for one in messages if isinstance(one, SystemMessage)]
        answer = await plugins.fire("experimental.chat.system.transform", about, {"system": list(system)}) or {}
        changed = [str(text) for text in answer.get("system", system)] or system
        if changed != system:
            rest = [one for one in messages if not isinstance(one, SystemMessage)]
            messages = [*(SystemMessage(text=text) for text in changed), *rest]
    if plugins.has("experimental.chat.messages.transform"):
        messages = await _messages(plugins, request.session_id, messages)
    return replace(request, messages=messages, settings=settings, tools=tools)


async def _redefined(plugins: Plugins, tool: ToolSpec) -> ToolSpec:
    """A tool as a plugin has it described to the model. What it does stays the same."""
    if (known := plugins.redefined.get(id(tool))) is not None:
        return known[1]
    before: Json = {"description": tool.description, "parameters": _json(tool.schema)}
    after = await plugins.fire("tool.definition", {"toolID": tool.name}, before) or before
    description, parameters = after.get("description"), after.get("parameters")
    redefined = replace(
        tool,
        description=description if isinstance(description, str) else tool.description,
        schema=parameters if isinstance(parameters, dict) else tool.schema,
    )
    plugins.redefined[id(tool)] = tool, redefined
    return redefined


async def _messages(plugins: Plugins, session_id: str, messages: list[ModelMessage]) -> list[ModelMessage]:
    """The conversation as a plugin leaves it: texts it has changed, messages it has left out or added."""
    rows = [
        _message_json(index, one, session_id)
        for index, one in enumerate(messages)
        if not isinstance(one, SystemMessage)
    ]
    answer = await plugins.fire("experimental.chat.messages.transform", {}, {"messages": rows}) or {}
    kept: list[ModelMessage] = [one for one in messages if isinstance(one, SystemMessage)]
    for row in answer.get("messages", rows):
        index = row.get("info", {}).get("id")
        texts = [str(part.get("text", "")) for part in row.get("parts", []) if part.get("type") == "text"]
        if isinstance(index, str) and index.isdigit() and int(index) < len(messages):
            kept.append(_retold(messages[int(index)], texts))
        elif texts:
            kept.append(UserMessage(content=tuple(texts)))
    return kept


def _message_json(index: int, message: ModelMessage, session_id: str) -> Json:
    role = "user" if isinstance(message, UserMessage) else "assistant"
    info = {"id": str(index), "role": role, "sessionID": session_id}
    if isinstance(message, ToolMessage):
        state = {"status": "error" if message.failed else "completed", "output": message.output}
        return {
            "info": info,
            "parts": [{"type": "tool", "tool": message.name, "callID": message.call_id, "state": state}],
        }
    content = message.content if isinstance(message, UserMessage | AssistantMessage) else ()
    return {"info": info, "parts": [{"type": "text", "text": one} for one in content if isinstance(one, str)]}


def _retold(message: ModelMessage, texts: list[str]) -> ModelMessage:
    """The same message with its texts replaced, one for one; the same object where nothing has changed."""
    if not isinstance(message, UserMessage | AssistantMessage):
        return message
    before = [one for one in message.content if isinstance(one, str)]
    if before == texts:
        return message
    left = iter(texts)
    content: list[Any] = [next(left, "") if isinstance(one, str) else one for one in message.content]
    replaced: Any = tuple(one for one in (*content, *left) if one != "")
    return replace(message, content=replaced)


def _tell_users(workspace: ExtensionHome, words: str) -> None:
    for session_id in workspace.sessions_open:
        status: dict[str, object] = {"type": "busy", "notice": words}
        workspace.bus.publish(SessionStatus(session_id=session_id, status=status))


async def _tell(plugins: Plugins, following: Any) -> None:
    async for event in following:
        if plugins.has("event"):
            await plugins.fire("event", {"event": _json(_wire(event))})


def _wire(event: Event) -> Json:
    return event.to_json()


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _json(value: Any) -> Any:
    from toolwright.protocols.client_json import to_json

    return to_json(value)

"""Prompts: what a client sends, answered by a turn; commands, shell lines and summaries too."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from toolwright.agents import Agent
from toolwright.app.shell_line import USER_RAN, run_line
from toolwright.commands import typed_call
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Event
from toolwright.http_server.guard import Receive, Scope, Send
from toolwright.http_server.refusal import HttpRefusal, bad_request, refusal_of, unusable
from toolwright.proof.goal import goal_of
from toolwright.protocols.client_json import json_text, to_json
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.shapes import message_json
from toolwright.session.budget import budget_of
from toolwright.session.events import MessageUpdated
from toolwright.session.prompt import Attached, CommandCall, Prompt
from toolwright.session.session import Session
from toolwright.text.ids import follow_id, is_id, new_id
from toolwright.workspace import Workspace

routes = Routes()

BLANK_SECONDS = 20.0
"""Clients give up after five minutes without a byte."""

_TEXT = {"type": "string"}
_MODEL = {
    "type": "object",
    "required": ["providerID", "modelID"],
    "properties": {"providerID": _TEXT, "modelID": _TEXT},
}
_PART = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": ["text", "file", "agent", "subtask"]},
        "text": _TEXT,
        "url": _TEXT,
        "mime": _TEXT,
        "filename": {"type": ["string", "null"]},
        "name": _TEXT,
        "prompt": _TEXT,
        "agent": _TEXT,
        "description": _TEXT,
    },
}
BODY: Json = {
    "type": "object",
    "required": ["parts"],
    "properties": {
        "parts": {"type": "array", "items": _PART},
        "messageID": _TEXT,
        "model": _MODEL,
        "agent": _TEXT,
        "noReply": {"type": "boolean"},
        "mentions": {"type": "boolean"},
        "system": _TEXT,
        "variant": _TEXT,
        "tools": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "budget": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
        "until": {"type": ["string", "array"], "items": _TEXT},
    },
}
_COMMAND = {
    "type": "object",
    "required": ["command", "arguments"],
    "properties": {
        "command": _TEXT,
        "arguments": _TEXT,
        "agent": _TEXT,
        "model": _TEXT,
        "messageID": _TEXT,
        "variant": _TEXT,
        "parts": {"type": "array", "items": _PART},
    },
}
_SHELL = {
    "type": "object",
    "required": ["agent", "command"],
    "properties": {"agent": _TEXT, "command": {"type": "string", "minLength": 1}, "model": _MODEL},
}
_SUMMARY = {
    "type": "object",
    "required": ["providerID", "modelID"],
    "properties": {"providerID": _TEXT, "modelID": _TEXT, "auto": {"type": "boolean"}},
}


@routes.post("/session/{sessionID}/message", "session.prompt", BODY)
async def prompt(ask: RouteCall) -> Any:
    """Answer a prompt; the connection stays open until the turn has ended."""
    body = await ask.body()
    workspace, session = await _session(ask)
    return await _waited(
        ask, workspace, session, await prompt_of(workspace, session, body), quiet=body.get("noReply", False)
    )


@routes.post("/session/{sessionID}/prompt_async", "session.prompt_async", BODY)
async def prompt_async(ask: RouteCall) -> Any:
    """Take a prompt and return as soon as it is stored."""
    body = await ask.body()
    workspace, session = await _session(ask)
    await _begun(ask, session, await prompt_of(workspace, session, body), quiet=body.get("noReply", False))
    return Response(status_code=204)


@routes.post("/session/{sessionID}/command", "session.command", _COMMAND)
async def command(ask: RouteCall) -> Any:
    """Carry out a prompt that has a name."""
    body = await ask.body()
    workspace, session = await _session(ask)
    called = typed_call(workspace.commands[body["command"]].name, body["arguments"])
    typed = {"type": "text", "text": f"/{called.name} {body['arguments']}".strip()}
    wanted = {**body, "parts": [typed, *body.get("parts", ())], "model": _split(body.get("model", ""))}
    prompt = replace(await prompt_of(workspace, session, wanted), command=called)
    answer = await _waited(ask, workspace, session, prompt)
    executed = {
        "name": called.name,
        "sessionID": session.id,
        "arguments": body["arguments"],
        "messageID": prompt.message_id,
    }
    ask.serving.tell(str(workspace.directory), "command.executed", executed)
    return answer


@routes.post("/session/{sessionID}/init", "session.init", {"type": "object"})
async def init(ask: RouteCall) -> Any:
    """Write or improve AGENTS.md."""
    await ask.body()
    workspace, session = await _session(ask)
    prompt = await prompt_of(workspace, session, {"parts": [{"type": "text", "text": "/init"}]})
    return KeepAliveJson(await _begun(ask, session, replace(prompt, command=CommandCall(name="init"))), lambda _: True)


@routes.post("/session/{sessionID}/summarize", "session.summarize", _SUMMARY)
async def summarize(ask: RouteCall) -> Any:
    """Put a summary in the place of the conversation so far."""
    body = await ask.body()
    workspace, session = await _session(ask)
    name = f"{body['providerID']}/{body['modelID']}"
    _require_model(workspace, name)
    if session.conversation.last_user() is None:
        raise bad_request("There is nothing to summarise yet.")
    return KeepAliveJson(ask.serving.begin(session.turns.compact(name)), lambda _: True)


@routes.post("/session/{sessionID}/shell", "session.shell", _SHELL)
async def shell(ask: RouteCall) -> Any:
    """Run a command of the user's, as a message with one bash part."""
    body = await ask.body()
    workspace, session = await _session(ask)
    prompt = await prompt_of(workspace, session, {**body, "parts": [{"type": "text", "text": USER_RAN}]})
    work = run_line(session, body["command"], prompt)
    return KeepAliveJson(await _stored(ask, session, prompt, work), lambda end: message_json(end.message, workspace))


async def _session(ask: RouteCall) -> tuple[Workspace, Session]:
    return await ask.serving.projects.session(ask.path["sessionID"], ask.named_folder)


# What the body says, as a prompt.


async def prompt_of(workspace: Workspace, session: Session, body: Json, *, waits: bool = False) -> Prompt:
    """The prompt of a body. Everything that can be refused is refused here."""
    texts, files, agents = [], [], []
    for part in body["parts"]:
        match part["type"]:
            case "text" if not part.get("ignored"):
                texts.append(part.get("text", ""))
            case "file":
                files.append(_attached(part))
            case "agent":
                agents.append(_known_agent(session, part.get("name", "")).name)
            case "subtask":
                name = _known_agent(session, part.get("agent", "")).name
                texts.append(f"Hand this to the agent {name} with the task tool:\n\n{part.get('prompt', '')}")
    text = "\n\n".join(filter(None, texts))
    text += "".join(f" @{name}" for name in agents if f"@{name}" not in text)
    if not text.strip() and not files and (body["parts"] or not body.get("noReply")):
        raise bad_request("The prompt is empty: give it a text or a file.")
    if body.get("agent"):
        _known_agent(session, body["agent"])
    model = body.get("model") or {}
    name = f"{model['providerID']}/{model['modelID']}" if model else ""
    if name:
        _require_model(workspace, name)
    tools: dict[str, bool] = body.get("tools") or {}
    only = tuple(tool for tool, wanted in tools.items() if wanted) if tools.get("*") is False else None
    return Prompt(
        text=text,
        files=tuple(files),
        agent=body.get("agent") or "",
        model=name,
        system=body.get("system") or "",
        variant=body.get("variant") or "",
        tools=tools,
        only_tools=only,
        budget=budget_of(body.get("budget")),
        until=goal_of(body["until"]) if body.get("until") else None,
        mentions=bool(agents) or body.get("mentions", False),
        waits=waits,
        message_id=await _message_id(workspace, session, body.get("messageID") or ""),
    )


def _attached(part: Json) -> Attached:
    url = part.get("url", "")
    if not url.startswith(("file:", "data:")):
        raise bad_request("A file is attached by a file: or data: address; nothing is fetched from elsewhere.")
    return Attached(url=url, mime=part.get("mime", ""), filename=part.get("filename") or "")


def _known_agent(session: Session, name: str) -> Agent:
    try:
        return session.ruled_agent_named(name).agent
    except UsageError as error:
        raise unusable(str(error)) from error


def _require_model(workspace: Workspace, name: str) -> None:
    try:
        workspace.connections.open(name)
    except ToolwrightError as error:
        raise unusable(str(error)) from error


async def _message_id(workspace: Workspace, session: Session, message_id: str) -> str:
    """The client's own id if it sorts behind all others of the session; else one of ours, told by the event."""
    if not message_id:
        return new_id("msg")
    if not is_id(message_id, "msg"):
        raise bad_request(f"{message_id[:80]!r} is no id of a message: msg_ and up to 64 letters or digits.")
    if await workspace.store.knows(message_id):
        raise HttpRefusal(
            409, "Conflict", f"There is a message {message_id} already. Give the next one an id of its own."
        )
    last = max((message.info.id for message in session.conversation.messages), default="")
    return message_id if message_id > last and follow_id(message_id) else new_id("msg")


def _split(name: str) -> Json:
    provider, slash, model = name.partition("/")
    return {"providerID": provider, "modelID": model} if slash else {}


# Carrying it out.


async def _waited(
    ask: RouteCall, workspace: Workspace, session: Session, prompt: Prompt, *, quiet: bool = False
) -> Response:
    task = await _begun(ask, session, prompt, quiet=quiet)
    return KeepAliveJson(task, lambda end: message_json(end.message, workspace))


async def _begun(ask: RouteCall, session: Session, prompt: Prompt, *, quiet: bool = False) -> "asyncio.Task[Any]":
    """The turn of a prompt, once its message is stored; what is wrong before that is raised."""
    work = session.turns.take(prompt) if quiet else session.turns.answer_whole(prompt)
    return await _stored(ask, session, prompt, work)


async def _stored(ask: RouteCall, session: Session, prompt: Prompt, work: Any) -> "asyncio.Task[Any]":
    stored = asyncio.Event()

    def hear(event: Event) -> None:
        if isinstance(event, MessageUpdated) and event.info.id == prompt.message_id:
            stored.set()

    waits = session.turns.busy
    leave = session.home.bus.subscribe(hear)
    task = ask.serving.begin(work)
    seen = asyncio.create_task(stored.wait())
    try:
        if not waits:
            await asyncio.wait([task, seen], return_when=asyncio.FIRST_COMPLETED)
    finally:
        seen.cancel()
        leave()
    if task.done() and not stored.is_set():
        task.result()
    return task


class KeepAliveJson(Response):
    """The answer to a request that takes a whole turn: begun at once, kept alive with blanks, ended with the JSON.

    Leading blanks are legal in JSON, so that whoever reads it sees only the value.
    """

    def __init__(self, task: "asyncio.Task[Any]", to_answer: Callable[[Any], Any]) -> None:
        super().__init__(None, 200, {"cache-control": "no-store"}, "application/json")
        self._task, self._shown = task, to_answer

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while not self._task.done():
            await asyncio.wait([self._task], timeout=BLANK_SECONDS)
            if not self._task.done():
                await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await send({"type": "http.response.body", "body": self._content(), "more_body": False})

    def _content(self) -> bytes:
        error = asyncio.CancelledError() if self._task.cancelled() else self._task.exception()
        if isinstance(error, ToolwrightError):
            value: Any = refusal_of(error).to_json()
        elif error is not None:
            value = {"name": "UnknownError", "data": {"message": "The turn broke off. Look at the session's messages."}}
        else:
            value = self._shown(self._task.result())
        try:
            return json_text(value).encode()
        except UnicodeEncodeError:
            return json.dumps(to_json(value), separators=(",", ":")).encode()

"""Prompts: what a client sends, answered by a turn; commands, shell lines and summaries too."""

import asyncio
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from toolwright.agents import Agent
from toolwright.commands import fill_in, words_of
from toolwright.definition import Call
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Bus, Event
from toolwright.ids import follow_id, is_id, new_id, now
from toolwright.inbox import Inbox, Reply, always_say
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Message, Moment, Paths, TextPart
from toolwright.permission.gate import Gate
from toolwright.server.asking import Ask, Routes
from toolwright.server.refusal import HttpRefusal, bad_request, unusable
from toolwright.server.shapes import message_json
from toolwright.server.waiting import Waiting
from toolwright.session.events import MessageUpdated
from toolwright.session.prompt import Attached, Prompt, PromptReader
from toolwright.session.result import TurnEnd
from toolwright.session.session import Session
from toolwright.workspace import Workspace

routes = Routes()

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
_BODY = {
    "type": "object",
    "required": ["parts"],
    "properties": {
        "parts": {"type": "array", "items": _PART},
        "messageID": _TEXT,
        "model": _MODEL,
        "agent": _TEXT,
        "noReply": {"type": "boolean"},
        "system": _TEXT,
        "variant": _TEXT,
        "tools": {"type": "object", "additionalProperties": {"type": "boolean"}},
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
_USER_RAN = "The user ran a command in the shell; what it printed stands in the next message."


@routes.post("/session/{sessionID}/message", "session.prompt", _BODY)
async def prompt(ask: Ask) -> Any:
    """Answer a prompt; the connection stays open until the turn has ended."""
    body = await ask.body()
    workspace, session = await _session(ask)
    return await _waited(ask, session, await _prompt(workspace, session, body), quiet=body.get("noReply", False))


@routes.post("/session/{sessionID}/prompt_async", "session.prompt_async", _BODY)
async def prompt_async(ask: Ask) -> Any:
    """Take a prompt and return as soon as it is stored."""
    body = await ask.body()
    workspace, session = await _session(ask)
    await _begun(ask, session, await _prompt(workspace, session, body), quiet=body.get("noReply", False))
    return Response(status_code=204)


@routes.post("/session/{sessionID}/command", "session.command", _COMMAND)
async def command(ask: Ask) -> Any:
    """Carry out a prompt that has a name."""
    body = await ask.body()
    workspace, session = await _session(ask)
    found = workspace.commands[body["command"]]
    text = await fill_in(found, words_of(body["arguments"]), session)
    parts = [{"type": "text", "text": text}, *body.get("parts", ())]
    wanted = {
        "parts": parts,
        "agent": found.agent or body.get("agent", ""),
        "model": _split(found.model or body.get("model", "")),
        "messageID": body.get("messageID", ""),
        "variant": body.get("variant", ""),
    }
    made = await _prompt(workspace, session, wanted)
    answer = await _waited(ask, session, replace(made, mentions=True))
    told = {"name": found.name, "sessionID": session.id, "arguments": body["arguments"], "messageID": made.message_id}
    ask.serving.tell(str(workspace.directory), "command.executed", told)
    return answer


@routes.post("/session/{sessionID}/init", "session.init", {"type": "object"})
async def init(ask: Ask) -> Any:
    """Write or improve AGENTS.md."""
    await ask.body()
    workspace, session = await _session(ask)
    text = await fill_in(workspace.commands["init"], (), session)
    task = await _begun(ask, session, await _prompt(workspace, session, {"parts": [{"type": "text", "text": text}]}))
    return Waiting(task, lambda _: True)


@routes.post("/session/{sessionID}/summarize", "session.summarize", _SUMMARY)
async def summarize(ask: Ask) -> Any:
    """Put a summary in the place of the conversation so far."""
    body = await ask.body()
    workspace, session = await _session(ask)
    name = f"{body['providerID']}/{body['modelID']}"
    _require_model(workspace, name)
    if session.conversation.last_user() is None:
        raise bad_request("There is nothing to summarise yet.")
    return Waiting(ask.serving.begin(session.turns.compact(name)), lambda _: True)


@routes.post("/session/{sessionID}/shell", "session.shell", _SHELL)
async def shell(ask: Ask) -> Any:
    """Run a command of the user's, as a message with one bash part."""
    body = await ask.body()
    workspace, session = await _session(ask)
    session.turns.require_rest()
    made = await _prompt(workspace, session, {**body, "parts": [{"type": "text", "text": _USER_RAN}]})

    async def run() -> Message:
        return await _run_command(workspace, session, body["command"])

    work = session.turns.carry_out(made, run)
    return Waiting(await _stored(ask, session, made, work), _shown)


async def _session(ask: Ask) -> tuple[Workspace, Session]:
    return await ask.serving.projects.session(ask.ids["sessionID"], ask.named_folder)


# What the body says, as a prompt.


async def _prompt(workspace: Workspace, session: Session, body: Json) -> Prompt:
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
        mentions=bool(agents),
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


async def _message_id(workspace: Workspace, session: Session, given: str) -> str:
    """The client's own id if it sorts behind all others of the session; else one of ours, told by the event."""
    if not given:
        return new_id("msg")
    if not is_id(given, "msg"):
        raise bad_request(f"{given[:80]!r} is no id of a message: msg_ and up to 64 letters or digits.")
    if await workspace.store.knows(given):
        raise HttpRefusal(409, "Conflict", f"There is a message {given} already. Give the next one an id of its own.")
    last = max((message.info.id for message in session.conversation.messages), default="")
    return given if given > last and follow_id(given) else new_id("msg")


def _split(name: str) -> Json:
    provider, slash, model = name.partition("/")
    return {"providerID": provider, "modelID": model} if slash else {}


# Carrying it out.


async def _waited(ask: Ask, session: Session, prompt: Prompt, *, quiet: bool = False) -> Response:
    return Waiting(await _begun(ask, session, prompt, quiet=quiet), _shown)


async def _begun(ask: Ask, session: Session, prompt: Prompt, *, quiet: bool = False) -> "asyncio.Task[Any]":
    """The turn of a prompt, once its message is stored; what is wrong before that is raised."""
    if not quiet:
        return await _stored(ask, session, prompt, session.turns.answer(prompt))

    async def attach() -> Message:
        turns = session.turns
        user = turns.conversation.message(prompt.message_id)
        assert user is not None
        assert turns.turn is not None
        agents = turns.settings.mentionable
        reader = PromptReader(session=session, turn=turns.turn, message_id=prompt.message_id, agents=agents)
        async for part in reader.attached(prompt):
            turns.conversation.put(part)
        return user

    return await _stored(ask, session, prompt, session.turns.carry_out(prompt, attach))


async def _stored(ask: Ask, session: Session, prompt: Prompt, work: Any) -> "asyncio.Task[Any]":
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


def _shown(end: TurnEnd) -> Json:
    return message_json(end.message)


async def _run_command(workspace: Workspace, session: Session, command: str) -> Message:
    """Run a line of the shell as the user's own: rules may forbid it, but nobody is asked about it."""
    turns = session.turns
    turn, conversation = turns.turn, turns.conversation
    assert turn is not None
    assert turn.model is not None
    user = conversation.messages[-1]
    for part in user.parts.values():
        if isinstance(part, TextPart):
            conversation.put(replace(part, synthetic=True))
    info = Assistant(
        id=new_id("msg"),
        session_id=session.id,
        parent_id=user.info.id,
        time=Moment(created=now()),
        provider_id=turn.model.info.provider,
        model_id=turn.model.info.id,
        agent=turn.agent.name,
        mode=turn.agent.name,
        path=Paths(cwd=str(workspace.directory), root=str(workspace.config.root)),
    )
    message = conversation.add(info)
    call = Call(id=new_id("call"), tool="bash", arguments={"command": command, "description": "run by the user"})
    allowing = Gate(Inbox(Bus(), always_say(Reply(kind="once"))), workspace.gate.approvals)
    await session.run_call(call, turn, message_id=info.id, gate=allowing)
    conversation.update(replace(info, finish="stop", time=replace(info.time, completed=now())))
    return message

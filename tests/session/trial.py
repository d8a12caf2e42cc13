"""A project with one file, a model that plays a script, and all that a test wants to look at afterwards."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from toolwright.calls.parts import ToolPart
from toolwright.events import Event
from toolwright.messages import Assistant, Message
from toolwright.models.info import ModelLimits, Prices
from toolwright.models.model import ModelMessage, ToolMessage, UserMessage
from toolwright.models.scripted import DEFAULT_INFO, ScriptedCall, ScriptedModel, ScriptedTurn, SeenRequest
from toolwright.models.transport.retry import RetryPolicy, stream_with_retries
from toolwright.session.prompt import Prompt
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.workspace import Workspace

E = TypeVar("E", bound=Event)
AT_ONCE = RetryPolicy(first_wait=0.01, longest_wait=0.02, jitter=0)


def call(name: str, /, **arguments: Any) -> ScriptedCall:
    return {"name": name, "args": arguments}


def calls(*made: ScriptedCall, text: str = "", **more: Any) -> ScriptedTurn:
    """A reply that makes calls."""
    return cast("ScriptedTurn", {"text": text, "tools": list(made), **more})


def read(path: str = "a.txt") -> ScriptedCall:
    return call("read", filePath=path)


def says(text: str, **more: Any) -> ScriptedTurn:
    return cast("ScriptedTurn", {"text": text, **more})


@dataclass(kw_only=True)
class Trial:
    """One session of one workspace, and everything that happened in it."""

    workspace: Workspace
    model: ScriptedModel
    user: ScriptedUser
    session: Session
    events: list[Event] = field(default_factory=list)

    async def prompt(self, text: str = "Go.", **more: Any) -> Message:
        return (await self.session.turns.answer(Prompt(text=text, **more))).message

    @property
    def requests(self) -> list[SeenRequest]:
        """What the model was asked, titles left out."""
        return [one for one in self.model.requests if one.settings.purpose != "title"]

    @property
    def messages(self) -> list[Message]:
        return self.session.conversation.messages

    @property
    def replies(self) -> list[Message]:
        return [message for message in self.messages if isinstance(message.info, Assistant)]

    def told(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def stored(self) -> list[Message]:
        """The session as it is on disk."""
        return await self.workspace.sessions.messages(self.session.id)


@asynccontextmanager
async def opened(
    project: Path,
    *script: ScriptedTurn,
    user: ScriptedUser | None = None,
    context: int = 0,
    output: int = 0,
    prices: Prices | None = None,
    keep: bool = True,
    permission: Sequence[dict[str, str]] = (),
    model: ScriptedModel | None = None,
    **more: Any,
) -> AsyncIterator[Trial]:
    """A session and its workspace; `context` and `output` give the model other limits."""
    (project / "a.txt").write_text("hello\nworld\n")
    info = DEFAULT_INFO if not context else replace(DEFAULT_INFO, limits=ModelLimits(context=context, output=output))
    info = info if prices is None else replace(info, prices=prices)
    model = model or ScriptedModel(*script, info=info)
    user = user or ScriptedUser()
    workspace = make_workspace(project, model=model, user=user, keep=keep, **more)
    events: list[Event] = []
    workspace.bus.subscribe(events.append)
    session = workspace.sessions.create(permission=tuple(permission))
    session.turns.settings = replace(session.turns.settings, retry=AT_ONCE)
    trial = Trial(workspace=workspace, model=model, user=user, session=session, events=events)
    try:
        yield trial
    finally:
        await workspace.close()


def info_of(message: Message) -> Assistant:
    assert isinstance(message.info, Assistant)
    return message.info


def error_of(message: Message) -> str:
    """The name of what went wrong, or nothing."""
    failure = info_of(message).error
    return failure.name if failure else ""


def kinds(message: Message) -> list[str]:
    """The parts of a message by type, with the state of a call."""
    return [
        f"tool {part.state.status}" if isinstance(part, ToolPart) else getattr(part, "type", "")
        for part in message.parts.values()
    ]


def outcome(part: ToolPart) -> str:
    """What the model was told of a call."""
    return str(getattr(part.state, "output", "") or getattr(part.state, "error", ""))


def results(message: Message) -> list[str]:
    return [outcome(part) for part in message.calls]


def shape(messages: Sequence[ModelMessage]) -> list[str]:
    """A request by its roles."""
    return [type(message).__name__.removesuffix("Message").lower() for message in messages]


def words(request: SeenRequest) -> str:
    """Everything the user and the tools say in a request."""
    found: list[str] = []
    for message in request.messages:
        if isinstance(message, UserMessage):
            found += [piece for piece in message.content if isinstance(piece, str)]
        elif isinstance(message, ToolMessage):
            found.append(message.output)
    return "\n".join(found)


def note_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that are waited between two attempts from now on; none of them is."""
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("toolwright.session.turns.loop.stream_with_retries", partial(stream_with_retries, sleep=note))
    return waits


def nothing_open(*messages: Message) -> bool:
    """Whether every call and every reply has come to an end."""
    return not any(
        message.open_calls or (isinstance(message.info, Assistant) and message.info.time.completed is None)
        for message in messages
    )

"""A server per test, and the four formats for tests that hold for all of them."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pytest

from tests.models import replies
from tests.models.replies import Reply
from tests.models.server import Server, serving
from toolwright.models.connect import connect
from toolwright.models.info import Usage
from toolwright.models.model import (
    CallEnd,
    Event,
    Finish,
    Model,
    ModelMessage,
    ReasoningDelta,
    ReasoningEnd,
    ReplySettings,
    TextDelta,
    ToolSpec,
    UserMessage,
)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    # Who is asked for a model's context before the first request waits; a server of this very loop cannot answer then.
    monkeypatch.setattr("toolwright.models.known.local_servers.PATIENCE", 0.01)
    async with serving() as running:
        yield running


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format: how the server writes it, and the name it is configured by."""

    api: str
    write: Callable[[Reply], Iterator[bytes]]
    has_call_ids: bool = True

    def model(self, server: Server, **config: Any) -> Model:
        record = {"reasoning": True, "modalities": {"input": ["text", "image", "pdf"]}, **config.pop("record", {})}
        options = {"baseURL": server.url, "apiKey": "secret", **config.pop("options", {})}
        return connect("acme", "m", {"name": "Acme", "api": self.api, "options": options, "models": {"m": record}})


CHAT = Format("openai-chat", replies.chat)
RESPONSES = Format("openai-responses", replies.responses)
ANTHROPIC = Format("anthropic", replies.anthropic)
GEMINI = Format("gemini", replies.gemini, has_call_ids=False)
FORMATS = (CHAT, RESPONSES, ANTHROPIC, GEMINI)


@pytest.fixture(params=FORMATS, ids=lambda form: form.api)
def form(request: pytest.FixtureRequest) -> Format:
    chosen: Format = request.param
    return chosen


HELLO = (UserMessage(content=("hello",)),)


async def events_of(
    model: Model,
    messages: Sequence[ModelMessage] = HELLO,
    tools: Sequence[ToolSpec] = (),
    settings: ReplySettings | None = None,
) -> list[Event]:
    """The whole reply; the connections are closed behind it."""
    try:
        async with aclosing(model.stream(messages, tools, settings or ReplySettings())) as events:
            return [event async for event in events]
    finally:
        await model.close()


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def thoughts_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def seals_of(events: Sequence[Event]) -> list[dict[str, Any]]:
    return [event.signature for event in events if isinstance(event, ReasoningEnd)]


def calls_of(events: Sequence[Event]) -> list[CallEnd]:
    return [event for event in events if isinstance(event, CallEnd)]


def usage_of(events: Sequence[Event]) -> Usage:
    (usage,) = (event for event in events if isinstance(event, Usage))
    return usage


def finish_of(events: Sequence[Event]) -> Finish:
    last = events[-1]
    assert isinstance(last, Finish)
    return last

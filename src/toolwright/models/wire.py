"""The seam between wire formats and HTTP: what a format must say, and the model that any format makes."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import field
from typing import Any, Protocol

from toolwright.models.http import Endpoint
from toolwright.models.info import ModelInfo
from toolwright.models.model import (
    CallDelta,
    CallEnd,
    CallStart,
    Event,
    FinishReason,
    Json,
    ModelError,
    ModelMessage,
    Settings,
    ToolMessage,
    ToolSpec,
)
from toolwright.record import record
from toolwright.sse import EventReader, ServerEvent

TAIL = 0.25
"""Seconds to wait for the end of a body whose last event is known; a connection read to its end can be used again."""


class Reader(Protocol):
    """One reply being read."""

    finished: bool
    """Whether the provider has said that the reply is complete."""
    done: bool
    """Whether nothing of interest can follow."""

    def read(self, data: Json) -> Iterable[Event]: ...
    def end(self) -> Iterable[Event]:
        """What can only be said once all is read: usage and finish."""
        ...


@record(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request as it will be sent."""

    path: str
    """After the provider's base URL."""
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Wire(Protocol):
    """A wire format for one model: requests as bytes, and a reader for the answers."""

    def request(self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: Settings) -> Outgoing: ...
    def reader(self, provider: str) -> Reader:
        """`provider` is the name that errors speak of."""
        ...


class HttpModel:
    """A model behind one of the wire formats."""

    def __init__(self, info: ModelInfo, wire: Wire, endpoint: Endpoint) -> None:
        self.info = info
        self.wire = wire
        self.endpoint = endpoint

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: Settings
    ) -> AsyncGenerator[Event, None]:
        provider = self.endpoint.address.provider
        reader = self.wire.reader(provider)
        request = self.wire.request(messages, tools, settings)
        headers = {"content-type": "application/json", **self.info.headers, **request.headers, **settings.headers}
        async with aclosing(self.endpoint.post(request.path, request.body, headers)) as chunks:
            events = EventReader()
            try:
                async for chunk in chunks:
                    for event in self._read(events.feed(chunk), reader):
                        yield event
                    if reader.done:
                        await _finish(chunks)
                        break
            except ModelError as error:
                if not reader.finished or error.kind not in {"network", "cut"}:
                    raise
            for event in self._read(events.close(), reader):
                yield event
        if not reader.finished:
            raise ModelError(f"The answer of {provider} broke off before its end.", "cut")
        for event in reader.end():
            yield event

    async def close(self) -> None:
        await self.endpoint.close()

    def _read(self, events: Iterator[ServerEvent], reader: Reader) -> Iterator[Event]:
        try:
            for event in events:
                if event.data == "[DONE]":
                    reader.finished = reader.done = True
                elif not reader.done:
                    yield from reader.read(self._parsed(event.data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{self.endpoint.address.provider} sent something that is not an answer ({error!r}).", "network"
            ) from error

    def _parsed(self, data: str) -> Json:
        value = json.loads(data)
        if not isinstance(value, dict):
            raise ValueError(f"expected an object, got {data[:80]!r}")
        return value


async def _finish(chunks: AsyncGenerator[bytes, None]) -> None:
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(TAIL):
            async for _ in chunks:
                pass


@record(slots=True, kw_only=True)
class OpenCall:
    """A call whose arguments are still coming."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])
    signature: Json = field(default_factory=dict[str, Any])

    def start(self) -> CallStart:
        return CallStart(self.id, self.name)

    def add(self, text: str) -> Iterator[CallDelta]:
        if text:
            self.pieces.append(text)
            yield CallDelta(self.id, text)

    def end(self, whole: str | None = None) -> CallEnd:
        """The call, with the arguments as collected unless the provider has repeated them whole."""
        text = "".join(self.pieces) if whole is None else whole
        return CallEnd(self.id, self.name, text or "{}", self.signature)


def finish_reason(reasons: Mapping[str, FinishReason], raw: str, *, called: bool) -> FinishReason:
    """What the provider's word means. Providers say `stop` after calls, and words of their own: the calls decide."""
    reason = reasons.get(raw, "other")
    if reason in {"stop", "tool_calls", "other"} and called:
        return "tool_calls"
    return "stop" if reason == "tool_calls" else reason


def most_output(settings: Settings, info: ModelInfo) -> int | None:
    """The tokens a reply may have: what was asked for, within what the model can."""
    return min(filter(None, (settings.max_output, info.limits.output)), default=None)


def count(value: Any) -> int:
    """A number of tokens, where a provider may have sent null or nothing."""
    return max(0, int(value)) if isinstance(value, int | float) else 0


NOOP = ToolSpec(
    name="_noop",
    description="Never call this. It is here because the conversation above contains tool calls.",
    schema={"type": "object", "properties": {}},
)
"""Offered where nothing else is, to providers that refuse a history with calls unless a tool is declared."""


def has_calls(messages: Sequence[ModelMessage]) -> bool:
    return any(isinstance(message, ToolMessage) for message in messages)

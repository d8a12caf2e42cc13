"""The seam between wire formats and HTTP: what a format must say, and the model that any format makes."""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import field, replace
from typing import Any, Protocol

from toolwright.deadline import time_limit
from toolwright.models.encode import Growing, dump
from toolwright.models.formats.fixes import MOST, Fixes
from toolwright.models.formats.sizes import size_of, tools_size
from toolwright.models.formats.surrogates import Halves
from toolwright.models.info import ModelInfo
from toolwright.models.model import (
    CallDelta,
    CallEnd,
    CallStart,
    Event,
    Finish,
    FinishReason,
    ModelError,
    ModelMessage,
    ReasoningDelta,
    ReasoningEnd,
    ReplySettings,
    TextDelta,
    ToolMessage,
    ToolSpec,
)
from toolwright.models.transport.endpoint import Endpoint
from toolwright.models.transport.failures import refusal
from toolwright.protocols.json_text import TOO_DEEP, is_too_deep
from toolwright.protocols.json_types import Json
from toolwright.protocols.sse import LARGEST, EventReader, ServerEvent
from toolwright.record import record

MOST_TOKENS = 10**12
"""What a provider may count in one reply; a number with hundreds of digits has no price."""
LEAST_ROOM = 256
"""Tokens to ask for even where our own count says that nothing is left: the provider's count decides."""
TAIL = 0.25
"""Seconds to wait for the end of a body whose last event is known; a connection read to its end can be used again."""


class WireReader(Protocol):
    """One reply being read."""

    finished: bool
    """Whether the provider has said that the reply is complete."""
    done: bool
    """Whether nothing of interest can follow."""
    continuation: str
    """What to send to be given the rest of a reply that the provider has divided; empty where this is all."""

    def read(self, data: Json) -> Iterable[Event]: ...
    def end(self) -> Iterable[Event]:
        """Return the events that need the whole reply: usage and finish."""
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

    whole_replies: bool
    """Whether a reply may also come in one piece, from a server that does not stream."""

    def request(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> Outgoing: ...
    def reader(self, provider: str) -> WireReader:
        """`provider` is the name that errors speak of."""
        ...


class HttpModel:
    """A model behind one of the wire formats."""

    def __init__(self, info: ModelInfo, wire: Wire, endpoint: Endpoint) -> None:
        self.info = info
        self.wire = wire
        self.endpoint = endpoint
        self.fixes = Fixes()
        self._broken = 0
        """Streams in a row that ended before anything had come."""

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> AsyncGenerator[Event, None]:
        name = self.info.full_name
        for _ in range(MOST + 1):
            request = self.wire.request(*self.fixes.apply(messages, tools, settings))
            begun = False
            try:
                async with aclosing(self._reply(request, settings)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except ModelError as error:
                if begun or not (await self._renewed(error) or self._fixed(name, error, request, messages)):
                    raise
                trouble = error
        raise trouble

    async def close(self) -> None:
        await self.endpoint.close()

    async def _renewed(self, error: ModelError) -> bool:
        """Return whether the next request goes out with another token than the one that was refused."""
        login = self.endpoint.login
        return error.status == 401 and login is not None and await login.refused()

    def _fixed(self, name: str, error: ModelError, request: Outgoing, messages: Sequence[ModelMessage]) -> bool:
        """Return whether the request will be another one the next time."""
        if error.kind == "cut" and self.wire.whole_replies:
            self._broken += 1
            return self._broken > 1 and self.fixes.no_stream(name)
        refused = error.status is not None and 400 <= error.status < 500 and error.kind not in {"auth", "quota"}
        if self.fixes.no_files(name, error, messages):
            # Raised, so that the user is told: nothing is left out in silence.
            raise ModelError(
                f"{name} takes no such files ({error.said[:200]}); it is told their names alone.",
                "bad_request",
                status=error.status,
                retry_after=0.0,
                retryable=True,
            ) from error
        affordable = error.status == 402 and "can only afford" in error.said
        return (refused or affordable) and self.fixes.learn(name, error, request.body, messages)

    async def _reply(self, request: Outgoing, settings: ReplySettings) -> AsyncGenerator[Event, None]:
        reader, halves, whole = self.wire.reader(self.endpoint.address.provider), Halves(), request.body
        while True:
            async with aclosing(self._events(request, settings, reader)) as events:
                async for event in events:
                    yield halves.whole(event)
            if not reader.continuation:
                break
            rest = b',"continuationToken":%s}' % dump(reader.continuation)
            request = replace(request, body=whole.removesuffix(b"}") + rest)
            reader.finished, reader.continuation = False, ""
        self._broken = 0
        for event in self._checked(_last_of(reader)):
            yield halves.whole(event)

    async def _events(
        self, request: Outgoing, settings: ReplySettings, reader: WireReader
    ) -> AsyncGenerator[Event, None]:
        headers = {"content-type": "application/json", **self.info.headers, **request.headers, **settings.headers}
        post = self.endpoint.post(request.path, request.body, headers, whole=self.wire.whole_replies)
        async with aclosing(post) as chunks:
            events, whole, fresh = EventReader(), bytearray(), self.wire.whole_replies
            try:
                async for chunk in chunks:
                    if whole or (fresh and chunk.lstrip()[:1] == b"{"):
                        whole += _within(whole, chunk)
                        continue
                    fresh = fresh and not chunk.strip()
                    for event in self._read(events.feed(chunk), reader):
                        yield event
                    if reader.done:
                        await _finish(chunks)
                        break
            except ModelError as error:
                if not reader.finished or error.kind not in {"network", "cut"}:
                    raise
            for event in self._read(self._rest(events, bytes(whole)), reader):
                yield event
        if not reader.finished:
            raise ModelError(f"The answer of {self.endpoint.address.provider} broke off before its end.", "cut")

    def _rest(self, events: EventReader, whole: bytes) -> Iterator[ServerEvent]:
        if not whole:
            return events.close()
        text = whole.decode("utf-8", "replace")
        if '"error"' in text[:1000] and '"choices"' not in text:
            raise refusal(self.endpoint.address.provider, 400, {}, text)
        return iter((ServerEvent(text), ServerEvent("[DONE]")))

    def _read(self, events: Iterator[ServerEvent], reader: WireReader) -> Iterator[Event]:
        return self._checked(_all_of(events, reader))

    def _checked(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events of an answer. An error of its reader is a fault of the answer, and told as one."""
        try:
            for event in events:
                _check(event)
                yield event
        except _BROKEN as error:
            raise ModelError(
                f"{self.endpoint.address.provider} sent something that is not an answer ({str(error)[:200]!r}).",
                "network",
            ) from error


_BROKEN = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
_TEXTS: Mapping[type, tuple[str, ...]] = {
    TextDelta: ("text",),
    ReasoningDelta: ("text",),
    CallStart: ("id", "name"),
    CallDelta: ("id", "text"),
    CallEnd: ("id", "name", "arguments"),
    Finish: ("raw",),
}


def _check(event: Event) -> None:
    """Nobody further on expects anything else than text where text belongs, or a value that is nested without end."""
    for name in _TEXTS.get(type(event), ()):
        if not isinstance(getattr(event, name), str):
            raise TypeError(f"the {name} of a {type(event).__name__} is not text")
    if isinstance(event, CallEnd | ReasoningEnd) and is_too_deep(event.signature):
        raise ValueError(TOO_DEEP)


def _all_of(events: Iterator[ServerEvent], reader: WireReader) -> Iterator[Event]:
    for event in events:
        if event.data == "[DONE]":
            reader.finished = reader.done = True
        elif not reader.done and event.data.strip():
            yield from reader.read(_parsed(event.data))


def _last_of(reader: WireReader) -> Iterator[Event]:
    yield from reader.end()


def _parsed(data: str) -> Json:
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, got {data[:80]!r}")
    return value


def _within(held: bytearray, chunk: bytes) -> bytes:
    if len(held) + len(chunk) > LARGEST:
        raise ModelError(f"The reply is larger than {LARGEST} bytes.", "bad_request")
    return chunk


async def _finish(chunks: AsyncGenerator[bytes, None]) -> None:
    with suppress(TimeoutError, ModelError):
        async with time_limit(TAIL):
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
    """Return the meaning of a provider's word. Some say `stop` after calls, or words of their own: calls decide."""
    reason = reasons.get(raw, "other")
    if reason in {"stop", "tool_calls", "other"} and called:
        return "tool_calls"
    return "stop" if reason == "tool_calls" else reason


@record(slots=True)
class _Total:
    tokens: int = 0

    def add(self, message: ModelMessage) -> None:
        self.tokens += size_of(message)


class ReplyRoom:
    """The tokens a reply may have: as asked for, within what the model can and its context leaves."""

    def __init__(self, info: ModelInfo, cap: int) -> None:
        self._info = info
        self._cap = cap
        self._sizes = Growing(_Total, _Total.add)

    def for_reply(
        self,
        messages: Sequence[ModelMessage],
        tools: Sequence[ToolSpec],
        settings: ReplySettings,
        usual: int | None = None,
    ) -> int | None:
        """None where nobody has said; `usual` instead of that."""
        limits = self._info.limits
        most = min(filter(None, (settings.max_output or self._cap, limits.output)))
        if not settings.max_output and not limits.output:
            most = usual or 0
        if not most or not limits.context:
            return most or None
        used = self._sizes.through(messages).tokens + tools_size(tools)
        return min(most, max(LEAST_ROOM, limits.context - used - used // 8))


def count(value: Any) -> int:
    """A number of tokens, where a provider may have sent null or nothing."""
    return min(max(0, int(value)), MOST_TOKENS) if isinstance(value, int | float) else 0


NOOP = ToolSpec(
    name="_noop",
    description="Never call this. It is here because the conversation above contains tool calls.",
    schema={"type": "object", "properties": {}},
)
"""Offered where nothing else is, to providers that refuse a history with calls unless a tool is declared."""


def has_calls(messages: Sequence[ModelMessage]) -> bool:
    return any(isinstance(message, ToolMessage) for message in messages)

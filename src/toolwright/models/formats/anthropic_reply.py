"""A reply in the Anthropic messages format."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolwright.models.encode import dump
from toolwright.models.formats.wire import OpenCall, count, finish_reason
from toolwright.models.info import Usage
from toolwright.models.model import Event, Finish, FinishReason, ReasoningDelta, ReasoningEnd, TextDelta
from toolwright.models.transport.failures import stream_refusal
from toolwright.protocols.json_types import Json

_REASONS: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


class AnthropicReader:
    """Reads the events of one reply, block by block."""

    continuation = ""

    def __init__(self, provider: str) -> None:
        self.finished = False
        self.done = False
        self._provider = provider
        self._calls: dict[int, OpenCall] = {}
        self._seals: dict[int, Json] = {}
        self._called = False
        self._usage: dict[str, Any] = {}
        self._reason = ""

    def read(self, data: Json) -> Iterator[Event]:
        place = data.get("index") or 0
        match data.get("type"):
            case "message_start":
                self._count(data["message"].get("usage"))
            case "content_block_start":
                yield from self._start(place, data["content_block"])
            case "content_block_delta":
                yield from self._delta(place, data["delta"])
            case "content_block_stop":
                yield from self._stop(place)
            case "message_delta":
                self._count(data.get("usage"))
                self._reason = data["delta"].get("stop_reason") or self._reason
            case "message_stop":
                self.finished = self.done = True
            case "error":
                raise stream_refusal(self._provider, data.get("error") or {})

    def end(self) -> Iterator[Event]:
        for place in list(self._calls):
            yield from self._stop(place)
        if self._usage:
            yield usage_of(self._usage)
        yield Finish(finish_reason(_REASONS, self._reason or "end_turn", called=self._called), self._reason)

    def _start(self, place: int, block: Json) -> Iterator[Event]:
        match block["type"]:
            case "tool_use":
                call = OpenCall(id=block["id"], name=block["name"])
                self._calls[place] = call
                self._called = True
                yield call.start()
                if block.get("input"):
                    yield from call.add(dump(block["input"]).decode())
            case "text" if block.get("text"):
                yield TextDelta(block["text"])
            case "thinking":
                self._seals[place] = {"signature": block["signature"]} if block.get("signature") else {}
                if block.get("thinking"):
                    yield ReasoningDelta(block["thinking"])
            case "redacted_thinking":
                self._seals[place] = {"redacted": block.get("data") or ""}

    def _delta(self, place: int, delta: Json) -> Iterator[Event]:
        match delta["type"]:
            case "text_delta" if delta["text"]:
                yield TextDelta(delta["text"])
            case "thinking_delta" if delta["thinking"]:
                yield ReasoningDelta(delta["thinking"])
            case "signature_delta":
                seal = self._seals.setdefault(place, {})
                seal["signature"] = seal.get("signature", "") + delta["signature"]
            case "input_json_delta" if place in self._calls:
                yield from self._calls[place].add(delta["partial_json"])

    def _stop(self, place: int) -> Iterator[Event]:
        if place in self._seals:
            yield ReasoningEnd(self._seals.pop(place))
        if place in self._calls:
            yield self._calls.pop(place).end()

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """Later counts replace earlier ones: the first event knows the input, the last the output."""
        self._usage |= {name: value for name, value in (usage or {}).items() if value is not None}


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens without overlap, as this format counts them itself. Thinking is part of the output."""
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
    )

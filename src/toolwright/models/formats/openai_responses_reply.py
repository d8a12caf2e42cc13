"""A reply in the OpenAI responses format."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolwright.models.formats.call_ids import new_call_id
from toolwright.models.formats.wire import OpenCall, count, finish_reason
from toolwright.models.info import Usage
from toolwright.models.model import Event, Finish, FinishReason, ReasoningDelta, ReasoningEnd, TextDelta
from toolwright.models.transport.failures import stream_refusal
from toolwright.protocols.json_types import Json

_REASONS: Mapping[str, FinishReason] = {
    "": "stop",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}


class ResponsesReader:
    """Reads the events of one reply. Items are told apart by their place in the output."""

    continuation = ""

    def __init__(self, provider: str) -> None:
        self.finished = False
        self.done = False
        self._provider = provider
        self._open: dict[int, OpenCall] = {}
        self._called = False
        self._summaries = 0
        self._usage: Usage | None = None
        self._reason = ""

    def read(self, data: Json) -> Iterator[Event]:
        place = data.get("output_index") or 0
        match data.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                yield TextDelta(data["delta"])
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield ReasoningDelta(data["delta"])
            case "response.reasoning_summary_part.added":
                self._summaries += 1
                if self._summaries > 1:
                    yield ReasoningDelta("\n\n")
            case "response.output_item.added":
                yield from self._added(place, data["item"])
            case "response.function_call_arguments.delta" if place in self._open:
                yield from self._open[place].add(data["delta"])
            case "response.output_item.done":
                yield from self._complete(place, data["item"])
            case "response.completed" | "response.incomplete":
                self._close(data["response"])
            case "response.failed":
                raise stream_refusal(self._provider, data["response"].get("error") or {})
            case "error":
                raise stream_refusal(self._provider, data.get("error") or data)

    def end(self) -> Iterator[Event]:
        for call in self._open.values():
            yield call.end()
        if self._usage is not None:
            yield self._usage
        yield Finish(finish_reason(_REASONS, self._reason, called=self._called), self._reason)

    def _added(self, place: int, item: Json) -> Iterator[Event]:
        if item["type"] == "reasoning":
            self._summaries = 0
        if item["type"] == "function_call":
            call = OpenCall(id=item.get("call_id") or new_call_id(), name=item["name"])
            self._open[place] = call
            self._called = True
            yield call.start()

    def _complete(self, place: int, item: Json) -> Iterator[Event]:
        if item["type"] == "reasoning":
            kept = {name: item[name] for name in ("id", "encrypted_content") if item.get(name)}
            yield ReasoningEnd(kept if "encrypted_content" in kept else {})
        if item["type"] != "function_call":
            return
        if place not in self._open:
            yield from self._added(place, item)
        yield self._open.pop(place).end(item.get("arguments"))

    def _close(self, response: Json) -> None:
        self.finished = self.done = True
        self._reason = (response.get("incomplete_details") or {}).get("reason") or ""
        if response.get("usage"):
            self._usage = usage_of(response["usage"])


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens without overlap."""
    details = usage.get("input_tokens_details") or {}
    cached, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    reasoning = count((usage.get("output_tokens_details") or {}).get("reasoning_tokens"))
    return Usage(
        input=max(0, count(usage.get("input_tokens")) - cached - written),
        output=max(0, count(usage.get("output_tokens")) - reasoning),
        reasoning=reasoning,
        cache_read=cached,
        cache_write=written,
    )

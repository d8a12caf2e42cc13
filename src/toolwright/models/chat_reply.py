"""A reply in the OpenAI chat completions format, as OpenAI and its many imitators send it."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolwright.models.call_ids import new_call_id
from toolwright.models.encode import dump
from toolwright.models.failures import stream_refusal
from toolwright.models.info import Usage
from toolwright.models.model import (
    Event,
    Finish,
    FinishReason,
    Json,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
)
from toolwright.models.wire import OpenCall, count, finish_reason

_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


class ChatReader:
    """Reads the chunks of one reply."""

    def __init__(self, provider: str, *, keeps_details: bool) -> None:
        self.finished = False
        self.done = False
        self._provider = provider
        self._keeps_details = keeps_details
        self._details: list[Json] = []
        self._thinking = False
        self._calls: list[OpenCall] = []
        self._slots: dict[object, OpenCall] = {}
        self._usage: Usage | None = None
        self._reason = ""

    def read(self, data: Json) -> Iterator[Event]:
        if data.get("error"):
            raise stream_refusal(self._provider, data["error"])
        usage = data.get("usage") or (data.get("x_groq") or {}).get("usage")
        if usage:
            self._usage = usage_of(usage)
        for choice in data.get("choices") or ():
            yield from self._delta(choice.get("delta") or {})
            if choice.get("finish_reason"):
                self._reason = choice["finish_reason"]
                self.finished = True

    def end(self) -> Iterator[Event]:
        yield from self._rest()
        if self._details:
            yield ReasoningEnd({"reasoning_details": self._details})
        for call in self._calls:
            yield call.end()
        if self._usage is not None:
            yield self._usage
        yield Finish(finish_reason(_REASONS, self._reason or "stop", called=bool(self._calls)), self._reason)

    def _delta(self, delta: Json) -> Iterator[Event]:
        thought = self._thought(delta)
        if thought:
            self._thinking = True
            yield ReasoningDelta(thought)
        for kind, text in _pieces(delta.get("content") or delta.get("refusal")):
            if kind == "thinking":
                self._thinking = True
                yield ReasoningDelta(text)
            else:
                yield from self._rest()
                yield TextDelta(text)
        for part in delta.get("tool_calls") or ():
            yield from self._rest()
            yield from self._call(part)

    def _rest(self) -> Iterator[Event]:
        """The end of a stretch of reasoning, once something else comes."""
        if self._thinking:
            self._thinking = False
            yield ReasoningEnd({})

    def _thought(self, delta: Json) -> str:
        details = [entry for entry in delta.get("reasoning_details") or () if isinstance(entry, dict)]
        if self._keeps_details:
            for entry in details:
                _add_detail(self._details, entry)
        plain = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(plain, str):
            return plain
        return "".join(entry.get("text") or entry.get("summary") or "" for entry in details)

    def _call(self, part: Json) -> Iterator[Event]:
        function = part.get("function") or {}
        arguments = function.get("arguments") or ""
        call = self._slot(part)
        if call is None:
            call = OpenCall(id=part.get("id") or new_call_id(), name=function.get("name") or "")
            self._slots[_slot_name(part)] = call
            self._calls.append(call)
            yield call.start()
        call.name = call.name or function.get("name") or ""
        yield from call.add(arguments if isinstance(arguments, str) else dump(arguments).decode())

    def _slot(self, part: Json) -> OpenCall | None:
        """The call this piece belongs to; None for a new one.

        Some servers leave the index out, some give every call index 0: another id there means another call.
        """
        name = _slot_name(part)
        if name is None:
            return self._calls[-1] if self._calls else None
        held = self._slots.get(name)
        if held is not None and part.get("id") and part["id"] != held.id and (part.get("function") or {}).get("name"):
            return None
        return held


def _slot_name(part: Json) -> object:
    index = part.get("index")
    return index if index is not None else part.get("id") or None


def _pieces(content: Any) -> Iterator[tuple[str, str]]:
    """Text, or a list of text and thinking as Mistral sends it."""
    if isinstance(content, str):
        if content:
            yield "text", content
        return
    for entry in content or ():
        if entry.get("type") == "thinking":
            inner = entry.get("thinking") or ""
            whole = inner if isinstance(inner, str) else "".join(piece.get("text") or "" for piece in inner)
            yield "thinking", whole
        elif entry.get("text"):
            yield "text", entry["text"]


def _add_detail(details: list[Json], entry: Json) -> None:
    """Add a piece of OpenRouter's reasoning details: pieces of one detail share type and index."""
    last = details[-1] if details else None
    if last is None or last.get("type") != entry.get("type") or last.get("index") != entry.get("index"):
        details.append(dict(entry))
        return
    for key, value in entry.items():
        grows = key in {"text", "summary", "data"} and isinstance(value, str) and isinstance(last.get(key), str)
        if grows:
            last[key] += value
        elif value is not None:
            last[key] = value


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens without overlap. Prompt counts include cached ones; reply counts include reasoning, mostly."""
    into, out = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    into_details = usage.get("prompt_tokens_details") or {}
    cached = count(into_details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    written = count(into_details.get("cache_write_tokens"))
    reasoning = count((usage.get("completion_tokens_details") or {}).get("reasoning_tokens"))
    apart = count(usage.get("total_tokens")) == into + out + reasoning
    return Usage(
        input=max(0, into - cached - written),
        output=out if apart else max(0, out - reasoning),
        reasoning=reasoning,
        cache_read=cached,
        cache_write=written,
    )

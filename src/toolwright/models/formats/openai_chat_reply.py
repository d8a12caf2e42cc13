"""A reply in the OpenAI chat completions format, as OpenAI and its many imitators send it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolwright.models.encode import dump
from toolwright.models.formats.call_ids import new_call_id
from toolwright.models.formats.tagged_text import Kind, TaggedText, named_call
from toolwright.models.formats.wire import OpenCall, count, finish_reason
from toolwright.models.info import Usage
from toolwright.models.model import Event, Finish, FinishReason, ReasoningDelta, ReasoningEnd, TextDelta
from toolwright.models.transport.failures import stream_refusal
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json

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

    continuation = ""

    def __init__(self, provider: str, *, text_calls: bool = False) -> None:
        self.finished = False
        self.done = False
        self._provider = provider
        self._text = TaggedText(calls=text_calls)
        self._details: list[Json] = []
        self._blocks: list[Json] = []
        self._field = ""
        """Where the reasoning comes in, and so where it goes back."""
        self._thinking = False
        self._calls: list[OpenCall] = []
        self._slots: dict[object, OpenCall] = {}
        self._usage: Usage | None = None
        self._reason = ""

    def read(self, data: Json) -> Iterator[Event]:
        if data.get("error") or data.get("object") == "error":
            raise stream_refusal(self._provider, data.get("error") or data)
        usage = data.get("usage") or (data.get("x_groq") or {}).get("usage")
        if usage:
            self._usage = usage_of(usage)
        for choice in data.get("choices") or ():
            yield from self._delta(choice.get("delta") or _as_delta(choice.get("message") or {}))
            if choice.get("finish_reason"):
                self._reason = choice["finish_reason"]
                self.finished = True

    def end(self) -> Iterator[Event]:
        yield from self._tagged(self._text.close())
        yield from self._rest()
        sealed = {"reasoning_details": self._details, "thinking_blocks": self._blocks}
        if self._details or self._blocks:
            yield ReasoningEnd({name: entries for name, entries in sealed.items() if entries})
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
            yield from self._tagged([(kind, text)] if kind == "thinking" else self._text.feed(text))
        for part in delta.get("tool_calls") or ():
            yield from self._rest()
            yield from self._call(part)

    def _tagged(self, stretches: Iterable[tuple[Kind, str]]) -> Iterator[Event]:
        for kind, text in stretches:
            if kind == "thinking":
                self._thinking = True
                yield ReasoningDelta(text)
                continue
            yield from self._rest()
            if kind == "text":
                yield TextDelta(text)
            elif called := named_call(text):
                name, arguments = called
                yield from self._call({"function": {"name": name, "arguments": arguments}, "id": new_call_id()})

    def _rest(self) -> Iterator[Event]:
        """The end of a stretch of reasoning, once something else comes."""
        if self._thinking:
            self._thinking = False
            yield ReasoningEnd({"field": self._field} if self._field else {})

    def _thought(self, delta: Json) -> str:
        details = [entry for entry in delta.get("reasoning_details") or () if isinstance(entry, dict)]
        for entry in details:
            _add_detail(self._details, entry)
        for entry in delta.get("thinking_blocks") or ():
            if isinstance(entry, dict):
                _add_detail(self._blocks, entry)
        for name in ("reasoning_content", "reasoning", "reasoning_text"):
            if delta.get(name) and isinstance(delta[name], str):
                self._field = name
                return str(delta[name])
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

        Some servers leave the index out, some the id, some give every call index 0 or the same id: a name together
        with another id, or after arguments that are complete, means another call.
        """
        name, function = _slot_name(part), part.get("function") or {}
        held = self._slots.get(name) if name is not None else (self._calls[-1] if self._calls else None)
        if held is None or not function.get("name"):
            return held
        if part.get("id") and part["id"] != held.id:
            return None
        return None if _begins_anew(held, function) else held


def _begins_anew(held: OpenCall, function: Json) -> bool:
    """Return whether a named piece is the beginning of the next call and not more of this one."""
    begun = "".join(held.pieces[-1:]).rstrip()
    if not begun:
        return bool(held.name) and function["name"] != held.name and not held.pieces
    arguments = function.get("arguments") or ""
    if isinstance(arguments, str) and arguments.lstrip()[:1] not in {"", "{"}:
        return False
    return begun.endswith("}") and _is_whole("".join(held.pieces))


def _is_whole(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def _as_delta(message: Json) -> Json:
    """A whole message as if it had been streamed in one piece."""
    calls = message.get("tool_calls") or ()
    return {**message, "tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]}


def _slot_name(part: Json) -> object:
    index = part.get("index")
    return index if index is not None else part.get("id") or None


def _pieces(content: Any) -> Iterator[tuple[Kind, str]]:
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
    """Add a piece of OpenRouter's reasoning details or LiteLLM's thinking blocks: pieces of one share type, index."""
    last = details[-1] if details else None
    if last is None or last.get("type") != entry.get("type") or last.get("index") != entry.get("index"):
        details.append(dict(entry))
        return
    for key, value in entry.items():
        grows = (
            key in {"text", "summary", "data", "thinking", "signature"}
            and isinstance(value, str)
            and isinstance(last.get(key), str)
        )
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

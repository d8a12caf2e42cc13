"""A reply in the Gemini format."""

from collections.abc import Iterator, Mapping
from typing import Any

from toolwright.models.encode import dump
from toolwright.models.formats.call_ids import new_call_id
from toolwright.models.formats.wire import OpenCall, count, finish_reason
from toolwright.models.info import Usage
from toolwright.models.model import Event, Finish, FinishReason, ModelError, ReasoningDelta, ReasoningEnd, TextDelta
from toolwright.models.transport.failures import stream_refusal
from toolwright.protocols.json_types import Json

_REASONS: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "LANGUAGE": "content_filter",
    "CONTINUATION": "length",
}


_BROKEN: Mapping[str, str] = {
    "MALFORMED_FUNCTION_CALL": "the model wrote a call that cannot be read",
    "MALFORMED_RESPONSE": "the model wrote something that cannot be read",
    "UNEXPECTED_TOOL_CALL": "the model called a tool that it was not offered",
    "TOO_MANY_TOOL_CALLS": "the model called too many tools in a row",
}
"""Ends that leave nothing to use, and may come out better when asked again."""


class GeminiReader:
    """Reads the chunks of one reply. Calls come whole, and mostly without an id."""

    continuation = ""

    def __init__(self, provider: str) -> None:
        self.finished = False
        self.done = False
        self._provider = provider
        self._thinking = False
        self._called = False
        self._usage: Usage | None = None
        self._before: Usage | None = None
        """The tokens of earlier pieces of the same reply."""
        self._reason = ""

    def read(self, data: Json) -> Iterator[Event]:
        if data.get("error"):
            raise stream_refusal(self._provider, data["error"])
        blocked = (data.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            raise ModelError(
                f"{self._provider} refused the request: {blocked}. Put the request another way.", "content_filter"
            )
        if data.get("usageMetadata"):
            self._usage = usage_of(data["usageMetadata"])
        for candidate in data.get("candidates") or ():
            for part in (candidate.get("content") or {}).get("parts") or ():
                yield from self._part(part)
            if candidate.get("finishReason"):
                self._end_of(candidate)

    def end(self) -> Iterator[Event]:
        yield from self._rest()
        if self._usage is not None:
            yield _sum(self._before, self._usage)
        yield Finish(finish_reason(_REASONS, self._reason or "STOP", called=self._called), self._reason)

    def _end_of(self, candidate: Json) -> None:
        """Why it stopped. A reply that is only a piece has a token with which the rest is asked for."""
        self._reason = candidate["finishReason"]
        if self._reason in _BROKEN and not self._called:
            words = candidate.get("finishMessage") or _BROKEN[self._reason]
            raise ModelError(f"{self._provider} gave up on its reply ({self._reason}): {words}", "cut")
        self.finished = True
        if self._reason == "CONTINUATION" and candidate.get("continuationToken"):
            self.continuation = candidate["continuationToken"]
            self._before, self._usage = _sum(self._before, self._usage), None

    def _part(self, part: Json) -> Iterator[Event]:
        signature = {"thoughtSignature": part["thoughtSignature"]} if part.get("thoughtSignature") else {}
        if part.get("functionCall"):
            yield from self._rest()
            yield from self._call(part["functionCall"], signature)
            return
        text = part.get("text") or ""
        if part.get("thought"):
            self._thinking = True
            if text:
                yield ReasoningDelta(text)
        elif text:
            yield from self._rest()
            yield TextDelta(text)
        if signature:
            self._thinking = False
            yield ReasoningEnd(signature)

    def _rest(self) -> Iterator[Event]:
        if self._thinking:
            self._thinking = False
            yield ReasoningEnd({})

    def _call(self, function: Json, signature: Json) -> Iterator[Event]:
        self._called = True
        call = OpenCall(id=function.get("id") or new_call_id(), name=function["name"], signature=signature)
        yield call.start()
        yield from call.add(dump(function.get("args") or {}).decode())
        yield call.end()


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Tokens without overlap. Thoughts are counted apart from the reply, cached ones with the prompt."""
    cached = count(usage.get("cachedContentTokenCount"))
    into = count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount"))
    return Usage(
        input=max(0, into - cached),
        output=count(usage.get("candidatesTokenCount")),
        reasoning=count(usage.get("thoughtsTokenCount")),
        cache_read=cached,
    )


def _sum(before: Usage | None, now: Usage | None) -> Usage:
    """The tokens of all pieces of a reply; what was sent counts once."""
    before, now = before or Usage(), now or Usage()
    first = before if before.total else now
    return Usage(
        input=first.input,
        cache_read=first.cache_read,
        output=before.output + now.output,
        reasoning=before.reasoning + now.reasoning,
    )

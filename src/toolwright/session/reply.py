"""One reply of the model on its way into parts: text, reasoning and calls as they stream in."""

import time
from dataclasses import dataclass, field, replace

from toolwright.clock import now
from toolwright.messages import (
    Assistant,
    Cache,
    Message,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    Tokens,
)
from toolwright.models.info import Prices, Usage
from toolwright.models.model import (
    CallDelta,
    CallEnd,
    CallStart,
    Event,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
)
from toolwright.models.retry import Retry
from toolwright.parts import Part, PartKeys, Pending, Span, ToolPart, new_part
from toolwright.session.conversation import Conversation
from toolwright.session.events import PartDelta, SessionStatus

FLUSH_SECONDS = 1.0
"""How long streamed words may be in memory only."""

_THINK, _END_THINK = "<think>", "</think>"


@dataclass(slots=True)
class ReplyWriter:
    """Takes the events of one reply in turn. Until it is complete, a failed attempt can be forgotten whole."""

    conversation: Conversation
    message: Message
    prices: Prices
    calls: dict[str, CallEnd] = field(default_factory=dict[str, CallEnd])
    """The complete calls, by id, in order."""
    reason: str = ""
    usage: Usage | None = None
    _open: TextPart | ReasoningPart | None = None
    _pieces: list[str] = field(default_factory=list[str])
    """What has come of the open part; joined when it is written, so that a long text is not copied at every word."""
    _flushed: float = 0.0

    def start(self) -> None:
        self.conversation.put(StepStartPart(**self._new()))

    def take(self, event: Event | Retry) -> None:
        match event:
            case TextDelta(text):
                self._more(TextPart, text)
            case ReasoningDelta(text):
                self._more(ReasoningPart, text)
            case ReasoningEnd(signature):
                self._end_reasoning(signature)
            case CallStart(call_id, name):
                self._close()
                self.conversation.put(ToolPart(**self._new(), call_id=call_id, tool=name, state=Pending()))
            case CallDelta():
                pass
            case CallEnd():
                self.calls[event.id] = event
            case Usage():
                self.usage = event
            case Finish(reason):
                self.reason = reason
            case Retry():
                self._forget_attempt(event)

    def finish(self) -> None:
        """The reply is complete: close what is open, count the tokens, write the end of the step."""
        self._close()
        self._split_thinking()
        tokens = _tokens(self.usage or Usage())
        cost = self.prices.cost(self.usage or Usage())
        info = self._info()
        self.conversation.put(StepFinishPart(**self._new(), reason=self.finish_word, cost=cost, tokens=tokens))
        done = replace(info.time, completed=now())
        self.conversation.update(
            replace(info, finish=self.finish_word, tokens=tokens, cost=info.cost + cost, time=done)
        )

    def stop(self) -> None:
        """The reply is not going to be completed: keep what has come of it."""
        self._close()

    @property
    def finish_word(self) -> str:
        """How the reply ended, by what is in it: a reply with calls asks for their results."""
        if self.calls and self.reason in ("stop", "other", "tool_calls", ""):
            return "tool-calls"
        return {"content_filter": "content-filter", "other": "stop", "": "unknown"}.get(self.reason, self.reason)

    def part_of(self, call_id: str) -> ToolPart:
        return next(part for part in self.message.calls if part.call_id == call_id)

    def _info(self) -> Assistant:
        assert isinstance(self.message.info, Assistant)
        return self.message.info

    def _new(self) -> PartKeys:
        return new_part(self.conversation.id, self.message.info.id)

    def _more(self, kind: type[TextPart] | type[ReasoningPart], text: str) -> None:
        if not isinstance(self._open, kind):
            self._close()
            self._open = kind(**self._new(), text="", time=Span(start=now()))
            self.conversation.put(self._open)
            self._flushed = time.monotonic()
        self._pieces.append(text)
        self.conversation.bus.publish(
            PartDelta(
                session_id=self.conversation.id,
                message_id=self.message.info.id,
                part_id=self._open.id,
                field="text",
                delta=text,
            )
        )
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.conversation.put_part(replace(self._open, text="".join(self._pieces)))
            self._flushed = time.monotonic()

    def _end_reasoning(self, signature: dict[str, object]) -> None:
        if not isinstance(self._open, ReasoningPart):
            if not signature:
                return
            self._close()
            self._open = ReasoningPart(**self._new(), text="", time=Span(start=now()))
        self._open = replace(self._open, metadata=signature or None)
        self._close()

    def _close(self) -> None:
        if self._open is None:
            return
        start = self._open.time.start if self._open.time else now()
        text = "".join(self._pieces).rstrip()
        self.conversation.put(replace(self._open, text=text, time=Span(start=start, end=now())))
        self._open = None
        self._pieces.clear()

    def _split_thinking(self) -> None:
        """A local model that thinks aloud between tags: thinking is not part of the answer."""
        for part in list(self.message.parts.values()):
            if isinstance(part, TextPart) and part.text.lstrip().startswith(_THINK) and _END_THINK in part.text:
                thought, _, rest = part.text.lstrip().removeprefix(_THINK).partition(_END_THINK)
                span = part.time or Span(start=now(), end=now())
                self.conversation.put(
                    ReasoningPart(
                        id=part.id,
                        session_id=part.session_id,
                        message_id=part.message_id,
                        text=thought.strip(),
                        time=span,
                    )
                )
                self.conversation.put(TextPart(**self._new(), text=rest.strip(), time=span))

    def _forget_attempt(self, retry: Retry) -> None:
        """The attempt came to nothing: take its parts back, say why, and start afresh."""
        self._open = None
        self._pieces.clear()
        self.calls.clear()
        self.usage, self.reason = None, ""
        leftover: list[Part] = [part for part in self.message.parts.values() if not isinstance(part, StepStartPart)]
        for part in leftover:
            self.conversation.remove_part(part)
        status = {
            "type": "retry",
            "attempt": retry.attempt,
            "message": str(retry.error),
            "next": now() + int(retry.wait * 1000),
        }
        self.conversation.bus.publish(SessionStatus(session_id=self.conversation.id, status=status))


def _tokens(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input,
        output=usage.output,
        reasoning=usage.reasoning,
        cache=Cache(read=usage.cache_read, write=usage.cache_write),
    )

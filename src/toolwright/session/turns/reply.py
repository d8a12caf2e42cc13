"""One reply of the model on its way into parts: text, reasoning and calls as they stream in."""

import time
from dataclasses import field, replace

from toolwright.calls.parts import Part, Pending, Span, ToolPart
from toolwright.events import PartUpdated
from toolwright.messages import (
    Assistant,
    Cache,
    Message,
    PartKeys,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    Tokens,
    new_part,
)
from toolwright.models.info import Usage
from toolwright.models.model import (
    CallDelta,
    CallEnd,
    CallStart,
    Event,
    Finish,
    Model,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
)
from toolwright.models.transport.retry import Retry
from toolwright.record import record
from toolwright.session.events import MessageUpdated, PartDelta, SessionStatus
from toolwright.session.records.conversation import Conversation
from toolwright.text.ids import now

FLUSH_SECONDS = 1.0
"""Longest time that streamed words may be in memory only."""

_THINK, _END_THINK = "<think>", "</think>"


@record(slots=True)
class ReplyWriter:
    """Takes the events of one reply in turn. Until it is complete, a failed attempt can be forgotten whole."""

    conversation: Conversation
    message: Message
    model: Model
    calls: dict[str, CallEnd] = field(default_factory=dict[str, CallEnd])
    """The complete calls, by id, in order."""
    reason: str = ""
    usage: Usage | None = None
    _open: TextPart | ReasoningPart | None = None
    _pieces: list[str] = field(default_factory=list[str])
    """Pieces of the open part so far; joined when it is written, so that a long text is not copied at every word."""
    _flushed: float = 0.0
    _untold: list[Part] = field(default_factory=list[Part])
    """Complete parts that are not yet safe on disk, so that nobody has been told that they are complete."""
    _renamed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The ids that calls have here by the provider's: several where it gave one id twice, in the order they began."""
    _waiting: bool = False

    def start(self) -> None:
        self.conversation.put(StepStartPart(**self._new()))

    def take(self, event: Event | Retry) -> None:
        if self._waiting:
            self._waiting = False
            self._tell({"type": "busy"})
        match event:
            case TextDelta(text):
                self._more(TextPart, text)
            case ReasoningDelta(text):
                self._more(ReasoningPart, text)
            case ReasoningEnd(signature):
                self._end_reasoning(signature)
            case CallStart(call_id, name):
                self._begin_call(call_id, name)
            case CallDelta():
                pass
            case CallEnd():
                self._end_call(event)
            case Usage():
                self.usage = event
            case Finish(reason):
                self.reason = reason
            case Retry():
                self._forget_attempt(event)

    async def complete(self) -> None:
        """All of the reply has come: count its tokens. What goes before calls is told once it is safe on disk."""
        self._close()
        usage = self.usage or Usage()
        info = replace(
            self._info(),
            finish=self.finish_word,
            tokens=_tokens(usage),
            usage=None if self.usage else "unknown",
            cost=self.model.info.prices.cost(usage),
            # The one that has answered, which need not be the one that was asked first.
            provider_id=self.model.info.provider,
            model_id=self.model.info.id,
        )
        self.conversation.put_message(info)
        if self.calls:
            await self.conversation.settled()
            self._tell_complete()

    def finish(self) -> None:
        """The calls are done as well: write the end of the step, and have it told once it is safe on disk."""
        info = replace(self._info(), time=replace(self._info().time, completed=now()))
        end = StepFinishPart(**self._new(), reason=self.finish_word, cost=info.cost, tokens=info.tokens)
        self.conversation.put_part(end)
        self.conversation.put_message(info)
        untold = [PartUpdated(part=part) for part in self._untold]
        self._untold.clear()
        self.conversation.outbox.tell_when_safe(*untold, PartUpdated(part=end), MessageUpdated(info=info))

    def stop(self) -> None:
        """The reply is not going to be completed: keep what has come of it."""
        self._close()
        self._tell_complete()

    @property
    def finish_word(self) -> str:
        """Return how the reply ended, by what is in it: a reply with calls asks for their results."""
        if self.calls and self.reason in ("stop", "other", "tool_calls", ""):
            return "tool-calls"
        return {"content_filter": "content-filter", "other": "stop", "": "unknown"}.get(self.reason, self.reason)

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing was said and nothing asked for."""
        return not self.calls and not self.message.text

    def part_of(self, call_id: str) -> ToolPart:
        return next(part for part in self.message.calls if part.call_id == call_id)

    def _info(self) -> Assistant:
        assert isinstance(self.message.info, Assistant)
        return self.message.info

    def _new(self) -> PartKeys:
        return new_part(self.conversation.id, self.message.info.id)

    def _tell(self, status: dict[str, object]) -> None:
        self.conversation.tell(SessionStatus(session_id=self.conversation.id, status=status))

    def _tell_complete(self) -> None:
        for part in self._untold:
            self.conversation.tell(PartUpdated(part=part))
        self._untold.clear()

    def _more(self, kind: type[TextPart] | type[ReasoningPart], text: str) -> None:
        if not isinstance(self._open, kind):
            self._close()
            self._open = kind(**self._new(), text="", time=Span(start=now()))
            self.conversation.put(self._open)
            self._flushed = time.monotonic()
        self._pieces.append(text)
        self.conversation.tell(
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

    def _begin_call(self, call_id: str, name: str) -> None:
        """Announce a call. Some providers number the calls of each reply anew; here every id is given once."""
        self._close()
        unique, count = call_id, 1
        while self.conversation.knows_call(unique):
            count += 1
            unique = f"{call_id}_{count}"
        self._renamed.setdefault(call_id, []).append(unique)
        self.conversation.put(ToolPart(**self._new(), call_id=unique, tool=name, state=Pending()))

    def _end_call(self, end: CallEnd) -> None:
        unique = self._renamed[end.id].pop(0)
        self.calls[unique] = replace(end, id=unique)
        if end.signature:
            self.conversation.put_part(replace(self.part_of(unique), metadata=end.signature))

    def _close(self) -> None:
        """Complete the open part; what has no words and carries nothing else is taken back."""
        if self._open is None:
            return
        part, text = self._open, "".join(self._pieces)
        self._open = None
        self._pieces.clear()
        span = Span(start=part.time.start if part.time else now(), end=now())
        if isinstance(part, ReasoningPart):
            # Word for word, since a signature may be over these very words.
            self._keep(replace(part, text=text, time=span))
            return
        thought, answer = _split_thinking(text)
        if thought:
            # The thinking takes the place of the text it came in, so that it stays before the answer.
            keys = PartKeys(id=part.id, session_id=part.session_id, message_id=part.message_id)
            self._keep(ReasoningPart(**keys, text=thought, time=span))
            part = replace(part, id=self._new()["id"])
        if answer:
            self._keep(replace(part, text=answer, time=span))
        elif not thought:
            self.conversation.remove_part(part)

    def _keep(self, part: Part) -> None:
        self.conversation.put_part(part)
        self._untold.append(part)

    def _forget_attempt(self, retry: Retry) -> None:
        """The attempt came to nothing: take its parts back, say why, and start afresh."""
        self._open = None
        self._pieces.clear()
        self._untold.clear()
        self._renamed.clear()
        self.calls.clear()
        self.usage, self.reason = None, ""
        leftover: list[Part] = [part for part in self.message.parts.values() if not isinstance(part, StepStartPart)]
        for part in leftover:
            self.conversation.remove_part(part)
        next_at = now() + int(retry.wait * 1000)
        status = {"type": "retry", "attempt": retry.attempt, "message": str(retry.error), "next": next_at}
        self._tell({**status, "attempts": retry.attempts, "wait": retry.told, "reason": retry.reason})
        self._waiting = True


def _split_thinking(text: str) -> tuple[str, str]:
    """Thinking and answer of a local model that thinks aloud between tags.

    The first tag may be missing, where the server has put it into the prompt: then the last one stands on a line alone.
    """
    begun = text.lstrip().startswith(_THINK)
    thought, end, answer = text.lstrip().removeprefix(_THINK).partition(_END_THINK)
    alone = end and thought.endswith("\n") and answer[:1] in ("", "\n") and _THINK not in thought
    if (begun and end) or alone:
        return thought.strip(), answer.strip()
    return "", text.rstrip()


def _tokens(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input,
        output=usage.output,
        reasoning=usage.reasoning,
        cache=Cache(read=usage.cache_read, write=usage.cache_write),
    )

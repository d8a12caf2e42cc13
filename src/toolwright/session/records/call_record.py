"""The record of one call: its part, from pending to the end, on disk before anybody hears of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolwright.calls.builtin import INVALID
from toolwright.calls.parts import Completed, Failed, FilePart, Pending, Running, Span, State, ToolPart
from toolwright.definition import Attachment, Call, Result
from toolwright.events import Bus, PartUpdated
from toolwright.inbox import Question
from toolwright.permission.gate import AskedRequest
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.records.persisted_questions import QUESTION, stored_question
from toolwright.session.store import PartStore
from toolwright.text.ids import new_id, now

if TYPE_CHECKING:
    from toolwright.session.records.conversation import Outbox


SEEN = 1_000
"""Milliseconds at a question from which on it is told that a call began later."""


@record(slots=True)
class CallRecord:
    """Implements the door's journal for one call."""

    part: ToolPart
    store: PartStore | None
    """None for calls that nobody will come back to."""
    bus: Bus
    outbox: "Outbox | None" = None
    """Of the conversation, for a call of the model: its next step does not wait for the disk, only the telling does."""
    started: int = 0
    """Time when it began; the time for which a person was asked is no part of it, so it moves on by that."""
    _waits_since: int = 0
    asked: Sequence[AskedRequest] = ()
    """Requests of the call, as they are judged."""
    note: str = ""
    """Note that the model gets with the result, whatever that is."""

    @classmethod
    def begin(
        cls,
        call: Call,
        *,
        session_id: str,
        message_id: str,
        store: PartStore | None,
        bus: Bus,
        parent: str | None = None,
    ) -> "CallRecord":
        """A call that nobody has announced yet. It is told, but not stored: that it runs follows in the same breath."""
        part = ToolPart(
            id=new_id("prt"),
            session_id=session_id,
            message_id=message_id,
            call_id=call.id,
            tool=call.tool,
            state=Pending(),
            parent_call_id=parent,
        )
        bus.publish(PartUpdated(part=part))
        return cls(part, store, bus)

    def running(self, call: Call) -> None:
        self.started = now()
        self._write(call.tool, Running(input=_input(call), time=Span(start=self.started)))

    def progress(self, title: str | None, metadata: Json) -> None:
        """New title and metadata of a call that is under way; too late is simply ignored."""
        state = self.part.state
        if isinstance(state, Running):
            self._write(self.part.tool, replace(state, title=title or state.title, metadata=metadata))

    def count_waiting(self, *, waits: bool) -> None:
        """Leave the time at a question out of the time of the call."""
        if waits:
            self._waits_since = now()
            return
        waited = now() - self._waits_since
        self.started += waited
        state = self.part.state
        if isinstance(state, Running) and waited >= SEEN:
            self._write(self.part.tool, replace(state, time=Span(start=self.started)))

    def waits(self, question: Question | None) -> None:
        """Keep with the call what it waits for: whoever answers may come when this process is long over."""
        state = self.part.state
        if not isinstance(state, Running) or self.store is None:
            return
        metadata = {name: value for name, value in (state.metadata or {}).items() if name != QUESTION}
        if question is not None:
            metadata[QUESTION] = stored_question(question)
        self.part = replace(self.part, state=replace(state, metadata=metadata or None))
        self.store.put_part(self.part)

    async def finished(self, call: Call, result: Result) -> None:
        """Write the end of the call down, and tell of it only when it is safe on disk."""
        if self.note:
            result = replace(result, output=f"{result.output.rstrip()}\n\n{self.note}".strip())
        decisions = tuple(map(_decision, self.asked)) or None
        self.part = replace(self.part, tool=call.tool, state=self._end(call, result), decisions=decisions)
        if self.outbox is not None and self.store is not None:
            self.store.put_part(self.part)
            self.outbox.tell_when_safe(PartUpdated(part=self.part))
            return
        try:
            if self.store is not None:
                self.store.put_part(self.part)
                await self.store.settled()
        finally:
            # Also when the turn is stopped just now: whoever follows the call must see it end.
            self.bus.publish(PartUpdated(part=self.part))

    def _end(self, call: Call, result: Result) -> State:
        span = Span(start=self.started, end=now())
        # A call that could not be made is answered, as clients know it; the model reads what was wrong.
        if result.error is not None and call.tool != INVALID:
            metadata = self.part.state.metadata if isinstance(self.part.state, Running) else None
            stopped = result.error.kind == "aborted" and metadata is not None
            return Failed(
                input=_input(call),
                error=_with_output_so_far(result.output, metadata or {}) if stopped else result.output,
                kind=result.error.kind,
                metadata=result.metadata or (metadata if stopped else None),
                time=span,
            )
        return Completed(
            input=_input(call),
            output=result.output,
            title=result.title,
            metadata=result.metadata,
            time=span,
            attachments=tuple(map(self._file, result.attachments)) or None,
        )

    def _file(self, attachment: Attachment) -> FilePart:
        return FilePart(
            id=new_id("prt"),
            session_id=self.part.session_id,
            message_id=self.part.message_id,
            mime=attachment.mime,
            url=attachment.url,
            filename=attachment.filename,
        )

    def _write(self, tool: str, state: State) -> None:
        self.part = replace(self.part, tool=tool, state=state)
        if self.store is not None:
            self.store.put_part(self.part)
        tell = self.bus.publish if self.outbox is None else self.outbox.tell
        tell(PartUpdated(part=self.part))


def _with_output_so_far(error: str, metadata: Json) -> str:
    """Add what a stopped command had printed, so that it is not lost."""
    output = metadata.get("output")
    return f"{error}\n\nIts output until then:\n{output}" if isinstance(output, str) and output.strip() else error


def _decision(asked: AskedRequest) -> Json:
    """Return what became of one request: the rule, where that is written, and a person's answer to a question."""
    judgement = asked.judgement
    rule = judgement.decision.rule
    decision: Json = {"permission": judgement.request.permission, "pattern": judgement.pattern[:500]}
    decision["action"] = judgement.action
    if rule is not None:
        decision |= {"rule": str(rule)[:500], "source": rule.source}
    return decision | ({"reply": asked.reply} if asked.reply else {})


def _input(call: Call) -> Json:
    """The arguments, if they are an object at all; a model may send anything."""
    return call.arguments if isinstance(call.arguments, dict) else {}

"""Events of the sessions under way deduplicated, so that everything is told once, whatever the stream does.

Servers tell of a text that grows in three ways: in pieces, whole each time, or whole with the piece. After a broken
connection the beginning may come again, or the middle may be missing. What leaves here is always the same: the part
empty, its pieces, and the whole at its end.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from toolwright.calls.parts import Part
from toolwright.events import Event, PartUpdated, PermissionAsked, PermissionReplied
from toolwright.messages import Assistant, Info, Message, ReasoningPart, TextPart
from toolwright.record import record
from toolwright.session.events import (
    MessageUpdated,
    PartDelta,
    QuestionAsked,
    QuestionRejected,
    QuestionReplied,
    SessionIdle,
    SessionStatus,
)

Text = TextPart | ReasoningPart


@record(slots=True)
class EventDeduplicator:
    """Events in, events out. Of a session at rest nothing is remembered but which its last message was."""

    last: dict[str, str] = field(default_factory=dict[str, str])
    """By session the last message that was told."""
    open: dict[str, str] = field(default_factory=dict[str, str])
    """The questions that wait, each with its session."""
    _infos: dict[str, Info] = field(default_factory=dict[str, Info])
    _parts: dict[str, Part] = field(default_factory=dict[str, Part])
    """The parts of messages under way, as they were told; of a text that grows, with what was told of it."""
    _busy: set[str] = field(default_factory=set[str])

    @property
    def busy(self) -> tuple[str, ...]:
        """The sessions that are at work."""
        return tuple(self._busy)

    def take(self, event: Event) -> Iterator[Event]:
        """Yield what is to be told of an event; nothing if it was told before."""
        match event:
            case MessageUpdated(info=info):
                yield from self._take_info(info)
            case PartUpdated(part=TextPart() | ReasoningPart() as part) if self._is_answer(part):
                yield from self._take_text(part)
            case PartUpdated(part=part):
                yield from self._take_part(part)
            case PartDelta(part_id=part_id, delta=delta):
                known = self._parts.get(part_id)
                if isinstance(known, Text):
                    self._parts[part_id] = replace(known, text=known.text + delta)
                yield event
            case PermissionAsked(id=asked, session_id=session) | QuestionAsked(id=asked, session_id=session):
                if asked not in self.open:
                    self.open[asked] = session
                    yield event
            case PermissionReplied() | QuestionReplied() | QuestionRejected():
                # Also of a question that was there before anything was heard.
                self.open.pop(event.request_id, None)
                yield event
            case SessionStatus(session_id=session, status={"type": "idle"}):
                self._busy.discard(session)
                yield event
            case SessionStatus(session_id=session):
                self._busy.add(session)
                yield event
            case SessionIdle(session_id=session):
                self._rest(session)
                yield event
            case _:
                yield event

    def seen(self, session_id: str, messages: Sequence[Message]) -> None:
        """Somebody has read these messages: only what becomes of them is to be told."""
        self.last[session_id] = max((one.info.id for one in messages), default="")
        for message in messages:
            if isinstance(message.info, Assistant) and message.info.time.completed is None:
                self._infos[message.info.id] = message.info
                self._parts |= message.parts

    def catch_up(self, session_id: str, messages: Sequence[Message], *, at_work: bool) -> Iterator[Event]:
        """Yield what has become of a session while nothing was heard of it."""
        since = self.last.get(session_id, "")
        for message in messages:
            if message.info.id > since or message.info.id in self._infos:
                yield from self.take(MessageUpdated(info=message.info))
                for part in message.parts.values():
                    yield from self.take(PartUpdated(part=part))
        if session_id in self._busy and not at_work:
            yield from self.take(SessionStatus(session_id=session_id, status={"type": "idle"}))
            yield from self.take(SessionIdle(session_id=session_id))

    def withdrawn(self, waiting: Iterable[str]) -> Iterator[Event]:
        """The questions that were answered or given up while nothing was heard."""
        for question_id in [one for one in self.open if one not in set(waiting)]:
            yield PermissionReplied(session_id=self.open.pop(question_id), request_id=question_id, reply="reject")

    def _take_info(self, info: Info) -> Iterator[Event]:
        self.last[info.session_id] = max(info.id, self.last.get(info.session_id, ""))
        if self._infos.get(info.id) != info:
            self._infos[info.id] = info
            yield MessageUpdated(info=info)

    def _is_answer(self, part: Part) -> bool:
        """Only what an agent writes grows; a user's words come whole."""
        return isinstance(self._infos.get(part.message_id), Assistant)

    def _take_part(self, part: Part) -> Iterator[Event]:
        if self._parts.get(part.id) != part:
            self._parts[part.id] = part
            yield PartUpdated(part=part)

    def _take_text(self, part: Text) -> Iterator[Event]:
        reported = self._parts.get(part.id)
        if isinstance(reported, Text) and _is_complete(reported):
            return
        if not isinstance(reported, Text):
            reported = _begun(part)
            yield PartUpdated(part=reported)
        if len(part.text) > len(reported.text) and part.text.startswith(reported.text):
            yield PartDelta(
                session_id=part.session_id,
                message_id=part.message_id,
                part_id=part.id,
                field="text",
                delta=part.text[len(reported.text) :],
            )
            reported = replace(part, text=part.text)
        self._parts[part.id] = reported
        if _is_complete(part):
            self._parts[part.id] = part
            yield PartUpdated(part=part)

    def _rest(self, session_id: str) -> None:
        """Nothing of it is under way: what was told need not be remembered."""
        self._busy.discard(session_id)
        for known in [one for one, info in self._infos.items() if info.session_id == session_id]:
            del self._infos[known]
        for known in [one for one, part in self._parts.items() if part.session_id == session_id]:
            del self._parts[known]


def _begun(part: Text) -> Text:
    """A text before anything of it was written."""
    if isinstance(part, TextPart):
        return replace(part, text="", time=None if part.time is None else replace(part.time, end=None))
    return replace(part, text="", time=replace(part.time, end=None))


def _is_complete(part: Text) -> bool:
    return part.time is not None and part.time.end is not None

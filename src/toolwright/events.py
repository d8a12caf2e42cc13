"""What happens, as records, and the bus that tells whoever listens."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from toolwright.messages import AnyPart, Failure, Info, SessionInfo
from toolwright.wire import to_json

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. `type` is its name on the wire."""

    type: ClassVar[str]

    def to_json(self) -> Json:
        return {"type": self.type, "properties": to_json(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated(Event):
    type = "session.created"
    info: SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUpdated(Event):
    type = "session.updated"
    info: SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDeleted(Event):
    type = "session.deleted"
    info: SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatus(Event):
    """A session has begun to work, waits to try again, or is at rest."""

    type = "session.status"
    session_id: str
    status: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionIdle(Event):
    """A session is at rest: nothing of it is under way any more."""

    type = "session.idle"
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionError(Event):
    """A turn came to nothing."""

    type = "session.error"
    session_id: str
    error: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCompacted(Event):
    type = "session.compacted"
    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUpdated(Event):
    """A message is new or has changed."""

    type = "message.updated"
    info: Info


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRemoved(Event):
    type = "message.removed"
    session_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartUpdated(Event):
    """A part of a message is new or has changed."""

    type = "message.part.updated"
    part: AnyPart


@dataclass(frozen=True, slots=True, kw_only=True)
class PartDelta(Event):
    """More of a text that is being written; the whole follows when it is complete."""

    type = "message.part.delta"
    session_id: str
    message_id: str
    part_id: str
    field: str
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRemoved(Event):
    type = "message.part.removed"
    session_id: str
    message_id: str
    part_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionAsked(Event):
    """A call waits for an answer."""

    type = "permission.asked"
    id: str
    session_id: str
    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...]
    metadata: Json
    tool: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionReplied(Event):
    """A waiting call has its answer."""

    type = "permission.replied"
    session_id: str
    request_id: str
    reply: Literal["once", "always", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked(Event):
    """A tool waits for the user's choice."""

    type = "question.asked"
    id: str
    session_id: str
    questions: tuple[Json, ...]
    tool: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionReplied(Event):
    type = "question.replied"
    session_id: str
    request_id: str
    answers: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRejected(Event):
    type = "question.rejected"
    session_id: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoUpdated(Event):
    type = "todo.updated"
    session_id: str
    todos: tuple[Json, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdited(Event):
    """A tool has written a file."""

    type = "file.edited"
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWatcherUpdated(Event):
    """A file came, changed or went."""

    type = "file.watcher.updated"
    file: str
    event: Literal["add", "change", "unlink"]


Listener = Callable[[Event], None]


@dataclass(slots=True)
class Bus:
    """Tells every listener of every event, in the order they subscribed."""

    _listeners: list[Listener] = field(default_factory=list[Listener])

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Listen from now on; the returned function ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

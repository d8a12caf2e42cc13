"""Events of a conversation, as records for the bus."""

from toolwright.events import Event
from toolwright.messages import Failure, Info, SessionInfo
from toolwright.protocols.json_types import Json
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class SessionCreated(Event):
    type = "session.created"
    info: SessionInfo


@record(frozen=True, slots=True, kw_only=True)
class SessionUpdated(Event):
    type = "session.updated"
    info: SessionInfo


@record(frozen=True, slots=True, kw_only=True)
class SessionDeleted(Event):
    type = "session.deleted"
    info: SessionInfo


@record(frozen=True, slots=True, kw_only=True)
class SessionStatus(Event):
    """A session has begun to work, waits to try again, or is at rest."""

    type = "session.status"
    session_id: str
    status: Json


@record(frozen=True, slots=True, kw_only=True)
class SessionIdle(Event):
    """A session is at rest: nothing of it is under way any more."""

    type = "session.idle"
    session_id: str


@record(frozen=True, slots=True, kw_only=True)
class AgentSwitched(Event):
    """Another agent goes on with a session in the middle of a turn, and answers the next prompt too."""

    type = "session.agent"
    session_id: str
    agent: str


@record(frozen=True, slots=True, kw_only=True)
class SessionError(Event):
    """A turn came to nothing."""

    type = "session.error"
    session_id: str
    error: Failure


@record(frozen=True, slots=True, kw_only=True)
class SessionDiff(Event):
    """All files that a session has changed, each as it was before the session and as it is now."""

    type = "session.diff"
    session_id: str
    diff: tuple[Json, ...]


@record(frozen=True, slots=True, kw_only=True)
class SessionCompacted(Event):
    type = "session.compacted"
    session_id: str
    failed: str | None = None
    """Why no model wrote the summary, where none did."""


@record(frozen=True, slots=True, kw_only=True)
class MessageUpdated(Event):
    """A message is new or has changed."""

    type = "message.updated"
    info: Info


@record(frozen=True, slots=True, kw_only=True)
class MessageRemoved(Event):
    type = "message.removed"
    session_id: str
    message_id: str


@record(frozen=True, slots=True, kw_only=True)
class PartDelta(Event):
    """More of a text that is being written; the whole follows when it is complete."""

    type = "message.part.delta"
    session_id: str
    message_id: str
    part_id: str
    field: str
    delta: str


@record(frozen=True, slots=True, kw_only=True)
class PartRemoved(Event):
    type = "message.part.removed"
    session_id: str
    message_id: str
    part_id: str


@record(frozen=True, slots=True, kw_only=True)
class QuestionAsked(Event):
    """A tool waits for the user's choice."""

    type = "question.asked"
    id: str
    session_id: str
    questions: tuple[Json, ...]
    tool: Json | None = None


@record(frozen=True, slots=True, kw_only=True)
class QuestionReplied(Event):
    type = "question.replied"
    session_id: str
    request_id: str
    answers: tuple[tuple[str, ...], ...]


@record(frozen=True, slots=True, kw_only=True)
class QuestionRejected(Event):
    type = "question.rejected"
    session_id: str
    request_id: str


@record(frozen=True, slots=True, kw_only=True)
class TodoUpdated(Event):
    type = "todo.updated"
    session_id: str
    todos: tuple[Json, ...]

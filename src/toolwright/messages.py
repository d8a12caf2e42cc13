"""Messages and their parts as they are stored and sent: here the tool part and the states of a call."""

from dataclasses import dataclass, field
from typing import Any, Literal

from toolwright.errors import Kind

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """When something began and ended, in milliseconds since the epoch."""

    start: int
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file that belongs to a message: an attachment of a result, or one the user sent."""

    id: str
    session_id: str
    message_id: str
    mime: str
    url: str
    filename: str | None = None
    type: Literal["file"] = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The model has begun to write the call."""

    input: Json = field(default_factory=dict[str, Any])
    raw: str = ""
    status: Literal["pending"] = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The call is under way."""

    input: Json
    time: Span
    title: str | None = None
    metadata: Json | None = None
    status: Literal["running"] = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The call has come to its result."""

    input: Json
    output: str
    title: str
    metadata: Json
    time: Span
    attachments: tuple[FilePart, ...] | None = None
    status: Literal["completed"] = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The call has come to nothing, for a reason of this kind."""

    input: Json
    error: str
    time: Span
    kind: Kind = "crash"
    metadata: Json | None = None
    status: Literal["error"] = "error"


State = Pending | Running | Completed | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPart:
    """One tool call inside an assistant message."""

    id: str
    session_id: str
    message_id: str
    call_id: str
    tool: str
    state: State
    type: Literal["tool"] = "tool"

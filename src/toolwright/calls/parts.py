"""Parts of messages: what all have in common, and the tool part with the states of a call."""

from dataclasses import field
from typing import Any, Literal

from toolwright.calls.look import CallView
from toolwright.errors import Kind
from toolwright.protocols.json_types import Json
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Span:
    """When something began and ended, in milliseconds since the epoch."""

    start: int
    end: int | None = None
    compacted: int | None = None
    """When an old output was taken out of what the model is sent."""


@record(frozen=True, slots=True, kw_only=True)
class Part:
    """The fields of every part."""

    id: str
    session_id: str
    message_id: str


@record(frozen=True, slots=True, kw_only=True)
class FilePart(Part):
    """A file: an attachment of a result, or one the user sent."""

    mime: str
    url: str
    filename: str | None = None
    source: Json | None = None
    type: Literal["file"] = "file"


@record(frozen=True, slots=True, kw_only=True)
class Pending:
    """The model has begun to write the call."""

    input: Json = field(default_factory=dict[str, Any])
    raw: str = ""
    status: Literal["pending"] = "pending"


@record(frozen=True, slots=True, kw_only=True)
class Running:
    """The call is under way."""

    input: Json
    time: Span
    title: str | None = None
    metadata: Json | None = None
    status: Literal["running"] = "running"


@record(frozen=True, slots=True, kw_only=True)
class Completed:
    """The call has come to its result."""

    input: Json
    output: str
    title: str
    metadata: Json
    time: Span
    attachments: tuple[FilePart, ...] | None = None
    status: Literal["completed"] = "completed"


@record(frozen=True, slots=True, kw_only=True)
class Failed:
    """The call has come to nothing, for a reason of this kind."""

    input: Json
    error: str
    time: Span
    kind: Kind = "crash"
    metadata: Json | None = None
    status: Literal["error"] = "error"


State = Pending | Running | Completed | Failed


@record(frozen=True, slots=True, kw_only=True)
class ToolPart(Part):
    """One tool call inside an assistant message."""

    call_id: str
    tool: str
    state: State
    parent_call_id: str | None = None
    """The call that made this one, such as a batch; the model sees it only through that call's result."""
    metadata: Json | None = None
    """Data that the provider wants back with the call."""
    decisions: tuple[Json, ...] | None = None
    """Why it was allowed or not: what was asked for, the rule that decided, and what a person answered."""
    shown: CallView | None = None
    """The call as a person is shown it. Told with the part, not stored."""
    type: Literal["tool"] = "tool"

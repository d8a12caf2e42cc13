"""Results of turns, as a program gets them: the answer, the calls, changes, spending, and what was refused."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, get_args

from toolwright.calls.builtin import INVALID
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.definition import Attachment, Result
from toolwright.errors import Kind, ToolError, ToolwrightError
from toolwright.messages import Assistant, Failure, Message, called_name
from toolwright.proof.evidence import Evidence
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.budget import Spending
from toolwright.session.undo.changes import ChangedFile
from toolwright.text.diff import counts

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=None)
else:
    from typing import TypeVar

    T = TypeVar("T")

KINDS: tuple[Kind, ...] = get_args(Kind)
REFUSED: tuple[Kind, ...] = ("denied", "rejected")

NOT_REACHED = "GoalNotReachedError"
"""The name of the error of a goal that was given up."""

TurnKind = Literal[
    "aborted",
    "limit",
    "output",
    "goal",
    "empty",
    "length",
    "crash",
    "auth",
    "quota",
    "overload",
    "context_overflow",
    "content_filter",
    "network",
    "cut",
    "bad_request",
    "not_found",
]
_TURN_KINDS: tuple[TurnKind, ...] = get_args(TurnKind)
_KIND_OF: dict[str, TurnKind] = {
    "MessageAbortedError": "aborted",
    "LimitReachedError": "limit",
    "OutputError": "output",
    NOT_REACHED: "goal",
    "EmptyReplyError": "empty",
    "MessageOutputLengthError": "length",
    "ContextOverflowError": "context_overflow",
    "ContentFilterError": "content_filter",
}


class TurnError(ToolwrightError):
    """Why a turn came to nothing: `kind` in a word, as of a ToolError; `name` is what clients of servers know."""

    def __init__(self, message: str, name: str, trouble: object = None) -> None:
        """`trouble` is what a provider's failure was about."""
        super().__init__(message)
        self.name = name
        known: TurnKind = next((one for one in _TURN_KINDS if one == trouble), "crash")
        self.kind: TurnKind = _KIND_OF.get(name, known)


@record(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A call the model made, and its result."""

    tool: str
    arguments: Json
    result: Result
    id: str = ""
    session_id: str = ""
    """The session it was made in: a subagent has one of its own."""

    @property
    def was_refused(self) -> bool:
        """Tell whether a rule or a person did not allow it."""
        return self.result.error is not None and self.result.error.kind in REFUSED


@record(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """Tokens that the turn has taken, with its subagents'."""

    input: int = 0
    output: int = 0
    total: int = 0


@record(frozen=True, slots=True, kw_only=True)
class TurnResult(Generic[T]):
    """The whole of a turn, from the prompt to its end."""

    text: str
    """The answer; empty if the turn failed, or ended with a refusal before there was one."""
    session_id: str
    output: T = None  # type: ignore[assignment]  # there is none where none was asked for, and where there is an error
    """The answer as the type that was asked for; None if there is an `error`."""
    calls: tuple[MadeCall, ...] = ()
    """The turn's own; what a subagent calls is in its session."""
    changes: tuple[ChangedFile, ...] = ()
    tokens: TokenCount = field(default_factory=TokenCount)
    cost: float = 0.0
    steps: int = 0
    """The turn's own, without those of subagents."""
    finish: str = ""
    """Why the model stopped, as it says; `refused` where a person's no has ended the turn."""
    error: TurnError | None = None
    refused: tuple[MadeCall, ...] = ()
    """The calls that a rule or a person did not allow, those of subagents after the turn's own."""
    message_id: str = ""
    evidence: "Evidence | None" = None
    """Evidence that the goal of the prompt is reached; None where there was none."""


@record(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """The end of a turn as the session itself knows it."""

    message: Message
    spending: Spending
    changes: tuple[ChangedFile, ...] = ()


def turn_result(session_id: str, end: TurnEnd, messages: Sequence[Message], **more: Any) -> TurnResult:
    """The result of the messages that belong to a turn."""
    info = end.message.info
    failure = info.error if isinstance(info, Assistant) else None
    error = _error_of(failure) if failure else None
    calls = tuple(made_call(part) for message in messages for part in message.calls)
    spent = end.spending
    return TurnResult(
        text="" if error else end.message.text,
        session_id=session_id,
        calls=calls,
        changes=end.changes,
        tokens=TokenCount(input=spent.input, output=spent.output, total=spent.tokens),
        cost=spent.cost,
        steps=spent.steps,
        finish=_finish(end.message),
        refused=(*(one for one in calls if one.was_refused), *spent.refused_below),
        message_id=info.id,
        **({"error": error} | more),
    )


def _error_of(failure: Failure) -> TurnError:
    return TurnError(str(failure.data.get("message", failure.name)), failure.name, failure.data.get("kind"))


def joined(first: TurnResult[Any], second: TurnResult[Any]) -> TurnResult[Any]:
    """Two turns counted as one."""
    tokens = replace(
        first.tokens,
        input=first.tokens.input + second.tokens.input,
        output=first.tokens.output + second.tokens.output,
        total=first.tokens.total + second.tokens.total,
    )
    return replace(
        second,
        calls=(*first.calls, *second.calls),
        changes=_joined_changes(first.changes, second.changes),
        refused=(*first.refused, *second.refused),
        tokens=tokens,
        cost=first.cost + second.cost,
        steps=first.steps + second.steps,
    )


def _joined_changes(first: Sequence[ChangedFile], second: Sequence[ChangedFile]) -> tuple[ChangedFile, ...]:
    """Return what both together have changed: from what it was before the first to what it is after the second."""
    by_file = {one.file: one for one in first}
    for later in second:
        before = by_file[later.file].before if later.file in by_file else later.before
        additions, deletions = counts(before, later.after)
        by_file[later.file] = replace(later, before=before, additions=additions, deletions=deletions)
    return tuple(by_file.values())


def _finish(last: Message) -> str:
    if not isinstance(last.info, Assistant):
        return ""
    rejected = any(isinstance(part.state, Failed) and part.state.kind == "rejected" for part in last.calls)
    # A turn goes on after calls, unless a person's no has ended it.
    ended_by_no = rejected and last.info.finish == "tool-calls" and last.info.error is None
    return "refused" if ended_by_no else last.info.finish or ""


def made_call(part: ToolPart) -> MadeCall:
    """A call as its part has it."""
    return MadeCall(
        tool=called_name(part),
        arguments=part.state.input,
        result=result_of_call(part),
        id=part.call_id,
        session_id=part.session_id,
    )


def result_of_call(part: ToolPart) -> Result:
    """The result of a call as its part has it."""
    match part.state:
        case Completed() as state if part.tool == INVALID:
            kind = next((one for one in KINDS if one == state.input.get("kind")), None)
            return Result(state.output, title=state.title, error=ToolError(state.output, kind or "schema"))
        case Completed() as state:
            attachments = tuple(
                Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in state.attachments or ()
            )
            return Result(state.output, title=state.title, metadata=state.metadata, attachments=attachments)
        case Failed() as state:
            return Result(state.error, metadata=state.metadata or {}, error=ToolError(state.error, state.kind))
        case _:
            return Result.failed(ToolError("The call was never finished.", "aborted"))

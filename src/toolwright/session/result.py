"""What a turn came to, as a program gets it: the answer, the calls, what changed, what it took, what was refused."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from toolwright.definition import Attachment, Result
from toolwright.errors import ToolError, ToolwrightError
from toolwright.events import Event
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Message
from toolwright.parts import Completed, Failed, ToolPart
from toolwright.record import record
from toolwright.session.budget import Spending
from toolwright.session.changes import FileChange


class TurnError(ToolwrightError):
    """Why a turn came to nothing. `kind` is the name clients know it by."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


@record(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A call the model made, and its result."""

    tool: str
    arguments: Json
    result: Result
    id: str = ""


@record(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that the turn has changed, against what it was before the session."""

    file: str
    additions: int
    deletions: int
    before: str = field(default="", repr=False)
    after: str = field(default="", repr=False)


@record(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """Tokens that the turn has taken, with its subagents'."""

    input: int = 0
    output: int = 0
    total: int = 0


@record(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """The whole of a turn, from the prompt to its end."""

    text: str
    """The answer; empty if the turn failed."""
    session_id: str
    output: Any = None
    """The answer as the type that was asked for."""
    calls: tuple[MadeCall, ...] = ()
    changes: tuple[ChangedFile, ...] = ()
    tokens: TokenCount = field(default_factory=TokenCount)
    cost: float = 0.0
    steps: int = 0
    finish: str = ""
    """Why the model stopped, as it says."""
    error: TurnError | None = None
    refused: tuple[MadeCall, ...] = ()
    """The calls that a rule or a person did not allow."""
    message_id: str = ""


@record(frozen=True, slots=True, kw_only=True)
class TurnFinished(Event):
    """The last event of a stream: the turn is over."""

    type = "turn.finished"
    session_id: str
    result: TurnResult


@record(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """The end of a turn as the session itself knows it."""

    message: Message
    spending: Spending
    changes: tuple[FileChange, ...] = ()


def turn_result(session_id: str, end: TurnEnd, messages: Sequence[Message], **more: Any) -> TurnResult:
    """The result of the messages that belong to a turn."""
    info = end.message.info
    failure = info.error if isinstance(info, Assistant) else None
    error = TurnError(str(failure.data.get("message", failure.name)), failure.name) if failure else None
    calls = tuple(_calls(messages))
    spent = end.spending
    return TurnResult(
        text="" if error else end.message.text,
        session_id=session_id,
        calls=calls,
        changes=tuple(
            ChangedFile(
                file=one.file, additions=one.additions, deletions=one.deletions, before=one.before, after=one.after
            )
            for one in end.changes
        ),
        tokens=TokenCount(input=spent.input, output=spent.output, total=spent.tokens),
        cost=spent.cost,
        steps=spent.steps,
        finish=(info.finish or "") if isinstance(info, Assistant) else "",
        refused=tuple(one for one in calls if one.result.error and one.result.error.kind in ("denied", "rejected")),
        message_id=info.id,
        **({"error": error} | more),
    )


def _calls(messages: Sequence[Message]) -> Iterator[MadeCall]:
    for message in messages:
        for part in message.calls:
            yield MadeCall(tool=part.tool, arguments=part.state.input, result=_result_of(part), id=part.call_id)


def _result_of(part: ToolPart) -> Result:
    match part.state:
        case Completed() as state:
            attachments = tuple(
                Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in state.attachments or ()
            )
            return Result(state.output, title=state.title, metadata=state.metadata, attachments=attachments)
        case Failed() as state:
            return Result(state.error, metadata=state.metadata or {}, error=ToolError(state.error, state.kind))
        case _:
            return Result.failed(ToolError("The call was never finished.", "aborted"))

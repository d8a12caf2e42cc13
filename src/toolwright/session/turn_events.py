"""Events of a turn while it runs, as a program follows it: seven kinds, and no others."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic

from toolwright.definition import Result
from toolwright.inbox import Question
from toolwright.record import record
from toolwright.session.result import TurnResult

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=None)
else:
    from typing import TypeVar

    T = TypeVar("T")


@record(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More of what the model says."""

    text: str
    session_id: str
    message_id: str = ""
    part_id: str = ""
    """Pieces of one text have one id. A reply that is tried again begins with another."""

    @property
    def delta(self) -> str:
        """The same as `text`."""
        return self.text


@record(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """More of what the model thinks. It has no `text`, so that it is not taken for the answer."""

    thinking: str
    session_id: str
    message_id: str = ""
    part_id: str = ""


@record(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A call is under way."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    session_id: str
    parent_call_id: str = ""
    """The call that makes this one, such as a batch."""


@record(frozen=True, slots=True, kw_only=True)
class ToolProgress:
    """A call has something to show before it ends."""

    call_id: str
    tool: str
    session_id: str
    title: str = ""
    output: str = ""
    """The whole of its output so far, where it shows that."""
    metadata: Mapping[str, Any]
    """All that it shows."""


@record(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A call has ended; a refused one too, and one that could not be made."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    result: Result
    session_id: str
    parent_call_id: str = ""


@record(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question waits for a person; it may be that of a subagent."""

    question: Question
    session_id: str


@record(frozen=True, slots=True, kw_only=True)
class Finished(Generic[T]):
    """The turn is over: always the last event, and always there."""

    result: TurnResult[T]
    session_id: str


TurnEvent = TextDelta | ThinkingDelta | ToolStarted | ToolProgress | ToolFinished | Asked | Finished[T]
"""Every event of a stream. The union is closed: a `match` over all of it is complete."""

"""Sessions, messages and their other parts, as they are stored and as clients read them."""

from dataclasses import field
from typing import Literal, TypedDict

from toolwright.calls.builtin import INVALID
from toolwright.calls.parts import FilePart, Part, Span, ToolPart
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.ids import new_id

# Parts of a message.


class PartKeys(TypedDict):
    """The fields of Part, for making one of any kind: `TextPart(**new_part(...), text="hello")`."""

    id: str
    session_id: str
    message_id: str


def new_part(session_id: str, message_id: str) -> PartKeys:
    return {"id": new_id("prt"), "session_id": session_id, "message_id": message_id}


TYPED = "typed"
"""Key in the metadata of a text for the words of the person, if others have written the rest."""


@record(frozen=True, slots=True, kw_only=True)
class TextPart(Part):
    """Words, of the user or the model."""

    text: str
    synthetic: bool | None = None
    """Written by the program: the model reads it, people need not."""
    ignored: bool | None = None
    """Kept for people, not sent to the model."""
    time: Span | None = None
    metadata: Json | None = None
    type: Literal["text"] = "text"


@record(frozen=True, slots=True, kw_only=True)
class ReasoningPart(Part):
    """The model's thinking, with what its provider wants back."""

    text: str
    time: Span
    metadata: Json | None = None
    type: Literal["reasoning"] = "reasoning"


@record(frozen=True, slots=True, kw_only=True)
class AgentPart(Part):
    """An agent the user has named."""

    name: str
    source: Json | None = None
    type: Literal["agent"] = "agent"


@record(frozen=True, slots=True, kw_only=True)
class CompactionPart(Part):
    """Stands for everything before it, once the summary that answers it is written."""

    auto: bool
    tail_start_id: str | None = None
    """The first message that is kept word for word beside the summary."""
    failed: str | None = None
    """Why no model wrote the summary, where the prompts and the last answer stand instead."""
    type: Literal["compaction"] = "compaction"


@record(frozen=True, slots=True, kw_only=True)
class StepStartPart(Part):
    """The model was asked."""

    type: Literal["step-start"] = "step-start"


@record(frozen=True, slots=True, kw_only=True)
class Cache:
    """Tokens that came from, or went to, the provider's cache."""

    read: int = 0
    write: int = 0


@record(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens that a reply took; none is counted twice."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: Cache = field(default_factory=Cache)

    @property
    def total(self) -> int:
        return self.input + self.output + self.reasoning + self.cache.read + self.cache.write


@record(frozen=True, slots=True, kw_only=True)
class StepFinishPart(Part):
    """The model has finished its reply."""

    reason: str
    cost: float
    tokens: Tokens
    type: Literal["step-finish"] = "step-finish"


@record(frozen=True, slots=True, kw_only=True)
class PatchPart(Part):
    """The files that a step has changed."""

    hash: str
    files: tuple[str, ...]
    type: Literal["patch"] = "patch"


AnyPart = (
    TextPart
    | ReasoningPart
    | FilePart
    | AgentPart
    | CompactionPart
    | StepStartPart
    | StepFinishPart
    | PatchPart
    | ToolPart
)


# Messages.


@record(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """A model by name; empty where nobody has chosen one."""

    provider_id: str
    model_id: str

    def __str__(self) -> str:
        return f"{self.provider_id}/{self.model_id}" if self.provider_id else ""


@record(frozen=True, slots=True, kw_only=True)
class Moment:
    """Times at which something was made, changed and finished."""

    created: int
    updated: int | None = None
    completed: int | None = None
    archived: int | None = None


@record(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a reply came to nothing: a name programs know, and what to tell people."""

    name: str
    data: Json


@record(frozen=True, slots=True, kw_only=True)
class User:
    """The facts of a user message beside its parts."""

    id: str
    session_id: str
    time: Moment
    agent: str
    model: ModelRef
    system: str | None = None
    tools: dict[str, bool] | None = None
    variant: str | None = None
    role: Literal["user"] = "user"


@record(frozen=True, slots=True, kw_only=True)
class Paths:
    """Folders in which a reply was made."""

    cwd: str
    root: str


@record(frozen=True, slots=True, kw_only=True)
class Assistant:
    """The facts of one reply of the model beside its parts."""

    id: str
    session_id: str
    parent_id: str
    """The user message it answers."""
    time: Moment
    provider_id: str
    model_id: str
    agent: str
    mode: str
    path: Paths
    cost: float = 0.0
    tokens: Tokens = field(default_factory=Tokens)
    usage: Literal["unknown"] | None = None
    """Set where the provider did not count, so that nobody takes the zeros for the truth."""
    finish: str | None = None
    summary: bool | None = None
    """True if it is the summary that ends a compaction."""
    error: Failure | None = None
    role: Literal["assistant"] = "assistant"


Info = User | Assistant


@record(slots=True)
class Message:
    """A message and its parts, in order. Replaced piece by piece, never in place."""

    info: Info
    parts: dict[str, Part] = field(default_factory=dict[str, Part])

    @property
    def role(self) -> Literal["user", "assistant"]:
        return self.info.role

    def to_json(self) -> Json:
        """Return the message as JSON that `workspace.session(messages=[...])` takes again."""
        from toolwright.protocols.client_json import to_json

        return {"info": to_json(self.info), "parts": to_json(list(self.parts.values()))}

    @property
    def text(self) -> str:
        """The words that people read."""
        texts = (part for part in self.parts.values() if isinstance(part, TextPart))
        return "\n\n".join(part.text for part in texts if not part.synthetic and not part.ignored and part.text)

    @property
    def calls(self) -> list[ToolPart]:
        """The calls the model made; those that a call made in its turn are not among them."""
        tools = (part for part in self.parts.values() if isinstance(part, ToolPart))
        return [part for part in tools if part.parent_call_id is None]

    @property
    def open_calls(self) -> list[ToolPart]:
        """The calls that have not come to an end, whoever made them."""
        tools = (part for part in self.parts.values() if isinstance(part, ToolPart))
        return [part for part in tools if part.state.status in ("pending", "running")]


@record(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """The facts of a session without its messages."""

    id: str
    project_id: str
    directory: str
    title: str
    version: str
    time: Moment
    slug: str = ""
    """Two words that people can tell sessions apart by."""
    parent_id: str | None = None
    permission: tuple[Json, ...] | None = None
    summary: Json | None = None
    revert: Json | None = None
    spent: Json | None = None
    """Use of replies that were undone and removed: `cost` by agent, and `tokens`."""


def called_name(part: ToolPart) -> str:
    """The name that was called: that of the tool, or the one that was tried in vain."""
    return str(part.state.input.get("tool", part.tool)) if part.tool == INVALID else part.tool

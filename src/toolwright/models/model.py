"""The protocol of models: messages and tools in, a stream of events out, one kind of error."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol

from toolwright.definition import Attachment
from toolwright.errors import ToolwrightError
from toolwright.models.info import ModelInfo, Usage
from toolwright.protocols.json_types import Json
from toolwright.record import record


class Model(Protocol):
    """One model of one provider, ready to be asked."""

    @property
    def info(self) -> ModelInfo: ...

    def stream(
        self, messages: "Sequence[ModelMessage]", tools: "Sequence[ToolSpec]", settings: "ReplySettings"
    ) -> "AsyncGenerator[Event, None]":
        """The reply as it comes; `Finish` is the last event. Raises ModelError, nothing else.

        Pass the same message objects again at the next step: each is encoded once, for as long as it lives.
        Leave the stream early only inside `contextlib.aclosing`, so that the connection is let go at once.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. The model may be used again afterwards."""
        ...


# Messages. Weak references to them are what lets an adapter forget an encoding with its message.


@record(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class SystemMessage:
    """Instructions before the conversation; several are sent in order."""

    text: str


@record(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class UserMessage:
    """Text and files from the user, in the order they were given."""

    content: tuple[str | Attachment, ...]
    """A file whose kind the model cannot take is named to it in words instead."""
    note: str = ""
    """What the program says beside the user's words, such as the day; nobody but the model reads it."""

    @property
    def told(self) -> tuple[str | Attachment, ...]:
        """Return the content to send. The note ends the last text: many servers take a message only as one text."""
        if not self.note or not self.content:
            return self.content
        *before, last = self.content
        return (*before, f"{last}\n\n{self.note}") if isinstance(last, str) else (*self.content, self.note)


@record(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """A stretch of the model's thinking."""

    text: str
    signature: Json = field(default_factory=dict[str, Any])
    """What `ReasoningEnd` brought; the provider wants it back unchanged."""


@record(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """A tool call as the model made it."""

    id: str
    name: str
    arguments: Json
    signature: Json = field(default_factory=dict[str, Any])
    """What `CallEnd` brought; the provider wants it back unchanged."""


@record(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class AssistantMessage:
    """One earlier reply, in the order it came."""

    content: tuple[str | Reasoning | ModelCall, ...]
    model: str = ""
    """`provider/model` that wrote it. Signatures of another model are left out; empty means this model."""


@record(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class ToolMessage:
    """The result of one call. Every call of a reply needs one before the next user message."""

    call_id: str
    name: str
    output: str
    attachments: tuple[Attachment, ...] = ()
    failed: bool = False


ModelMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@record(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class ToolSpec:
    """A tool as it is offered to the model. Pass the same object again, as with messages."""

    name: str
    description: str
    schema: Mapping[str, Any]


ToolChoice = Literal["auto", "none", "required"]


@record(frozen=True, slots=True, kw_only=True)
class ReplySettings:
    """Settings for one reply; what is left out is left to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_output: int | None = None
    """The most tokens the reply may have; the model's own limit if that is lower."""
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice = "auto"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further settings by the names people know from `options` in configuration; unknown ones are sent as they are."""
    cache_key: str = ""
    """Requests with one key share a prompt cache where a provider can; the session's id."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    answer_schema: Mapping[str, Any] | None = None
    """The JSON Schema of the final answer; a provider that can is asked to hold the model to it."""
    omit: frozenset[str] = frozenset()
    """Fields of the wire that the provider has refused. `stream` among them asks for a whole reply, `strict` for tools
    and `answer` for an answer that are not held to their schemas."""
    purpose: Literal["main", "title", "compaction"] = "main"
    """Never sent. The scripted model answers a request by what it is for."""


# Events.


@record(frozen=True, slots=True)
class TextDelta:
    text: str


@record(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@record(frozen=True, slots=True)
class ReasoningEnd:
    """A stretch of reasoning is complete; its text may have been empty."""

    signature: Json


@record(frozen=True, slots=True)
class CallStart:
    id: str
    name: str


@record(frozen=True, slots=True)
class CallDelta:
    """The next piece of a call's arguments."""

    id: str
    text: str


@record(frozen=True, slots=True)
class CallEnd:
    """A call is complete. Its arguments are text as the model wrote it, which need not be valid JSON."""

    id: str
    name: str
    arguments: str
    signature: Json = field(default_factory=dict[str, Any])


FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "other"]


@record(frozen=True, slots=True)
class Finish:
    """The reply is complete. A reply with calls ends with `tool_calls` unless it was cut off or blocked."""

    reason: FinishReason
    raw: str = ""
    """The provider's own word."""


Event = TextDelta | ReasoningDelta | ReasoningEnd | CallStart | CallDelta | CallEnd | Usage | Finish
"""`Usage` comes at most once, before `Finish`; a provider that counts nothing sends none."""


# Errors.

Trouble = Literal[
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

_PASSING: frozenset[Trouble] = frozenset({"overload", "network", "cut"})


class ModelError(ToolwrightError):
    """A model did not answer, in a sentence the user can act on."""

    def __init__(
        self,
        message: str,
        kind: Trouble,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
        said: str = "",
        param: str = "",
    ) -> None:
        super().__init__(message)
        self.said = said
        """The provider's own words and codes."""
        self.param = param
        """The field the provider complains of, where it names one."""
        self.kind: Trouble = kind
        self.status = status
        self.retry_after = retry_after
        """Seconds the provider asked to wait, if it did."""
        self.retryable = kind in _PASSING if retryable is None else retryable
        """Whether the same request may succeed later."""

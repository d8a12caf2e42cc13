"""What the model is sent of a conversation: messages turned into its own kind, each once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolwright.messages import Assistant, CompactionPart, Message, ReasoningPart, TextPart, User
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelMessage,
    Reasoning,
    ToolMessage,
    UserMessage,
)
from toolwright.parts import Completed, Failed, FilePart, ToolPart
from toolwright.tool import Attachment

CLEARED = "[This old result was cleared to save room. Call the tool again if you need it.]"
INTERRUPTED = "[The call was interrupted before it came to a result.]"
WHAT_SO_FAR = "What have we done so far?"

_INLINED = ("text/plain", "application/x-directory")


@dataclass(slots=True)
class History:
    """Remembers the model's form of every finished message, so that an adapter encodes each only once."""

    _done: dict[str, tuple[ModelMessage, ...]] = field(default_factory=dict[str, tuple[ModelMessage, ...]])

    def of(self, messages: Sequence[Message]) -> list[ModelMessage]:
        """The conversation since its last summary, oldest first."""
        return [form for message in since_summary(messages) for form in self._forms(message)]

    def forget(self, message_id: str) -> None:
        """A finished message has changed after all."""
        self._done.pop(message_id, None)

    def _forms(self, message: Message) -> tuple[ModelMessage, ...]:
        info = message.info
        if info.id in self._done:
            return self._done[info.id]
        forms = tuple(_from_user(message) if isinstance(info, User) else _from_assistant(message, info))
        if isinstance(info, User) or info.time.completed is not None:
            self._done[info.id] = forms
        return forms


def since_summary(messages: Sequence[Message]) -> Sequence[Message]:
    """From the last finished summary on; what it kept word for word follows it."""
    for position in range(len(messages) - 1, -1, -1):
        if isinstance(messages[position].info, Assistant) and _is_summary(messages[position]):
            start = next(
                (index for index in range(position - 1, -1, -1) if isinstance(messages[index].info, User)), position
            )
            return [*messages[start : position + 1], *_tail(messages, start), *messages[position + 1 :]]
    return messages


def _is_summary(message: Message) -> bool:
    info = message.info
    return isinstance(info, Assistant) and bool(info.summary) and info.finish is not None and info.error is None


def _tail(messages: Sequence[Message], compaction: int) -> Sequence[Message]:
    part = next((part for part in messages[compaction].parts.values() if isinstance(part, CompactionPart)), None)
    if part is None or part.tail_start_id is None:
        return ()
    start = next((i for i in range(compaction) if messages[i].info.id == part.tail_start_id), compaction)
    return messages[start:compaction]


def _from_user(message: Message) -> Iterator[ModelMessage]:
    content: list[str | Attachment] = []
    for part in message.parts.values():
        match part:
            case TextPart() if not part.ignored and part.text:
                content.append(part.text)
            case FilePart() if part.mime not in _INLINED:
                content.append(Attachment(mime=part.mime, url=part.url, filename=part.filename))
            case CompactionPart():
                content.append(WHAT_SO_FAR)
            case _:
                pass
    if content:
        yield UserMessage(content=tuple(content))


def _from_assistant(message: Message, info: Assistant) -> Iterator[ModelMessage]:
    calls = [part for part in message.calls if info.error is None or part.state.status in ("completed", "error")]
    content: list[str | Reasoning | ModelCall] = []
    for part in message.parts.values():
        match part:
            case TextPart() if part.text:
                content.append(part.text)
            case ReasoningPart():
                content.append(Reasoning(text=part.text, signature=part.metadata or {}))
            case ToolPart() if part in calls:
                content.append(_call(part))
            case _:
                pass
    if not any(isinstance(piece, str | ModelCall) for piece in content):
        return
    yield AssistantMessage(content=tuple(content), model=f"{info.provider_id}/{info.model_id}")
    for part in calls:
        yield _result(part)


def _call(part: ToolPart) -> ModelCall:
    """The call as the model made it: one of an unknown tool keeps the name that was tried."""
    arguments = part.state.input
    name = str(arguments.get("tool", part.tool)) if part.tool == "invalid" else part.tool
    return ModelCall(id=part.call_id, name=name, arguments=arguments, signature=part.metadata or {})


def _result(part: ToolPart) -> ToolMessage:
    match part.state:
        case Completed() as state:
            cleared = state.time.compacted is not None
            return ToolMessage(
                call_id=part.call_id,
                name=part.tool,
                output=CLEARED if cleared else state.output,
                attachments=() if cleared else _attachments(state),
            )
        case Failed() as state:
            return ToolMessage(call_id=part.call_id, name=part.tool, output=state.error, failed=True)
        case _:
            return ToolMessage(call_id=part.call_id, name=part.tool, output=INTERRUPTED, failed=True)


def _attachments(state: Completed) -> tuple[Attachment, ...]:
    return tuple(Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in state.attachments or ())

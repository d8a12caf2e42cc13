"""Messages as the model is sent them: turned into its own kind, each once."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from toolwright.calls.parts import Completed, Failed, FilePart, ToolPart
from toolwright.definition import Attachment
from toolwright.messages import Assistant, CompactionPart, Message, ReasoningPart, TextPart, User, called_name
from toolwright.models.formats.sizes import size_of
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelMessage,
    Reasoning,
    ToolMessage,
    UserMessage,
)
from toolwright.record import record
from toolwright.session.records.conversation import Conversation

CLEARED = "[This old result was cleared to save room. Call the tool again if you need it.]"
INTERRUPTED = "[The call was interrupted before it came to a result.]"
WHAT_SO_FAR = "What have we done so far?"

_INLINED = ("text/plain", "application/x-directory")


@record(slots=True)
class History:
    """Remembers the model's form of every finished message, so that an adapter encodes each only once."""

    _done: dict[str, tuple[ModelMessage, ...]] = field(default_factory=dict[str, tuple[ModelMessage, ...]])
    _sizes: dict[str, int] = field(default_factory=dict[str, int])
    _days: dict[str, str] = field(default_factory=dict[str, str])

    def of(self, messages: Iterable[Message]) -> list[ModelMessage]:
        """The messages as the model is sent them, in order. The first prompt and the first of a later day tell the day.

        It is the day on which the prompt was written: what was sent once is sent again as it was.
        """
        done, forms, last_day = self._done, list[ModelMessage](), ""
        for message in messages:
            known = done.get(message.info.id) or self._forms(message)
            if known and isinstance(prompt := known[0], UserMessage):
                day = self._day(message)
                note, last_day = "" if day == last_day else f"[Today is {day}.]", day
                if prompt.note != note:
                    known = done[message.info.id] = (replace(prompt, note=note),)
            forms += known
        return forms

    def size(self, message: Message) -> int:
        """About how many tokens the message takes: four characters are one."""
        known = self._sizes.get(message.info.id)
        if known is not None:
            return known
        size = sum(map(size_of, self._forms(message)))
        if message.info.id in self._done:
            self._sizes[message.info.id] = size
        return size

    def forget(self, message_id: str) -> None:
        """A finished message has changed after all, or is gone."""
        self._done.pop(message_id, None)
        self._sizes.pop(message_id, None)

    def _day(self, message: Message) -> str:
        known = self._days.get(message.info.id)
        if known is None:
            written = time.localtime(message.info.time.created / 1000)
            known = self._days[message.info.id] = time.strftime("%A, %d %B %Y", written)
        return known

    def _forms(self, message: Message) -> tuple[ModelMessage, ...]:
        info = message.info
        if info.id in self._done:
            return self._done[info.id]
        forms = tuple(_from_user(message) if isinstance(info, User) else _from_assistant(message, info))
        if isinstance(info, User) or (info.time.completed is not None and not message.open_calls):
            self._done[info.id] = forms
        return forms


def since_summary(conversation: Conversation) -> list[Message]:
    """Return what the model is sent: from the last finished summary on, with what that kept word for word."""
    messages = conversation.messages
    position = conversation.summary_position()
    if position is None:
        return messages
    mark = _mark_of(messages, position)
    return [*messages[mark : position + 1], *messages[_tail_start(messages, mark) : mark], *messages[position + 1 :]]


def kept_from(conversation: Conversation) -> int:
    """Return how many messages at the beginning the model is no longer sent."""
    position = conversation.summary_position()
    return 0 if position is None else _tail_start(conversation.messages, _mark_of(conversation.messages, position))


def _mark_of(messages: Sequence[Message], summary: int) -> int:
    """The prompt that a summary answers."""
    return next((index for index in range(summary - 1, -1, -1) if isinstance(messages[index].info, User)), summary)


def _tail_start(messages: Sequence[Message], mark: int) -> int:
    part = next((part for part in messages[mark].parts.values() if isinstance(part, CompactionPart)), None)
    if part is None or part.tail_start_id is None:
        return mark
    return next((index for index in range(mark) if messages[index].info.id == part.tail_start_id), mark)


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
    return ModelCall(id=part.call_id, name=called_name(part), arguments=part.state.input, signature=part.metadata or {})


def _result(part: ToolPart) -> ToolMessage:
    match part.state:
        case Completed() as state:
            cleared = state.time.compacted is not None
            return ToolMessage(
                call_id=part.call_id,
                name=called_name(part),
                output=CLEARED if cleared else state.output,
                attachments=() if cleared else _attachments(state),
            )
        case Failed() as state:
            return ToolMessage(call_id=part.call_id, name=called_name(part), output=state.error, failed=True)
        case _:
            return ToolMessage(call_id=part.call_id, name=called_name(part), output=INTERRUPTED, failed=True)


def _attachments(state: Completed) -> tuple[Attachment, ...]:
    return tuple(Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in state.attachments or ())

"""Messages that a program gives a session to begin with: those of another session, or words from anywhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolwright.errors import UsageError
from toolwright.messages import Assistant, Message, ModelRef, Moment, Paths, TextPart, User, new_part
from toolwright.session.storage.copies import copied, message_of
from toolwright.text.ids import new_id, now

if TYPE_CHECKING:
    from toolwright.session.records.conversation import Conversation

GivenMessages = Sequence[Message | Mapping[str, Any]]
"""Messages of a session, as records or as their JSON, or `{"role": "user" or "assistant", "content": text}`."""


def check_messages(messages: object) -> list[Message]:
    """Return the messages that a program gives. UsageError for what is none."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise UsageError(f"messages={messages!r:.60} is no list of messages.")
    checked = list[Message]()
    for entry in messages:
        checked.append(_message(entry, checked[-1].info.id if checked else ""))
    return checked


def begin_with(conversation: "Conversation", messages: Sequence[Message]) -> None:
    """Let a new conversation begin with copies of messages."""
    for message in copied(messages, conversation.id):
        conversation.add(message.info, list(message.parts.values()))


def _message(message: object, before: str) -> Message:
    match message:
        case Message():
            return message
        case {"role": "user" | "assistant" as role, "content": str(text)}:
            return _worded(role, text, before)
        case {"info": _, "parts": _}:
            try:
                return message_of(message)
            except (KeyError, TypeError, ValueError) as error:
                raise UsageError(f"messages= has a message that is damaged: {str(error)[:200]}.") from error
        case _:
            raise UsageError(
                f"messages= has {message!r:.60}: give messages of a session, or"
                ' {"role": "user" or "assistant", "content": "..."}.'
            )


def _worded(role: str, text: str, before: str) -> Message:
    """A message that is nothing but words."""
    name, time = new_id("msg"), Moment(created=now(), completed=now())
    part = TextPart(**new_part("", name), text=text)
    if role == "user":
        nobody = ModelRef(provider_id="", model_id="")
        info: User | Assistant = User(id=name, session_id="", time=time, agent="", model=nobody)
    else:
        info = Assistant(
            id=name,
            session_id="",
            parent_id=before,
            time=time,
            provider_id="",
            model_id="",
            agent="",
            mode="",
            path=Paths(cwd="", root=""),
            finish="stop",
        )
    return Message(info, {part.id: part})

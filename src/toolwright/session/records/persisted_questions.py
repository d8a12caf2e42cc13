"""Questions that outlive the process that asked: kept in the record of their call, and read from there again."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from toolwright.calls.parts import Failed, Running, ToolPart
from toolwright.inbox import Question
from toolwright.protocols.json_types import Json

if TYPE_CHECKING:
    from toolwright.messages import Message
from toolwright.calls.request import Need

QUESTION = "question"
"""Key, in the metadata of a call, of the question that it waits for."""


def stored_question(question: Question) -> Json:
    """Return what is kept of a question beside the call itself."""
    return {
        "id": question.id,
        "title": question.title,
        "agent": question.agent,
        "permission": question.permission,
        "patterns": list(question.patterns),
        "also": [{"permission": one.permission, "patterns": list(one.patterns)} for one in question.also],
        "always": list(question.always),
        "metadata": dict(question.metadata),
    }


def kept_question(part: ToolPart) -> Json | None:
    """Return the metadata of a call that ends while it waits, if it does."""
    question = (part.state.metadata or {}).get(QUESTION) if isinstance(part.state, Running) else None
    return {QUESTION: question} if question else None


def questions_left(messages: "Iterable[Message]") -> "Iterator[tuple[Question, Message, ToolPart]]":
    """Return the questions that nobody has answered, with the calls that wait for them."""
    for message in messages:
        for part in message.calls:
            state = part.state
            kept = (state.metadata or {}).get(QUESTION) if isinstance(state, Failed) else None
            if isinstance(kept, dict) and isinstance(state, Failed) and state.kind == "aborted":
                yield _question(part, state.input, kept), message, part


def _question(part: ToolPart, arguments: Json, kept: Json) -> Question:
    return Question(
        kind="permission",
        id=str(kept.get("id")),
        session_id=part.session_id,
        message_id=part.message_id,
        call_id=part.call_id,
        tool=part.tool,
        arguments=arguments,
        title=str(kept.get("title", "")),
        agent=str(kept.get("agent", "")),
        permission=str(kept.get("permission", "")),
        patterns=tuple(map(str, kept.get("patterns", ()))),
        also=tuple(Need(permission=one["permission"], patterns=tuple(one["patterns"])) for one in kept.get("also", ())),
        always=tuple(map(str, kept.get("always", ()))),
        metadata=kept.get("metadata") or {},
    )

"""A stored session as a script for a model: what it said, subagents included."""

from collections.abc import Callable, Iterator, Sequence

from toolwright.calls.parts import ToolPart
from toolwright.messages import Assistant, Message, ReasoningPart, TextPart, User
from toolwright.protocols.json_types import Json
from toolwright.session.undo.undo import child_of

Children = Callable[[str], Sequence[Message]]
"""The messages of a subagent's session, by its id."""


def script_of(messages: Sequence[Message], children: Children = lambda _: ()) -> Json:
    """Return the model's side of a session, as a script that `scripted/FILE` plays; and the prompts it was said to."""
    prompts = [message.text for message in messages if isinstance(message.info, User)]
    return {"prompts": prompts, "turns": list(_turns(messages, children))}


def _turns(messages: Sequence[Message], children: Children) -> Iterator[Json]:
    for message in messages:
        info = message.info
        if not isinstance(info, Assistant):
            continue
        parts = list(message.parts.values())
        turn: Json = {"kind": "compaction"} if info.summary else {}
        if reasoning := "".join(part.text for part in parts if isinstance(part, ReasoningPart)):
            turn["reasoning"] = reasoning
        if text := "".join(part.text for part in parts if isinstance(part, TextPart) and not part.synthetic):
            turn["text"] = text
        calls = [part for part in parts if isinstance(part, ToolPart) and part.parent_call_id is None]
        if calls:
            turn["tools"] = [{"name": part.tool, "args": part.state.input, "id": part.call_id} for part in calls]
        if info.error is not None:
            turn["error"] = {"message": str(info.error.data.get("message", info.error.name)), "retryable": False}
        if turn:
            yield turn
        for part in calls:
            yield from _turns(during(part, children(child_of(part))), children)


def during(part: ToolPart, messages: Sequence[Message]) -> list[Message]:
    """Return a subagent's messages in one call: another may have gone on with its session."""
    span = getattr(part.state, "time", None)
    if span is None:
        return [*messages]
    return [one for one in messages if span.start <= one.info.time.created <= (span.end or one.info.time.created)]

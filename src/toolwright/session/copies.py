"""Copies of sessions: as one JSON value to take elsewhere, back from it, and under another id."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolwright.errors import UsageError
from toolwright.ids import is_id, new_id
from toolwright.messages import AnyPart, CompactionPart, Info, Message, PatchPart, SessionInfo, User
from toolwright.parts import Part
from toolwright.session.store import Store
from toolwright.wire import from_json, to_json

Json = dict[str, Any]


def exported(info: SessionInfo, messages: Sequence[Message]) -> Json:
    """A session as one JSON value."""
    return {
        "info": to_json(info),
        "messages": [
            {"info": to_json(message.info), "parts": to_json(list(message.parts.values()))} for message in messages
        ],
    }


def read_export(value: Any) -> tuple[SessionInfo, list[Message]]:
    """A session from such a value; UsageError if it is none."""
    try:
        info: SessionInfo = from_json(SessionInfo, value["info"])
        messages = [_message(entry) for entry in value["messages"]]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"This is not an exported session: {error}. It needs `info` and `messages`.") from error
    if not is_id(info.id, "ses"):
        raise UsageError(f"{info.id!r} is not the id of a session.")
    return info, messages


def write_copy(storage: Store, info: SessionInfo, messages: Sequence[Message], *, keep_ids: bool) -> None:
    """Store messages under a session, with ids of their own unless they are to keep them."""
    names: dict[str, str] = {} if keep_ids else {message.info.id: new_id("msg") for message in messages}
    storage.put_session(info)
    for message in messages:
        copied = _renamed(message.info, info.id, names)
        storage.put_message(copied)
        for part in message.parts.values():
            part_id = part.id if keep_ids else new_id("prt")
            moved = replace(part, id=part_id, session_id=info.id, message_id=copied.id)
            storage.put_part(_repointed(moved, names))


def _renamed(info: Info, session_id: str, names: Mapping[str, str]) -> Info:
    name = names.get(info.id, info.id)
    if isinstance(info, User):
        return replace(info, id=name, session_id=session_id)
    return replace(info, id=name, session_id=session_id, parent_id=names.get(info.parent_id, info.parent_id))


def _repointed(part: Part, names: Mapping[str, str]) -> Part:
    """A part that names a message, with the name that message has in the copy."""
    match part:
        case CompactionPart(tail_start_id=str(start)):
            return replace(part, tail_start_id=names.get(start, start))
        case PatchPart(hash=message_id):
            return replace(part, hash=names.get(message_id, message_id))
        case _:
            return part


def _message(value: Any) -> Message:
    info: Info = from_json(Info, value["info"])
    parts: list[AnyPart] = [from_json(AnyPart, part) for part in value["parts"]]
    return Message(info, {part.id: part for part in parts})

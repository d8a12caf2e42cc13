"""Copies of sessions: as one JSON value to take elsewhere, back from it, and under another id."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolwright.calls.parts import Part, Pending, ToolPart
from toolwright.errors import UsageError
from toolwright.messages import AnyPart, CompactionPart, Info, Message, ModelRef, PatchPart, SessionInfo, User
from toolwright.protocols.client_json import from_json, to_json
from toolwright.protocols.json_types import Json
from toolwright.session.store import Store
from toolwright.text.ids import is_id, new_id


def exported(info: SessionInfo, messages: Sequence[Message]) -> Json:
    """A session as one JSON value."""
    return {
        "info": to_json(info),
        "messages": [
            {"info": to_json(message.info), "parts": to_json(list(message.parts.values()))} for message in messages
        ],
    }


def read_export(value: Any) -> tuple[SessionInfo, list[Message]]:
    """A session from such a value; UsageError if it is none. Nothing in it is taken on trust."""
    try:
        info: SessionInfo = from_json(SessionInfo, value["info"])
        messages = [message_of(entry) for entry in value["messages"]]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise UsageError(f"This is not an exported session: {reason}. It needs `info` and `messages`.") from error
    return info, messages


def ids_of(info: SessionInfo, messages: Sequence[Message]) -> list[str] | None:
    """Every id of a session from elsewhere; None if they cannot all stay, being none or there twice."""
    message_ids = [message.info.id for message in messages]
    part_ids = [part_id for message in messages for part_id in message.parts]
    well_formed = (
        is_id(info.id, "ses")
        and all(is_id(one, "msg") for one in message_ids)
        and all(is_id(one, "prt") for one in part_ids)
    )
    ids = [info.id, *message_ids, *part_ids]
    return ids if well_formed and len(set(ids)) == len(ids) else None


def write_copy(store: Store, info: SessionInfo, messages: Sequence[Message], *, keep_ids: bool) -> None:
    """Store messages under a session, with ids of their own unless they are to keep them."""
    fresh = [message.info.id if keep_ids else new_id("msg") for message in messages]
    names = {message.info.id: name for message, name in zip(messages, fresh, strict=True)}
    store.put_session(info)
    for message, name in zip(messages, fresh, strict=True):
        store.put_message(_renamed(message.info, name, info.id, names))
        for part in message.parts.values():
            part_id = part.id if keep_ids else new_id("prt")
            moved = replace(part, id=part_id, session_id=info.id, message_id=name)
            store.put_part(_repointed(moved, names))


def copied(messages: Sequence[Message], session_id: str) -> list[Message]:
    """Return the messages under another session, with new ids; no more of them than their words and calls."""
    names = {message.info.id: new_id("msg") for message in messages}
    copies = list[Message]()
    for message in without_choices(without_sessions(messages)):
        name = names[message.info.id]
        parts = [
            _repointed(replace(part, id=new_id("prt"), session_id=session_id, message_id=name), names)
            for part in message.parts.values()
        ]
        copies.append(Message(_renamed(message.info, name, session_id, names), {part.id: part for part in parts}))
    return copies


def message_of(value: Any) -> Message:
    """Return a message of an export. Raises KeyError, TypeError or ValueError for what is none."""
    info: Info = from_json(Info, value["info"])
    parts: list[AnyPart] = [from_json(AnyPart, part) for part in value["parts"]]
    return Message(info, {part.id: part for part in parts})


def without_choices(messages: Sequence[Message]) -> list[Message]:
    """The same without who was asked, so that it is not a file that says which agent and model goes on."""
    nobody = ModelRef(provider_id="", model_id="")
    return [
        Message(
            replace(one.info, agent="", model=nobody, variant=None) if isinstance(one.info, User) else one.info,
            one.parts,
        )
        for one in messages
    ]


def without_sessions(messages: Sequence[Message]) -> list[Message]:
    """The same without the names of other sessions, which are nobody's to give away in a file."""
    return [Message(one.info, {name: _without_session(part) for name, part in one.parts.items()}) for one in messages]


def _without_session(part: Part) -> Part:
    if not isinstance(part, ToolPart) or isinstance(part.state, Pending) or not part.state.metadata:
        return part
    kept = {key: value for key, value in part.state.metadata.items() if key != "sessionId"}
    return replace(part, state=replace(part.state, metadata=kept))


def _renamed(info: Info, name: str, session_id: str, names: Mapping[str, str]) -> Info:
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

"""Events of a server, read into the records that the program itself publishes."""

from typing import Any

from toolwright import events as of_calls
from toolwright.calls.request import Need, Option
from toolwright.events import Event, PartUpdated
from toolwright.inbox import Choice, Question
from toolwright.messages import AnyPart, SessionInfo
from toolwright.protocols.client_json import from_json
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.session import events as of_sessions

_KINDS: dict[str, type[Event]] = {
    kind.type: kind
    for module in (of_calls, of_sessions)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
}


def payload_of(data: str) -> Json | None:
    """Return the content of one event of a stream, `{type, properties}`; None for what is nothing of the kind."""
    try:
        payload: Any = read_json(data)
    except ValueError:
        return None
    properties = payload.get("properties") if isinstance(payload, dict) else None
    if not isinstance(properties, dict) or not isinstance(payload.get("type"), str):
        return None
    about = (properties.get(name) for name in ("part", "info", "tool"))
    return payload if all(one is None or isinstance(one, dict) for one in about) else None


def event_of(payload: Json) -> Event | None:
    """An event of a stream as a record; None for what this version does not know."""
    kind = _KINDS.get(payload["type"])
    if kind is None:
        return None
    try:
        if kind is PartUpdated:
            return PartUpdated(part=from_json(AnyPart, payload["properties"]["part"]))
        event: Event = from_json(kind, payload["properties"])
    except (KeyError, TypeError, ValueError):
        return None
    return event


def session_of_event(event: Event) -> str:
    """The session that an event is about; empty if it is about none."""
    if isinstance(event, PartUpdated):
        return event.part.session_id
    info = getattr(event, "info", None)
    if info is not None:
        return info.id if isinstance(info, SessionInfo) else str(info.session_id)
    return str(getattr(event, "session_id", ""))


def question_of(payload: Json) -> Question | None:
    """The question that an event puts to somebody; None if it puts none, or none that can be understood."""
    try:
        return _question(payload)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _question(payload: Json) -> Question | None:
    asked, tool = payload["properties"], payload["properties"].get("tool") or {}
    keys: Json = {"call_id": tool.get("callID", ""), "message_id": tool.get("messageID", "")}
    if payload["type"] == "question.asked":
        choices = tuple(map(_choice, asked["questions"]))
        return Question(kind="choice", id=asked["id"], session_id=asked["sessionID"], choices=choices, **keys)
    if payload["type"] != "permission.asked":
        return None
    call = asked.get("call") or {}
    return Question(
        kind="permission",
        id=asked["id"],
        session_id=asked["sessionID"],
        tool=call.get("tool", ""),
        arguments=call.get("arguments", {}),
        title=call.get("title") or f"{asked['permission']} {', '.join(asked['patterns'])}",
        agent=call.get("agent", ""),
        name=call.get("name", ""),
        callers=tuple(asked.get("callers") or ()),
        permission=asked["permission"],
        patterns=tuple(asked["patterns"]),
        also=tuple(
            Need(permission=one["permission"], patterns=tuple(one["patterns"])) for one in asked.get("also") or ()
        ),
        always=tuple(asked.get("always", ())),
        metadata=asked.get("metadata", {}),
        **keys,
    )


def _choice(asked: Json) -> Choice:
    options = tuple(
        Option(label=one["label"], description=one.get("description", "")) for one in asked.get("options", ())
    )
    return Choice(
        question=asked["question"],
        header=asked.get("header", ""),
        options=options,
        multiple=bool(asked.get("multiple", False)),
        custom=asked.get("custom", True) is not False,
        default=None if asked.get("default") is None else tuple(asked["default"]),
    )

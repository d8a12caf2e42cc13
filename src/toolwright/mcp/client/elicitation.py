"""Questions of servers in mid-call, put to the person through the inbox."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from toolwright.calls.request import Option
from toolwright.definition import ToolContext
from toolwright.errors import PermissionDenied
from toolwright.inbox import Choice
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.json_types import Json
from toolwright.schema.equality import equal
from toolwright.services import Questions
from toolwright.text.display import visible

FIELDS = 20
"""Questions that a server may put at once."""
_YES, _NO = "Yes", "No"
DECLINED: Json = {"action": "decline"}


async def elicit(ctx: ToolContext, server: str, params: Json) -> Json:
    """Ask the person what the server wants to know; declined where nobody can be asked or the answers do not fit."""
    message = visible(text_of(params.get("message"))) or "The server wants to know something."
    schema = object_of(params.get("requestedSchema"))
    fields = object_of(schema.get("properties"))
    if params.get("mode", "form") != "form" or len(fields) > FIELDS:
        return DECLINED
    schemas = [object_of(one) for one in fields.values()]
    needed = schema.get("required") or ()
    defaults = [_default(one, needed=name in needed) for name, one in zip(fields, schemas, strict=True)]
    choices = [
        _choice(server, message, name, one, default)
        for name, one, default in zip(fields, schemas, defaults, strict=True)
    ]
    try:
        form = {"message": f"{server} asks: {message}", "requestedSchema": schema} if choices else {}
        answers = await ctx.use(Questions).ask(ctx, choices or [_agreement(server, message)], form)
    except PermissionDenied:
        return DECLINED
    if not choices:
        return {"action": "accept", "content": {}} if answers[0] == [_YES] else DECLINED
    filled = [answer or default or () for answer, default in zip_longest(answers[: len(fields)], defaults)]
    return _accepted(list(fields), schemas, filled)


def _choice(server: str, message: str, name: str, field: Json, default: tuple[str, ...] | None) -> Choice:
    title = visible(text_of(field.get("title")) or name)
    about = visible(text_of(field.get("description")))
    notes = [about] if about and about != title else []
    notes += [visible(f"default: {', '.join(default)}", lines=False)] if default else []
    beside = f" ({'; '.join(notes)})" if notes else ""
    question = f"{server} asks: {message}\n{title}{beside}"
    options = tuple(Option(label=label, description="") for label, _ in _values(field))
    several = field.get("type") == "array"
    return Choice(
        question=question, header=title[:30], options=options, multiple=several, custom=not options, default=default
    )


def _default(field: Json, *, needed: bool) -> tuple[str, ...] | None:
    """The answer that the server has for who leaves a field out; None where it must be filled in."""
    default = field.get("default")
    if default is None:
        return None if needed else ()
    values = default if field.get("type") == "array" and isinstance(default, list) else [default]
    options = _values(field)
    labels = [label for one in values for label, value in options or [(_plain(one), one)] if value == one]
    return tuple(labels) if len(labels) == len(values) and all(labels) else None


def labels_of(field: Json, value: Any) -> tuple[str, ...]:
    """The words that stand for a value of a field; none where it is left out."""
    known = [(one, label) for label, one in _values(field)]
    values = value if isinstance(value, list) else [] if value is None else [value]
    return tuple(next((label for other, label in known if equal(other, one)), _plain(one)) for one in values)


def _plain(value: Any) -> str:
    """A value that is written freely."""
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


def _agreement(server: str, message: str) -> Choice:
    options = tuple(Option(label=label, description="") for label in (_YES, _NO))
    return Choice(question=f"{server} asks: {message}", header=server[:30], options=options, custom=False)


def _values(field: Json) -> list[tuple[str, Any]]:
    """The labels and values to choose from; none for a field that is written freely."""
    if field.get("type") == "boolean":
        return [(_YES, True), (_NO, False)]
    inner = object_of(field.get("items")) if field.get("type") == "array" else field
    titled = inner.get("oneOf") or inner.get("anyOf")
    if isinstance(titled, list):
        pairs = [object_of(one) for one in titled]
        return [(text_of(one.get("title")) or str(one.get("const")), one.get("const")) for one in pairs]
    values = inner.get("enum")
    if not isinstance(values, list):
        return []
    names = inner.get("enumNames")
    labels = names if isinstance(names, list) and len(names) == len(values) else values
    return [(str(label), value) for label, value in zip(labels, values, strict=True)]


def _accepted(names: Sequence[str], fields: Sequence[Json], answers: Sequence[Sequence[str]]) -> Json:
    content: Json = {}
    for name, field, chosen in zip(names, fields, answers, strict=False):
        if not chosen:
            continue
        try:
            content[name] = _value(field, chosen)
        except ValueError:
            return DECLINED
    return {"action": "accept", "content": content}


def _value(field: Json, answers: Sequence[str]) -> Any:
    """Return the answers as the type that the field has; ValueError if they are none of that."""
    known = dict(_values(field))
    if field.get("type") == "array":
        return [known.get(one, one) for one in answers]
    text = answers[0]
    if text in known:
        return known[text]
    match field.get("type"):
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "boolean":
            raise ValueError(text)
        case _:
            return text

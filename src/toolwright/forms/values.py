"""Python values as JSON: what a tool returns, and the defaults that a schema shows."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any


def jsonable(value: Any) -> Any:
    """The value as JSON has it; a TypeError that names the type for what JSON cannot say."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return value.value if named_by_value(type(value)) else value.name
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {_key(key): jsonable(entry) for key, entry in value.items()}
    return _compound(value)


def named_by_value(kind: type[Enum]) -> bool:
    """Return whether an Enum's members are told by their values; by their names if a value is no text or number."""
    return all(isinstance(member.value, str | int | float) for member in kind)


def name_of(kind: object) -> str:
    """`list[int]`, `Colour`, `datetime.date`: a type as a person writes it."""
    if isinstance(kind, type) and not hasattr(kind, "__args__"):
        return kind.__qualname__.rpartition("<locals>.")[2]
    return str(kind).replace("typing.", "").replace("<locals>.", "")


def _compound(value: Any) -> Any:
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return dump(mode="json", by_alias=True)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return jsonable(value._asdict())
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, set | frozenset):
        return _ordered([jsonable(entry) for entry in value])
    written = _TEXTS.get(_qualified(type(value)))
    if written is None:
        raise TypeError(f"{name_of(type(value))} has no form in JSON")
    return written(value)


def _key(key: Any) -> str:
    plain = jsonable(key)
    if isinstance(plain, bool) or not isinstance(plain, str | int | float):
        raise TypeError(f"{name_of(type(key))} cannot be a key in JSON")
    return str(plain)


def _ordered(entries: list[Any]) -> list[Any]:
    """A set has no order of its own: the same set is the same text each time."""
    try:
        return sorted(entries)
    except TypeError:
        return sorted(entries, key=repr)


def _qualified(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "datetime.datetime": lambda moment: str(moment.isoformat()),
    "datetime.date": lambda day: str(day.isoformat()),
    "datetime.time": lambda time: str(time.isoformat()),
    "uuid.UUID": str,
    "decimal.Decimal": str,
}
"""By name, so that a module nobody uses is not loaded."""

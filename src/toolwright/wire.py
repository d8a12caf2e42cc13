"""Records as the JSON that clients speak: snake_case here, camelCase there, nothing where a field is None."""

import functools
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def to_json(value: Any) -> Any:
    """A record, or a container of records, as plain JSON values."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: to_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {
            wire: to_json(entry) for name, wire in _names(type(value)) if (entry := getattr(value, name)) is not None
        }
    if isinstance(value, Path | BaseException):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def wire_name(name: str) -> str:
    """`session_id` → `sessionID`, `top_p` → `topP`."""
    first, *rest = name.split("_")
    return first + "".join("ID" if word == "id" else word.capitalize() for word in rest)


@functools.cache
def _names(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, wire_name(field.name)) for field in fields(kind) if not field.name.startswith("_"))

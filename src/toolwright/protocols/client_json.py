"""Records as the JSON that clients speak: snake_case here, camelCase there, nothing where a field is None."""

import functools
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Read = Callable[[Any], Any]


_PLAIN = frozenset({str, int, float, bool, type(None)})


def to_json(value: Any) -> Any:
    """A record, or a container of records, as plain JSON values; what JSON has no form for, as text."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {str(key): to_json(entry) for key, entry in value.items()}
    if kind is list or kind is tuple:
        return [to_json(entry) for entry in value]
    if is_dataclass(kind):
        entries = ((wire, getattr(value, name)) for name, wire in _names(kind))
        return {wire: to_json(entry) for wire, entry in entries if entry is not None}
    return _other_to_json(value)


def _other_to_json(value: Any) -> Any:
    """The kinds that are seldom met; apart, because every part of every call is written this way."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return to_json(dict(value))
    if isinstance(value, list | tuple | set | frozenset):
        return to_json(list(value))
    return str(value)


def json_text(value: Any) -> str:
    """The same as compact text. Written by json itself, which asks us only about what it does not know."""
    try:
        return _ENCODER.encode(value)
    except TypeError:  # a key that is no text
        return _ENCODER.encode(to_json(value))


def _one_level(value: Any) -> Any:
    kind: Any = type(value)
    if not hasattr(kind, "__dataclass_fields__"):
        return _other_to_json(value)
    entries = {}
    for name, wire in _names(kind):
        if (entry := getattr(value, name)) is not None:
            entries[wire] = entry
    return entries


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_one_level)


def from_json(kind: Any, value: Any) -> Any:
    """A record from its JSON. Keys it does not know are passed over; a wrong shape is a TypeError or ValueError."""
    return _reader(kind)(value)


def wire_name(name: str) -> str:
    """`session_id` → `sessionID`, `top_p` → `topP`."""
    first, *rest = name.split("_")
    return first + "".join("ID" if word == "id" else word.capitalize() for word in rest)


@functools.cache
def _names(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, wire_name(field.name)) for field in fields(kind) if not field.name.startswith("_"))


@functools.cache
def _reader(kind: Any) -> Read:
    """Return the reader of one type; made once for each."""
    if is_dataclass(kind):
        return _record_reader(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _union_reader(arguments)
    if origin is tuple:
        return _tuple_reader(_reader(arguments[0]))
    if origin is Literal:
        return _literal_reader(arguments)
    if origin is dict and arguments[1] is not Any:
        return _dict_reader(_reader(arguments[1]))
    return _PLAIN_READERS.get(origin or kind, lambda value: value)


def _unfit(value: Any, wanted: str) -> TypeError:
    return TypeError(f"{str(value)[:40]!r} is not {wanted}")


# One function for each plain type, because every field of every record that is read passes through one.


def _text(value: Any) -> Any:
    if type(value) is str:
        return value
    raise _unfit(value, "a text")


def _truth(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise _unfit(value, "true or false")


def _whole_number(value: Any) -> Any:
    # Beyond this JSON numbers are no longer exact everywhere.
    if type(value) is int and -(2**53) < value < 2**53:
        return value
    raise _unfit(value, "a number below 2**53" if type(value) is int else "a whole number")


def _number(value: Any) -> Any:
    if type(value) in (int, float) and -1e300 < value < 1e300:
        return value
    raise _unfit(value, "a number")


def _mapping(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    raise _unfit(value, "an object")


_PLAIN_READERS: dict[Any, Read] = {str: _text, bool: _truth, int: _whole_number, float: _number, dict: _mapping}


def _literal_reader(values: tuple[Any, ...]) -> Read:
    known = frozenset(values)

    def read(value: Any) -> Any:
        if type(value) is str and value in known:
            return value
        raise _unfit(value, f"one of {', '.join(values)}")

    return read


def _tuple_reader(entry: Read) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _unfit(value, "a list")
        return tuple(map(entry, value))

    return read


def _dict_reader(entry: Read) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _unfit(value, "an object")
        return {key: entry(one) for key, one in value.items()}

    return read


def _record_reader(kind: Any) -> Read:
    hints = get_type_hints(kind)
    readers = [(field.name, wire_name(field.name), _reader(hints[field.name])) for field in fields(kind)]
    required = [
        wire_name(field.name) for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
    ]

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError(f"{kind.__name__} is an object, not {type(value).__name__}")
        for wire in required:
            if wire not in value:
                raise ValueError(f"{kind.__name__} lacks {wire}")
        values = {}
        for name, wire, reader in readers:
            if wire in value:
                try:
                    values[name] = reader(value[wire])
                except (TypeError, ValueError) as error:
                    raise type(error)(f"{wire}: {error}") from None
        return kind(**values)

    return read


def _union_reader(arguments: tuple[Any, ...]) -> Read:
    records: list[Any] = [kind for kind in arguments if is_dataclass(kind)]
    if len(records) < 2:
        inner = _reader(records[0]) if records else _first_reader(arguments)
        return lambda value: None if value is None else inner(value)
    tag, by_tag = _tagged(records)

    def read(value: Any) -> Any:
        name = value.get(tag) if isinstance(value, Mapping) else None
        reader = by_tag.get(name) if isinstance(name, str) else None
        if reader is None:
            raise ValueError(f"{tag} is none of {', '.join(by_tag)}")
        return reader(value)

    return read


def _first_reader(arguments: tuple[Any, ...]) -> Read:
    return _reader(next(kind for kind in arguments if kind is not type(None)))


def _tagged(records: list[Any]) -> tuple[str, dict[str, Read]]:
    """The field that tells the records apart: the one with a single literal value in each."""
    for tag in ("type", "status", "role"):
        hints = [get_type_hints(kind).get(tag) for kind in records]
        if all(get_origin(hint) is Literal for hint in hints):
            return tag, {get_args(hint)[0]: _reader(kind) for hint, kind in zip(hints, records, strict=True)}
    raise TypeError("Records of a union need a field that tells them apart")

"""From a record of settings to its JSON Schema and its reader, so that neither can differ from it."""

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.settings.field import Setting
from toolwright.settings.section import Section

T = TypeVar("T")

_PLAIN: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@record(frozen=True, slots=True, kw_only=True)
class FieldNote:
    """A field of a record: its name here, its key in a file, its type, its note and its default."""

    name: str
    key: str
    hint: Any
    setting: Setting | None
    default: Any

    @property
    def section(self) -> Any:
        """The record that lies below the key, if one does."""
        return self.hint if is_section(self.hint) else None

    @property
    def entries(self) -> Any:
        """The record of every entry, if the key holds entries by name."""
        kinds = get_args(self.hint) if _is_union(self.hint) else (self.hint,)
        maps = (get_args(kind)[1] for kind in kinds if get_origin(kind) is Mapping)
        return next((entry for entry in maps if is_section(entry)), None)


@functools.cache
def notes_of(record: Any) -> Mapping[str, FieldNote]:
    """The fields that a file may set, by their key."""
    hints = get_type_hints(record, include_extras=True)
    notes = (_note(name, hints[name], record.defaults.get(name)) for name in record.names)
    return {note.key: note for note in notes if note.setting is not None or note.section}


def _note(name: str, hint: Any, default: Any) -> FieldNote:
    annotated = get_origin(hint) is Annotated
    setting = next((note for note in get_args(hint)[1:] if isinstance(note, Setting)), None) if annotated else None
    return FieldNote(
        name=name,
        key=(setting.key if setting else "") or name,
        hint=get_args(hint)[0] if annotated else hint,
        setting=setting,
        default=default,
    )


def leaves(record: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], FieldNote]]:
    """Every single setting with its path; those of entries by name are the entries' own matter."""
    for key, note in notes_of(record).items():
        if note.section:
            yield from leaves(note.section, (*path, key))
        else:
            yield (*path, key), note


@functools.cache
def schema_of(record: Any) -> Json:
    """The JSON Schema of a record."""
    notes = notes_of(record)
    required = [name for name in record.names if name not in record.defaults]
    schema: Json = {"type": "object", "properties": {key: _field_schema(note) for key, note in notes.items()}}
    return schema | ({"required": required} if required else {})


def _field_schema(note: FieldNote) -> Json:
    setting = note.setting
    schema = _hint_schema(note.hint)
    if setting is None:
        return schema
    if setting.short:
        schema = {"anyOf": [schema["properties"][setting.short], schema]}
    return schema | dict(setting.schema) | {"description": setting.does}


def _hint_schema(hint: Any) -> Json:
    if is_section(hint):
        return dict(schema_of(hint))
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": _PLAIN[type(arguments[0])], "enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _hint_schema(arguments[0])}
    if _is_union(hint):
        forms = [_hint_schema(kind) for kind in arguments if kind is not type(None)]
        return forms[0] if len(forms) == 1 else {"anyOf": forms}
    if origin is Mapping:
        below = _hint_schema(arguments[1])
        return {"type": "object"} | ({"additionalProperties": below} if below else {})
    return {}


def read(record: type[T], value: Mapping[str, Any]) -> T:
    """The record that a checked JSON object stands for. Keys it does not know are passed over."""
    kind: Any = record
    notes = notes_of(kind)
    values = {notes[key].name: _read(notes[key], entry) for key, entry in value.items() if key in notes}
    if "said" in kind.names:
        values["said"] = dict(value)
    result: T = kind(**values)
    return result


def _read(note: FieldNote, value: Any) -> Any:
    if note.section:
        short = note.setting.short if note.setting else ""
        return read(note.section, {short: value} if short and not isinstance(value, Mapping) else value)
    if note.entries and isinstance(value, Mapping):
        return {name: read(note.entries, entry) for name, entry in value.items()}
    return tuple(value) if isinstance(value, list) else value


def is_section(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Section)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)

"""From a Python type to its form: what each kind of annotation is in JSON."""

import collections.abc as abstract
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, InitVar, fields, is_dataclass
from enum import Enum, Flag
from pathlib import PurePath
from typing import (
    Annotated,
    Any,
    Literal,
    LiteralString,
    NewType,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from toolwright.forms.form import (
    Field,
    Form,
    NoForm,
    Read,
    read_entries,
    read_mapping,
    read_places,
    read_record,
    read_typed_dict,
    read_union,
    read_whole,
)
from toolwright.forms.values import jsonable, name_of, named_by_value
from toolwright.schema.equality import equal


def form_of(hint: object) -> Form:
    """The form of a type; NoForm if it has none."""
    return _Maker().form(hint)


def form_with_default(hint: object, default: object) -> Form:
    """The form of what may be left out: null is not among its values, for it means the default."""
    return _Maker().with_default(hint, default)


def notes_of(hint: object) -> tuple[Any, ...]:
    """Return the notes about a type in `Annotated`."""
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def bare(hint: object) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def hints_of(thing: Any, more: Callable[[], Mapping[str, Any]] = dict) -> dict[str, Any]:
    """The annotations of a function or class; `more` gives names that its module lacks."""
    try:
        return get_type_hints(thing, include_extras=True)
    except NameError:
        pass
    try:
        return get_type_hints(thing, localns=dict(more()), include_extras=True)
    except NameError as error:
        owner = getattr(thing, "__qualname__", str(thing))
        named = (name for name, hint in thing.__annotations__.items() if str(error.name) in str(hint))
        raise NoForm(
            f"The type of {next(named, '')!r} of {owner} cannot be resolved: {error}. Define it at module level."
        ) from error


def _whole(value: Any) -> int:
    return int(value)


_PLAIN: Mapping[object, Form] = {
    str: Form({"type": "string"}),
    int: Form({"type": "integer"}, _whole),
    float: Form({"type": "number"}, float),
    bool: Form({"type": "boolean"}),
    type(None): Form({"type": "null"}),
    LiteralString: Form({"type": "string"}),
}
_ANYTHING = (Any, object)
_MARKERS = ("Required", "NotRequired", "ReadOnly", "Final")
_LISTS = (list, abstract.Sequence, abstract.MutableSequence, abstract.Collection, abstract.Iterable)
_SETS: Mapping[object, type] = {
    set: set,
    abstract.Set: frozenset,
    abstract.MutableSet: set,
    frozenset: frozenset,
}
_MAPPINGS = (dict, abstract.Mapping, abstract.MutableMapping)
_NAMES: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


_MOST = 100
"""Classes that one schema describes; of more than that a model is told the names."""


class _Maker:
    """One walk over a type, which knows what it is inside of: a type that holds itself is described once."""

    def __init__(self) -> None:
        self._inside: list[object] = []
        self._described = 0

    def form(self, hint: Any) -> Form:
        hint = _plain_hint(hint)
        notes = notes_of(hint)
        if notes and "pydantic" in sys.modules:
            from toolwright.forms.pydantic import form_of_noted, is_ours

            if any(map(is_ours, notes)):
                return _noted(form_of_noted(hint), [note for note in notes if not is_ours(note)])
        return _noted(self.form(bare(hint)) if notes else self._bare(hint), notes)

    def with_default(self, hint: object, default: object) -> Form:
        form = self.form(_without_none(hint))
        if default is None or default is MISSING:
            return form
        try:
            plain = jsonable(default)
        except (TypeError, ValueError, RecursionError):  # a mark of the program's own; a model has no word for it
            return form
        return Form(form.schema | {"default": plain}, form.read, form.hashable)

    def _bare(self, hint: Any) -> Form:
        hint = type(None) if hint is None else hint
        if known := _PLAIN.get(hint):
            return Form(dict(known.schema), known.read)
        if hint in _ANYTHING:
            return Form({}, hashable=False)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Literal:
            return _choices(hint, arguments)
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        outer = origin or hint
        if outer is tuple:
            return self._tuple(hint, arguments)
        if outer in _LISTS or outer in _SETS:
            return self._array(hint, outer, arguments)
        if outer in _MAPPINGS:
            return self._mapping(hint, arguments)
        if isinstance(hint, type):
            return self._class(hint)
        raise NoForm(f"{name_of(hint)} has no form in JSON")

    def _class(self, hint: Any) -> Form:
        if hint in self._inside or self._described > _MOST:
            return _again(hint)
        self._described += 1
        self._inside.append(hint)
        try:
            return self._known_class(hint)
        finally:
            self._inside.pop()

    def _known_class(self, hint: Any) -> Form:
        if is_typeddict(hint):
            return self._typed_dict(hint)
        if "pydantic" in sys.modules and hasattr(hint, "__get_pydantic_core_schema__"):
            from toolwright.forms.pydantic import form_of_class

            return form_of_class(hint)
        if is_dataclass(hint):
            return self._dataclass(hint)
        if issubclass(hint, Enum):
            return _enum(hint)
        if issubclass(hint, tuple) and hasattr(hint, "_field_defaults"):
            members = [(name, kind, hint._field_defaults.get(name, _NONE)) for name, kind in hints_of(hint).items()]
            return self._record(hint, members)
        if issubclass(hint, PurePath):
            return Form({"type": "string"}, hint)
        for base in (str, int, float):
            if issubclass(hint, base):
                return Form(dict(_PLAIN[base].schema), hint)
        from toolwright.forms.texts import text_form

        return text_form(hint)

    def _union(self, arguments: Sequence[Any]) -> Form:
        forms = [self.form(argument) for argument in arguments]
        read = None if all(form.read is None for form in forms) else functools.partial(read_union, forms)
        return Form({"anyOf": [form.schema for form in forms]}, read, all(form.hashable for form in forms))

    def _array(self, hint: Any, outer: object, arguments: Sequence[Any]) -> Form:
        entry = self.form(arguments[0]) if arguments else Form({})
        schema = {"type": "array", "items": entry.schema}
        if outer in _LISTS:
            read = functools.partial(read_entries, entry) if entry.read else None
            return Form(schema, read, hashable=False)
        if not entry.hashable:
            raise NoForm(f"{name_of(hint)} cannot be made: its entries have no hash; use a list")
        make = _SETS[outer]
        return Form(schema, lambda value: make(read_entries(entry, value)), hashable=make is frozenset)

    def _tuple(self, hint: Any, arguments: tuple[Any, ...]) -> Form:
        if arguments[1:] == (...,) or not hasattr(hint, "__args__"):
            entry = self.form(arguments[0]) if arguments else Form({}, hashable=False)
            return Form(
                {"type": "array", "items": entry.schema},
                lambda value: tuple(read_entries(entry, value)),
                entry.hashable,
            )
        forms = [self.form(argument) for argument in arguments]
        first = {"prefixItems": [form.schema for form in forms]} if forms else {}
        return Form(
            {"type": "array", **first, "minItems": len(forms), "maxItems": len(forms)},
            functools.partial(read_places, forms),
            all(form.hashable for form in forms),
        )

    def _mapping(self, hint: Any, arguments: Sequence[Any]) -> Form:
        key, entry = map(self.form, arguments) if arguments else (Form({"type": "string"}), Form({}))
        kind = key.schema.get("type")
        if kind not in ("string", "integer"):
            raise NoForm(f"{name_of(hint)} has keys that are no text, and JSON has no others")
        schema = {"type": "object"} | ({"additionalProperties": entry.schema} if entry.schema else {})
        if key.schema == {"type": "string"} and key.read is None and entry.read is None:
            return Form(schema, hashable=False)
        return Form(schema, functools.partial(read_mapping, key, entry), hashable=False)

    def _typed_dict(self, hint: Any) -> Form:
        hints = hints_of(hint)
        forms = {name: self.form(value) for name, value in hints.items()}
        schema = {
            "type": "object",
            "properties": {name: form.schema for name, form in forms.items()},
            "required": [name for name, value in hints.items() if _is_required(name, value, hint)],
        }
        plain = all(form.read is None for form in forms.values())
        return Form(schema, None if plain else functools.partial(read_typed_dict, forms), hashable=False)

    def _dataclass(self, hint: Any) -> Form:
        hints = hints_of(hint)
        members = []
        ordinary = {field.name for field in fields(hint) if field.init}
        for name, field in hint.__dataclass_fields__.items():
            if name in ordinary or isinstance(hints[name], InitVar):
                optional = field.default is not MISSING or field.default_factory is not MISSING
                members.append((name, hints[name], field.default if optional else _NONE))
        return self._record(hint, members)

    def _record(self, hint: Any, members: Iterable[tuple[str, Any, object]]) -> Form:
        forms, required = {}, []
        for name, kind, default in members:
            kind = kind.type if isinstance(kind, InitVar) else kind
            forms[name] = self.form(kind) if default is _NONE else self.with_default(kind, default)
            if default is _NONE:
                required.append(name)
        schema = {
            "type": "object",
            "properties": {name: form.schema for name, form in forms.items()},
            "required": required,
            "additionalProperties": False,
        }
        return Form(schema, functools.partial(read_record, hint, forms, required), hint.__hash__ is not None)


def _again(hint: Any) -> Form:
    """The form of a class inside of itself: told in words, since schemas have no references, and checked in full."""

    @functools.cache
    def whole() -> Form:
        return form_of(hint)

    hints = {name: _plain_hint(bare(one)) for name, one in hints_of(hint).items()}
    words = {name: _choices(one, get_args(one)).schema for name, one in hints.items() if get_origin(one) is Literal}
    # What tells it from others of a union stays.
    more = {"properties": words} if words else {}
    schema = {"type": "object", "description": f"{name_of(hint)} again, with the same properties", **more}
    return Form(schema, lambda value: read_whole(whole(), value), hint.__hash__ is not None)


_NONE = object()
"""No default."""


def _plain_hint(hint: Any) -> Any:
    """The type behind a name for it: `NewType`, `type X = …`, `NotRequired[…]`."""
    while True:
        if isinstance(hint, NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        elif getattr(get_origin(hint), "_name", "") in _MARKERS:
            hint = get_args(hint)[0]
        else:
            return hint


def _without_none(hint: Any) -> Any:
    """`Annotated[int | None, ...]` with a default is simply an optional int to the model."""
    hint = _plain_hint(hint)
    inner = _plain_hint(bare(hint))
    if get_origin(inner) not in (Union, types.UnionType):
        return hint
    rest = [argument for argument in get_args(inner) if argument is not type(None)]
    joined: Any = functools.reduce(operator.or_, rest)
    return Annotated[joined, *notes_of(hint)] if notes_of(hint) else joined


def _is_required(name: str, hint: object, owner: Any) -> bool:
    """As the key's own mark has it; as the class has it otherwise."""
    while True:
        origin = get_origin(hint)
        if origin is Annotated or getattr(origin, "_name", "") == "ReadOnly":
            hint = get_args(hint)[0]
        else:
            break
    if origin in (Required, NotRequired):
        return origin is Required
    return name in owner.__required_keys__


def _noted(form: Form, notes: Iterable[Any]) -> Form:
    for note in notes:
        if isinstance(note, str):
            form.schema["description"] = note
        elif isinstance(note, Field):
            form.schema.update({"description": note.description} if note.description else {})
            form.schema.update(note.schema or {})
        elif isinstance(words := getattr(note, "documentation", None), str):
            form.schema["description"] = words
        elif type(note).__module__ == "annotated_types":
            from toolwright.forms.constraints import constrained

            form = constrained(form, note)
    return form


def _choices(hint: object, choices: Sequence[Any]) -> Form:
    choices_read = [jsonable(choice) for choice in choices if isinstance(choice, str | int | Enum | None)]
    if len(choices_read) != len(choices):
        raise NoForm(f"{name_of(hint)} has choices that are no text or number")
    same = {type(choice) for choice in choices} <= {str, bool, type(None)}
    by_json = list(zip(choices_read, choices, strict=True))
    read: Read | None = None if same else lambda value: next(one for plain, one in by_json if equal(plain, value))
    return Form(_enumerated(choices_read), read)


def _enum(hint: type[Enum]) -> Form:
    members = list(hint)
    if issubclass(hint, Flag) or not members:
        raise NoForm(f"{name_of(hint)} has no list of values that a model could choose from")
    values = [jsonable(member) for member in members]
    return Form(_enumerated(values), hint if named_by_value(hint) else hint.__getitem__)


def _enumerated(told: list[Any]) -> dict[str, Any]:
    kinds = {_NAMES.get(type(choice), "string") for choice in told}
    return ({"type": kinds.pop()} if len(kinds) == 1 else {}) | {"enum": told}

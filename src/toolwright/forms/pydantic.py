"""Types that pydantic knows better: its models, and what is annotated with its fields and validators.

Loaded only where the user's program has loaded pydantic; nothing here imports it.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolwright.forms.form import Form, Misfit, NoForm
from toolwright.forms.values import name_of
from toolwright.schema.basics import Problem, shown_value


def is_ours(note: object) -> bool:
    """Return whether pydantic should read this note in an `Annotated`."""
    return type(note).__module__.partition(".")[0] == "pydantic" or hasattr(note, "__get_pydantic_core_schema__")


def form_of_class(hint: Any) -> Form:
    return _form(hint, getattr(hint, "__hash__", None) is not None)


def form_of_noted(hint: Any) -> Form:
    """The form of an `Annotated` with all its constraints and validators."""
    return _form(hint, hashable=False)


def default_in(note: Any) -> tuple[bool, Any]:
    """Return whether a `pydantic.Field` has a default, and the function that makes it."""
    if not hasattr(note, "is_required") or note.is_required():
        return False, None
    if note.default_factory is not None:
        return True, note.default_factory
    return True, lambda: note.default


def is_field(value: object) -> bool:
    return type(value).__module__ == "pydantic.fields"


def _form(hint: Any, hashable: bool) -> Form:
    pydantic: Any = sys.modules["pydantic"]
    try:
        adapter = pydantic.TypeAdapter(hint)
        schema = adapter.json_schema()
    except pydantic.errors.PydanticUserError as error:
        raise NoForm(f"{name_of(hint)} has no form in JSON: {str(error).splitlines()[0]}") from error

    def read(value: Any) -> Any:
        try:
            return adapter.validate_json(json.dumps(value))
        except pydantic.ValidationError as error:
            raise Misfit([_problem(one, value) for one in error.errors(include_url=False)]) from None

    flat = _flat(schema, schema.get("$defs", {}), ())
    return Form(flat, read, hashable)


def _problem(error: Mapping[str, Any], value: Any) -> Problem:
    text = str(error["msg"])
    return Problem(_place(error["loc"], value), f"{text[:1].lower()}{text[1:]}, got {shown_value(error.get('input'))}")


def _place(location: Sequence[str | int], value: Any) -> tuple[str | int, ...]:
    """Where in a value a problem is. The library names the members of unions in between, which no model has sent."""
    path = list[str | int]()
    for number, step in enumerate(location, 1):
        is_key = isinstance(value, dict) and step in value
        is_index = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if is_key or is_index:
            value = value[step]
            path.append(step)
        elif isinstance(value, dict) and number == len(location):
            path.append(step)
    return tuple(path)


def _flat(schema: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """The schema with each reference replaced by what it refers to, and without titles."""
    if isinstance(schema, list):
        return [_flat(one, definitions, inside) for one in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        if name in inside:
            # Schemas for models have no references. The whole of it is checked all the same.
            return _again(name, definitions[name])
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _flat(definitions[name], definitions, (*inside, name)) | _flat(rest, definitions, inside)
    kept = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    return {key: _part(key, value, definitions, inside) for key, value in kept.items()}


def _again(name: str, definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a form inside of itself: its name, and what tells it from others of a union."""
    words = {key: one for key, one in definition.get("properties", {}).items() if "const" in one or "enum" in one}
    kind = {"type": definition["type"]} if "type" in definition else {}
    more = {"properties": _flat(words, {}, ())} if words else {}
    return {**kind, "description": f"{name} again, with the same properties", **more}


_BY_NAME = ("properties", "patternProperties", "dependentSchemas")
"""Keywords whose keys are names of the user's, such as a property called title."""
_DATA = ("default", "enum", "const", "examples")
_LEFT_OUT = ("$defs", "title", "discriminator")


def _part(key: str, value: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if key in _DATA:
        return value
    if key in _BY_NAME:
        return {name: _flat(one, definitions, inside) for name, one in value.items()}
    return _flat(value, definitions, inside)

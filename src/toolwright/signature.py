"""A function's signature as JSON Schema: annotations in, properties out."""

import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_PLAIN: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Field:
    """More about a parameter than a sentence: another name for the model, or further JSON Schema keywords."""

    description: str = ""
    name: str = ""
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool: its name for the model, its name in Python, its schema."""

    name: str
    python_name: str
    schema: dict[str, Any]
    required: bool


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters after the first, which is the context."""
    hints = get_type_hints(function, include_extras=True)
    _, *rest = inspect.signature(function).parameters.values()
    return [_parameter(parameter, hints.get(parameter.name, Any)) for parameter in rest]


def camel(name: str) -> str:
    """`file_path` → `filePath`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _parameter(parameter: inspect.Parameter, hint: object) -> Parameter:
    required = parameter.default is inspect.Parameter.empty
    schema = schema_of(_without_none(hint) if parameter.default is None else hint)
    if not required and parameter.default is not None:
        schema["default"] = parameter.default
    alias = next((note.name for note in _notes(hint) if isinstance(note, Field) and note.name), "")
    return Parameter(name=alias or camel(parameter.name), python_name=parameter.name, schema=schema, required=required)


def schema_of(hint: object) -> dict[str, Any]:
    """The JSON Schema of a type, without titles and references."""
    schema = _bare_schema(_bare(hint))
    for note in _notes(hint):
        if isinstance(note, str):
            schema["description"] = note
        elif isinstance(note, Field):
            schema |= {"description": note.description} if note.description else {}
            schema |= note.schema or {}
    return schema


def _bare_schema(hint: object) -> dict[str, Any]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if is_typeddict(hint):
        return _object_schema(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        kinds = {_PLAIN[type(argument)] for argument in arguments}
        return ({"type": kinds.pop()} if len(kinds) == 1 else {}) | {"enum": list(arguments)}
    if origin in (list, tuple):
        return {"type": "array", "items": schema_of(arguments[0]) if arguments else {}}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(argument) for argument in arguments]}
    if hint is dict or origin is dict:
        return {"type": "object"}
    if hint is Any:
        return {}
    raise TypeError(f"A tool's parameter cannot be of type {hint}: use str, int, float, bool, list, Literal, TypedDict")


def _object_schema(hint: Any) -> dict[str, Any]:
    hints = get_type_hints(hint, include_extras=True)
    return {
        "type": "object",
        "properties": {name: schema_of(_unmarked(value)) for name, value in hints.items()},
        "required": [name for name in hints if name in hint.__required_keys__],
    }


def _unmarked(hint: object) -> object:
    return get_args(hint)[0] if get_origin(hint) in (NotRequired, Required) else hint


def _bare(hint: object) -> object:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _notes(hint: object) -> tuple[Any, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _without_none(hint: object) -> object:
    """`Annotated[int | None, ...]` with a default of None is simply an optional int to the model."""
    bare = _bare(hint)
    if get_origin(bare) not in (Union, types.UnionType):
        return hint
    rest = [argument for argument in get_args(bare) if argument is not type(None)]
    joined: Any = functools.reduce(operator.or_, rest)
    return Annotated[joined, *_notes(hint)] if _notes(hint) else joined

"""Checks that a schema from outside has the form of one: what a provider would refuse is found here."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolwright.schema.patterns import is_quick

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
DEEPEST = 40
"""Levels of nesting; no arguments that are meant well go deeper."""


def problem_with(schema: Any, where: str = "its schema", depth: int = 0) -> str:
    """Return what is wrong with the form of a schema, anywhere in it; empty if nothing is."""
    if isinstance(schema, bool) and depth:
        return ""
    if not isinstance(schema, Mapping):
        return f"{where} is no object"
    if depth > DEEPEST:
        return "its schema is nested too deep"
    if not depth and schema.get("type", "object") != "object":
        return f"{where} is for {schema['type']!r:.40}, and arguments are an object"
    for keyword, (is_right, what) in _FORMS.items():
        if keyword in schema and not is_right(schema[keyword]):
            return f"{where} has {keyword!r} that is not {what}"
    for name, below in _below(schema):
        if problem := problem_with(below, f"{name!r:.60} in its schema", depth + 1):
            return problem
    return ""


def without_slow_patterns(schema: Any) -> Any:
    """A schema that has been checked, without the patterns that a stranger may have made to take for ever."""
    if isinstance(schema, list):
        return [without_slow_patterns(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: value for key, value in schema.items() if key != "pattern" or is_quick(value)}
    for keyword in (*_OF_NAMES, *_OF_LISTS, *_SINGLE):
        if keyword in _OF_NAMES and keyword in kept:
            named = kept[keyword].items()
            kept[keyword] = {
                name: without_slow_patterns(below)
                for name, below in named
                if keyword != "patternProperties" or is_quick(name)
            }
        elif keyword in kept:
            kept[keyword] = without_slow_patterns(kept[keyword])
    return kept


def _below(schema: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """The schemas inside a schema, with the name of each. Their containers have been checked."""
    for keyword in _OF_NAMES:
        yield from schema.get(keyword, {}).items()
    for keyword in _OF_LISTS:
        yield from ((keyword, one) for one in schema.get(keyword, ()))
    for keyword in _SINGLE:
        if keyword in schema:
            value = schema[keyword]
            yield from ((keyword, one) for one in (value if isinstance(value, list) else [value]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_type(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return bool(listed) and all(isinstance(one, str) and one in TYPES for one in listed)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_OF_NAMES = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_OF_LISTS = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_TEXTS = ("description", "title", "format", "pattern", "$ref", "$id", "$schema", "$anchor")
_NUMBERS = ("minimum", "maximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_FORMS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "type": (_is_type, "one of the types there are"),
    "required": (_are_names, "a list of names"),
    "enum": (_is_list, "a list"),
    **dict.fromkeys(_OF_NAMES, (_is_object, "an object")),
    **dict.fromkeys(_OF_LISTS, (_is_list, "a list")),
    **dict.fromkeys(_TEXTS, (_is_text, "a text")),
    **dict.fromkeys(_NUMBERS, (_is_number, "a number")),
    **dict.fromkeys(_COUNTS, (_is_count, "a count")),
}

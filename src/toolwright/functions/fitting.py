"""Arguments as a model plainly meant them: digits for a number, JSON in a string, null for what is not given.

Only a value that does not fit is touched, and only where one reading of it fits; what is left is a problem to report.
"""

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from toolwright.protocols.json_text import read_json
from toolwright.schema.check import kinds_of, problems_with

_NUMBER = re.compile(r"[+-]?\d+(?P<broken>\.\d+)?(?P<power>[eE][+-]?\d+)?", re.ASCII)


def fitted(value: Any, schema: Any, *, exact: Collection[str] = ()) -> Any:
    """The value as the schema wants it, where that takes no guess; the text of `exact` properties is left alone."""
    if not isinstance(schema, Mapping) or not problems_with(value, schema):
        return value
    forms = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(forms, list):
        read = ((fitted(value, form), form) for form in forms)
        return next((made for made, form in read if not problems_with(made, form)), value)
    if isinstance(value, str):
        return _from_text(value, schema)
    if isinstance(value, dict):
        return _fitted_object(value, schema, exact)
    if isinstance(value, list):
        return _fitted_array(value, schema)
    return value


def _from_text(text: str, schema: Mapping[str, Any]) -> Any:
    kinds, trimmed = kinds_of(schema), text.strip()
    if {"integer", "number"} & set(kinds):
        return _number(trimmed, text)
    opening = {"array": "[", "object": "{"}
    if not any(trimmed.startswith(opening[kind]) for kind in kinds if kind in opening):
        return text
    try:
        return fitted(read_json(trimmed), schema)
    except ValueError:
        return text


def _number(text: str, otherwise: str) -> Any:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return otherwise
    if match["broken"] or match["power"]:
        number = float(text)
        return number if math.isfinite(number) else otherwise
    try:
        return int(text)
    except ValueError:  # more digits than Python reads
        return otherwise


def _fitted_object(value: dict[str, Any], schema: Mapping[str, Any], exact: Collection[str]) -> dict[str, Any]:
    known, required = schema.get("properties") or {}, schema.get("required") or ()
    other = schema.get("additionalProperties", True)
    values = {}
    for name, entry in value.items():
        wanted = known.get(name, other)
        absent = entry is None and name in known and name not in required
        if absent and problems_with(None, wanted):
            continue
        values[name] = entry if name in exact else fitted(entry, wanted)
    return values


def _fitted_array(value: list[Any], schema: Mapping[str, Any]) -> list[Any]:
    first = schema.get("prefixItems") or []
    rest = schema.get("items", True)
    return [fitted(entry, first[index] if index < len(first) else rest) for index, entry in enumerate(value)]

"""A tool's JSON Schema in the form a provider takes: the plain one, the strict one, and Gemini's subset."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolwright.models.known.profiles import Profile
from toolwright.models.model import ReplySettings
from toolwright.protocols.json_types import Json


def plain_schema(schema: Mapping[str, Any]) -> Json:
    """For OpenAI and Anthropic: an object at the top, no choices there, and lists that say what they hold."""
    return _rebuilt(_object_at_top(schema), _with_items)


def gemini_schema(schema: Mapping[str, Any]) -> Json | None:
    """For Gemini, which knows a part of the keywords and no references. None where a tool takes no arguments."""
    cleaned = _rebuilt(_object_at_top(_inlined(schema, schema, ())), _gemini)
    return cleaned if cleaned.get("properties") else None


def strict_schema(schema: Mapping[str, Any]) -> Json | None:
    """For OpenAI where the provider is to hold the model to it; None where the schema does not allow that.

    It allows that if every parameter is required and nothing else may be given. What strict schemas cannot say of
    lengths and sizes is left to the tool, which checks it anyway.
    """
    strict = _rebuilt(plain_schema(schema), lambda one: {key: one[key] for key in one if key not in _FINER})
    return strict if _fits_strict(strict) else None


def answer_schema(settings: ReplySettings, profile: Profile) -> Json | None:
    """The schema that the provider is asked to hold the answer to, with every object closed; None for none.

    Providers take only objects at the top. Sizes are checked here, since not all of them know the keywords.
    """
    schema = settings.answer_schema
    if schema is None or not profile.answers or "answer" in settings.omit or schema.get("type") != "object":
        return None
    return _rebuilt(schema, _closed)


def strict_answer(schema: Json) -> Json:
    """The answer's schema as OpenAI has it: strict wherever the schema allows that."""
    strict = strict_schema(schema)
    return {"name": "answer", "schema": schema if strict is None else strict, "strict": strict is not None}


def _closed(schema: Json) -> Json:
    kept = {key: value for key, value in schema.items() if key not in _FINER}
    return {"additionalProperties": False, **kept} if kept.get("properties") else kept


# The tree of a schema.

_ONE = frozenset({"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
_LIST = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def _rebuilt(schema: Mapping[str, Any], change: Callable[[Json], Json]) -> Json:
    """The schema with a change made to it and to each one inside, innermost first."""

    def inside(key: str, value: Any) -> Any:
        if key in _ONE and isinstance(value, Mapping):
            return _rebuilt(value, change)
        if key in _LIST and isinstance(value, list):
            return [_rebuilt(entry, change) for entry in value if isinstance(entry, Mapping)]
        if key in _NAMED and isinstance(value, Mapping):
            return {
                name: _rebuilt(entry if isinstance(entry, Mapping) else {}, change) for name, entry in value.items()
            }
        return value

    return change({key: inside(key, value) for key, value in schema.items()})


def _inlined(schema: Any, root: Mapping[str, Any], open_refs: tuple[str, ...]) -> Any:
    """Local references replaced by what they mean; one that leads back to itself becomes any object."""
    if isinstance(schema, list):
        return [_inlined(entry, root, open_refs) for entry in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref")
    beside = {key: value for key, value in schema.items() if key not in {"$ref", "$defs", "definitions"}}
    if not isinstance(reference, str):
        return {key: _inlined(value, root, open_refs) for key, value in beside.items()}
    if reference in open_refs:
        return {"type": "object", **beside}
    return {**_inlined(_pointed_at(reference, root), root, (*open_refs, reference)), **beside}


def _pointed_at(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    target: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) else {}


def _object_at_top(schema: Mapping[str, Any]) -> Json:
    """The same arguments without a choice at the top, which providers refuse; the tool checks the finer rules."""
    kept = {key: value for key, value in schema.items() if key not in {"$schema", "$id", "anyOf", "oneOf", "allOf"}}
    properties: Json = dict(kept.get("properties") or {})
    required = set(kept.get("required") or ())
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = [entry for entry in schema.get(keyword) or () if isinstance(entry, Mapping)]
        for branch in branches:
            properties |= branch.get("properties") or {}
        needed = [set(branch.get("required") or ()) for branch in branches]
        if needed:
            required |= set.union(*needed) if keyword == "allOf" else set.intersection(*needed)
    kept |= {"type": "object", "properties": properties}
    if required:
        kept["required"] = [name for name in properties if name in required]
    return kept


def _with_items(schema: Json) -> Json:
    return {**schema, "items": {}} if schema.get("type") == "array" and "items" not in schema else schema


# Gemini's subset.

_KNOWN = frozenset({
    "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties",
    "required", "anyOf", "minimum", "maximum", "minLength", "maxLength", "pattern", "minProperties",
    "maxProperties", "propertyOrdering",
})  # fmt: skip
_FORMATS = frozenset({"date-time", "enum", "int32", "int64", "float", "double"})


def _gemini(schema: Json) -> Json:
    for step in (_joined, _chosen, _typed, _enumerated, _bounded, _shaped):
        schema = step(schema)
    if schema.get("format") not in _FORMATS:
        schema.pop("format", None)
    return {key: value for key, value in schema.items() if key in _KNOWN}


def _joined(schema: Json) -> Json:
    """`allOf` as one schema."""
    whole = {key: value for key, value in schema.items() if key != "allOf"}
    for branch in schema.get("allOf") or ():
        properties = {**(whole.get("properties") or {}), **(branch.get("properties") or {})}
        required = list(dict.fromkeys([*(whole.get("required") or ()), *(branch.get("required") or ())]))
        whole = {**branch, **whole}
        if properties:
            whole |= {"properties": properties, "required": required}
    return whole


def _chosen(schema: Json) -> Json:
    """`oneOf` and lists of types as `anyOf`, and null as `nullable`."""
    choices = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    types = rest.get("type")
    if isinstance(types, list):
        del rest["type"]
        choices = choices or [{"type": entry} for entry in types]
    real = _unique(choice for choice in choices if choice.get("type") != "null")
    if len(real) < len(choices) and any(choice.get("type") == "null" for choice in choices):
        rest["nullable"] = True
    if len(real) == 1:
        return {**real[0], **rest}
    return {**rest, "anyOf": real} if real else rest


def _unique(schemas: Iterable[Json]) -> list[Json]:
    kept: list[Json] = []
    for schema in schemas:
        if schema not in kept:
            kept.append(schema)
    return kept


def _typed(schema: Json) -> Json:
    """A type everywhere, since Gemini wants one; text where anything would do."""
    if "type" in schema or "anyOf" in schema:
        return schema
    if "properties" in schema:
        return {**schema, "type": "object"}
    return {**schema, "type": "array" if "items" in schema or "prefixItems" in schema else "string"}


def _enumerated(schema: Json) -> Json:
    """Choices are text, for Gemini has no others."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return schema
    rest = {key: value for key, value in schema.items() if key not in {"const", "enum"}}
    if None in values:
        rest["nullable"] = True
    texts = [str(value) for value in values if value is not None and not isinstance(value, bool)]
    return {**rest, "type": "string", "enum": texts} if texts else rest


def _bounded(schema: Json) -> Json:
    """Open limits of whole numbers as closed ones."""
    if schema.get("type") != "integer":
        return schema
    bounds: Json = {}
    if isinstance(schema.get("exclusiveMinimum"), int):
        bounds["minimum"] = schema["exclusiveMinimum"] + 1
    if isinstance(schema.get("exclusiveMaximum"), int):
        bounds["maximum"] = schema["exclusiveMaximum"] - 1
    return {**schema, **bounds}


def _shaped(schema: Json) -> Json:
    """Objects alone have properties, and require only those; lists alone have items, and always have them."""
    if schema.get("type") == "array":
        return {**schema, "items": _item(schema)}
    schema.pop("items", None)
    if schema.get("type") != "object":
        return {key: value for key, value in schema.items() if key not in {"properties", "required"}}
    properties = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if name in properties]
    rest = {key: value for key, value in schema.items() if key not in {"properties", "required"}}
    return {
        **rest,
        **({"properties": properties} if properties else {}),
        **({"required": required} if required else {}),
    }


def _item(schema: Json) -> Json:
    items = schema.get("items")
    if isinstance(items, Mapping):
        return dict(items)
    kinds = _unique(schema.get("prefixItems") or ())
    if len(kinds) > 1:
        return {"anyOf": kinds}
    return kinds[0] if kinds else {"type": "string"}


# Strict schemas.

_FINER = frozenset({"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "title", "examples"})
_STRICT = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "const", "description"})
_PLAIN = frozenset({"string", "number", "integer", "boolean", "null"})


def _fits_strict(schema: Any) -> bool:
    if not isinstance(schema, Mapping) or not schema.keys() <= _STRICT:
        return False
    match schema.get("type"):
        case "object":
            properties = schema.get("properties") or {}
            whole = set(schema.get("required") or ()) == set(properties) and schema.get("additionalProperties") is False
            return whole and all(map(_fits_strict, properties.values()))
        case "array":
            return _fits_strict(schema.get("items"))
        case kind:
            return isinstance(kind, str) and kind in _PLAIN

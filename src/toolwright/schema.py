"""JSON Schema: what is wrong with a value, all of it at once, each in one line a model can act on.

Covers the validation keywords of draft 2020-12 that tools and configuration use. `format` and other notes
are not checked, as the standard has it; a keyword that makes no sense, as in schemas from elsewhere, is passed over.
"""

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from toolwright.jsontypes import JsonView
from toolwright.record import record

Path = tuple[str | int, ...]


@record(frozen=True, slots=True)
class Problem:
    """One thing wrong with a value: where, and what was expected there."""

    path: Path
    message: str

    def __str__(self) -> str:
        return f"{shown_path(self.path)}: {self.message}" if self.path else self.message


def problems_with(value: Any, schema: JsonView | bool, *, closed: bool = False) -> list[Problem]:
    """Everything in the value that does not fit the schema; an empty list if it fits.

    `additionalProperties: false` is what providers want to see; only if `closed` is it a problem to have more.
    """
    return list(_Checker(schema if isinstance(schema, Mapping) else {}, closed).check(value, schema, ()))


def shown_path(path: Path) -> str:
    """`edits[0].oldString`, short enough for a line."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return text if len(text) <= 200 else f"{text[:197]}..."


def shown_value(value: Any) -> str:
    """The value as JSON, short enough for a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


_WORDS: Mapping[str, str] = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def equal(one: Any, other: Any) -> bool:
    """JSON equality: 1 equals 1.0, but true does not equal 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def _key(value: Any) -> object:
    """The same for two values exactly if they are equal."""
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(entry)) for name, entry in value.items()))
    if isinstance(value, list):
        return ("array", *map(_key, value))
    return (isinstance(value, bool), value)


class _Checker:
    """One walk over a value, with the root schema at hand for references."""

    def __init__(self, root: JsonView, closed: bool) -> None:
        self.root = root
        self.closed = closed
        self._following: set[tuple[str, int]] = set()

    def check(self, value: Any, schema: JsonView | bool, path: Path) -> Iterator[Problem]:
        if schema is False:
            yield Problem(path, f"nothing is accepted here, got {shown_value(value)}; leave it out")
        if not isinstance(schema, Mapping):
            return
        if wrong_type := self._type(value, schema, path):
            yield wrong_type
            return
        if not _BOUNDS.keys().isdisjoint(schema):
            yield from self._bounds(value, schema, path)
        for name, keyword in _KEYWORDS.items():
            if name in schema and isinstance(schema[name], keyword.form):
                yield from keyword.check(self, value, schema, path)

    def fits(self, value: Any, schema: JsonView | bool) -> bool:
        return next(self.check(value, schema, ()), None) is None

    def _type(self, value: Any, schema: JsonView, path: Path) -> Problem | None:
        kinds = kinds_of(schema)
        for kind in kinds:
            if _TYPES[kind](value):
                return None
        if not kinds:
            return None
        expected = " or ".join(_WORDS[kind] for kind in kinds)
        return Problem(path, f"expected {expected}, got {shown_value(value)}")

    def _enum(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not any(equal(value, choice) for choice in schema["enum"]):
            choices = ", ".join(map(shown_value, schema["enum"]))
            yield Problem(path, f"expected one of {choices}, got {shown_value(value)}")

    def _const(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not equal(value, schema["const"]):
            yield Problem(path, f"expected {shown_value(schema['const'])}, got {shown_value(value)}")

    def _bounds(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        for keyword, bound in _BOUNDS.items():
            if keyword not in schema or not bound.applies(value) or not _is_number(schema[keyword]):
                continue
            if not bound.holds(value, schema[keyword]):
                got = shown_value(value) if _is_number(value) else str(len(value))
                yield Problem(path, f"expected {bound.phrase.format(schema[keyword])}, got {got}")

    def _multiple(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        step = schema["multipleOf"]
        if _is_number(value) and step and not _is_multiple(value, step):
            yield Problem(path, f"expected a multiple of {step}, got {shown_value(value)}")

    def _pattern(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if isinstance(value, str) and not _fits_pattern(value, schema["pattern"]):
            yield Problem(path, f"expected text like {schema['pattern']}, got {shown_value(value)}")

    def _unique(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not schema["uniqueItems"] or not isinstance(value, list):
            return
        seen: set[object] = set()
        for index, entry in enumerate(value):
            before = len(seen)
            seen.add(_key(entry))
            if len(seen) == before:
                yield Problem((*path, index), f"{shown_value(entry)} is there twice; keep one")

    def _items(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not isinstance(value, list):
            return
        first = len(schema.get("prefixItems", ()))
        for index, entry in enumerate(value[first:], first):
            yield from self.check(entry, schema["items"], (*path, index))

    def _prefix_items(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if isinstance(value, list):
            for index, (entry, wanted) in enumerate(zip(value, schema["prefixItems"], strict=False)):
                yield from self.check(entry, wanted, (*path, index))

    def _required(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not isinstance(value, dict):
            return
        for name in schema["required"]:
            if name not in value:
                yield Problem((*path, name), f"is missing; expected {self._expected(schema, name)}{_near(name, value)}")

    def _properties(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if isinstance(value, dict):
            for name, wanted in schema["properties"].items():
                if name in value:
                    yield from self.check(value[name], wanted, (*path, name))

    def _pattern_properties(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if isinstance(value, dict):
            for pattern, wanted in schema["patternProperties"].items():
                for name in value:
                    if _fits_pattern(name, pattern):
                        yield from self.check(value[name], wanted, (*path, name))

    def _additional(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        wanted, known = schema["additionalProperties"], schema.get("properties", {})
        if not isinstance(value, dict) or (wanted is False and not self.closed):
            return
        patterns = schema.get("patternProperties", {})
        for name, entry in value.items():
            if name in known or any(_fits_pattern(name, one) for one in patterns):
                continue
            if wanted is False:
                yield Problem((*path, name), f"is unknown; expected {', '.join(known) or 'nothing'}")
            else:
                yield from self.check(entry, wanted, (*path, name))

    def _all_of(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        for wanted in schema["allOf"]:
            yield from self.check(value, wanted, path)

    def _any_of(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not any(self.fits(value, wanted) for wanted in schema["anyOf"]):
            yield from self._closest(value, schema["anyOf"], path)

    def _one_of(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        fitting = sum(self.fits(value, wanted) for wanted in schema["oneOf"])
        if fitting > 1:
            yield Problem(path, f"fits {fitting} of the forms that exclude each other, got {shown_value(value)}")
        if fitting == 0:
            yield from self._closest(value, schema["oneOf"], path)

    def _closest(self, value: Any, forms: Sequence[JsonView | bool], path: Path) -> Iterator[Problem]:
        """The problems of the form that the value comes nearest to: the one whose outermost type is right."""
        right = [form for form in forms if isinstance(form, Mapping) and self._type(value, form, path) is None]
        if len(right) == 1:
            yield from self.check(value, right[0], path)
        else:
            expected = " or ".join(dict.fromkeys(map(self._phrase, forms)))
            yield Problem(path, f"expected {expected}, got {shown_value(value)}")

    def _not(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if self.fits(value, schema["not"]):
            yield Problem(path, f"{shown_value(value)} is just what is not accepted here")

    def _if(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        branch = "then" if self.fits(value, schema["if"]) else "else"
        yield from self.check(value, schema.get(branch, True), path)

    def _ref(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        """A reference that comes back to the same value without having got anywhere asks for nothing."""
        following = (schema["$ref"], id(value))
        if following in self._following:
            return
        self._following.add(following)
        try:
            yield from self.check(value, self._resolve(schema["$ref"]), path)
        finally:
            self._following.discard(following)

    def _resolve(self, reference: str) -> JsonView | bool:
        """A reference inside the same schema; one that leads elsewhere, or nowhere, accepts anything."""
        if not reference.startswith("#"):
            return True
        node: Any = self.root
        for step in reference.lstrip("#/").split("/") if reference != "#" else ():
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
                node = node[int(step)]
            elif isinstance(node, Mapping) and step in node:
                node = node[step]
            else:
                return True
        return node if isinstance(node, bool | Mapping) else True

    def _expected(self, schema: JsonView, name: str) -> str:
        return self._phrase(schema.get("properties", {}).get(name, True))

    def _phrase(self, schema: JsonView | bool) -> str:
        """What a schema wants, in a few words."""
        if not isinstance(schema, Mapping):
            return "a value"
        if "$ref" in schema:
            return self._phrase(self._resolve(schema["$ref"]))
        if "enum" in schema:
            return "one of " + ", ".join(map(shown_value, schema["enum"]))
        if "const" in schema:
            return shown_value(schema["const"])
        if forms := schema.get("anyOf") or schema.get("oneOf"):
            return " or ".join(dict.fromkeys(map(self._phrase, forms)))
        return " or ".join(_WORDS[kind] for kind in kinds_of(schema)) or "a value"


def kinds_of(schema: JsonView) -> list[str]:
    """The types a schema names; none if one of them is not a type of JSON, for then anything may be meant."""
    wanted = schema.get("type")
    if isinstance(wanted, str):
        return [wanted] if wanted in _TYPES else []
    kinds = wanted if isinstance(wanted, list) else []
    return kinds if all(isinstance(kind, str) and kind in _TYPES for kind in kinds) else []


def _is_multiple(value: int | float, step: int | float) -> bool:
    """By the decimals as they are written, so that 0.3 is a multiple of 0.1."""
    from fractions import Fraction

    try:
        one, other = (number if isinstance(number, int) else Fraction(repr(number)) for number in (value, step))
    except ValueError:
        return False
    return one % other == 0


def _fits_pattern(text: str, pattern: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text) is not None


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for an expression of another dialect, which then fits everything."""
    try:
        return re.compile(pattern)
    except re.error:
        return None


def _near(name: str, value: Mapping[str, Any]) -> str:
    """A hint where the argument is there under another spelling, such as file_path for filePath."""
    plain = name.replace("_", "").lower()
    for given in value:
        if given != name and str(given).replace("_", "").replace("-", "").lower() == plain:
            return f" (you sent {given!r})"
    return ""


@record(frozen=True, slots=True)
class _Bound:
    applies: Callable[[Any], bool]
    holds: Callable[[Any, Any], bool]
    phrase: str


_BOUNDS: Mapping[str, _Bound] = {
    "minimum": _Bound(_is_number, lambda value, limit: value >= limit, "{} or more"),
    "maximum": _Bound(_is_number, lambda value, limit: value <= limit, "{} or less"),
    "exclusiveMinimum": _Bound(_is_number, lambda value, limit: value > limit, "more than {}"),
    "exclusiveMaximum": _Bound(_is_number, lambda value, limit: value < limit, "less than {}"),
    "minLength": _Bound(_TYPES["string"], lambda value, limit: len(value) >= limit, "at least {} characters"),
    "maxLength": _Bound(_TYPES["string"], lambda value, limit: len(value) <= limit, "at most {} characters"),
    "minItems": _Bound(_TYPES["array"], lambda value, limit: len(value) >= limit, "at least {} entries"),
    "maxItems": _Bound(_TYPES["array"], lambda value, limit: len(value) <= limit, "at most {} entries"),
    "minProperties": _Bound(_TYPES["object"], lambda value, limit: len(value) >= limit, "at least {} keys"),
    "maxProperties": _Bound(_TYPES["object"], lambda value, limit: len(value) <= limit, "at most {} keys"),
}


@record(frozen=True, slots=True)
class _Keyword:
    form: type | tuple[type, ...]  # what its value must be for the keyword to mean anything
    check: Callable[[_Checker, Any, JsonView, Path], Iterator[Problem]]


_SCHEMA = (dict, bool)

_KEYWORDS: Mapping[str, _Keyword] = {
    "$ref": _Keyword(str, _Checker._ref),
    "enum": _Keyword(list, _Checker._enum),
    "const": _Keyword(object, _Checker._const),
    "multipleOf": _Keyword((int, float), _Checker._multiple),
    "pattern": _Keyword(str, _Checker._pattern),
    "uniqueItems": _Keyword(bool, _Checker._unique),
    "prefixItems": _Keyword(list, _Checker._prefix_items),
    "items": _Keyword(_SCHEMA, _Checker._items),
    "required": _Keyword(list, _Checker._required),
    "properties": _Keyword(dict, _Checker._properties),
    "patternProperties": _Keyword(dict, _Checker._pattern_properties),
    "additionalProperties": _Keyword(_SCHEMA, _Checker._additional),
    "allOf": _Keyword(list, _Checker._all_of),
    "anyOf": _Keyword(list, _Checker._any_of),
    "oneOf": _Keyword(list, _Checker._one_of),
    "not": _Keyword(_SCHEMA, _Checker._not),
    "if": _Keyword(_SCHEMA, _Checker._if),
}

"""JSON Schema: what is wrong with a value, all of it at once, each in one line a model can act on.

Covers the validation keywords of draft 2020-12 that tools and configuration use. `format` and other notes
are not checked, as the standard has it; a keyword that makes no sense, as in schemas from elsewhere, is passed over.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

from toolwright.protocols.json_types import JsonView
from toolwright.record import record
from toolwright.schema.basics import (
    Path,
    Problem,
    fits_pattern,
    is_multiple,
    shown_value,
)
from toolwright.schema.equality import equal, key_of
from toolwright.schema.references import References, replaces_the_rest
from toolwright.schema.unions import known_keys, tag_of

if TYPE_CHECKING:
    from toolwright.schema.evaluated import Evaluated


def problems_with(
    value: Any, schema: JsonView | bool, *, closed: bool = False, documents: Mapping[str, JsonView] | None = None
) -> list[Problem]:
    """Everything in the value that does not fit the schema; an empty list if it fits.

    `additionalProperties: false` is what providers want to see; only if `closed` is it a problem to have more.
    `documents` are other schemas by their addresses, for references that lead to them; nothing is fetched.
    """
    root = schema if isinstance(schema, Mapping) else {}
    return list(_Checker(root, closed, documents or {}).check(value, schema, ()))


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


class _Checker:
    """One walk over a value, with the root schema at hand for references."""

    def __init__(self, root: JsonView, closed: bool, documents: Mapping[str, JsonView]) -> None:
        self.root = root
        self.closed = closed
        self.references = References(root=root, documents=documents)
        self.scope: tuple[JsonView, ...] = (root,)
        """The parts with an address of their own on the way to the one that is held against the value."""
        self._following: set[tuple[int, int]] = set()
        self._known: dict[tuple[int, int, tuple[int, ...]], list[Problem]] = {}

    @cached_property
    def _evaluated(self) -> "Evaluated":
        from toolwright.schema.evaluated import Evaluated

        return Evaluated(self)

    def check(self, value: Any, schema: JsonView | bool, path: Path) -> Iterator[Problem]:
        if schema is False:
            yield Problem(path, f"nothing is accepted here, got {shown_value(value)}; leave it out")
        if not isinstance(schema, Mapping):
            return
        if "$id" in schema and self.scope[-1] is not schema:
            with self.inside(schema):
                problems = list(self.check(value, schema, path))
            yield from problems
            return
        if "$ref" in schema and replaces_the_rest(self.root) and isinstance(schema["$ref"], str):
            yield from self._ref(value, schema, path)
            return
        if wrong_type := self._type(value, schema, path):
            yield wrong_type
            return
        if not _BOUNDS.keys().isdisjoint(schema):
            yield from self._bounds(value, schema, path)
        for name, keyword in _KEYWORDS.items():
            if name in schema and isinstance(schema[name], keyword.form):
                yield from keyword.check(self, value, schema, path)

    @contextmanager
    def inside(self, resource: JsonView | None) -> Iterator[None]:
        """Be in a part with an address of its own, if it is one and another than now."""
        before = self.scope
        self.scope = (*before, resource) if resource is not None and before[-1] is not resource else before
        try:
            yield
        finally:
            self.scope = before

    def fits(self, value: Any, schema: JsonView | bool) -> bool:
        return next(self.check(value, schema, ()), None) is None

    def holds(self, value: Any, schema: JsonView | bool) -> bool:
        return not self._problems(value, schema)

    def _problems(self, value: Any, schema: JsonView | bool) -> list[Problem]:
        """The problems of a value on its own. Worked out once: where forms hold each other it is asked for again."""
        pair = (id(value), id(schema), tuple(map(id, self.scope)))
        if pair not in self._known:
            self._known[pair] = list(dict.fromkeys(self.check(value, schema, ())))
        return self._known[pair]

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
        if _is_number(value) and step and not is_multiple(value, step):
            yield Problem(path, f"expected a multiple of {step}, got {shown_value(value)}")

    def _pattern(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if isinstance(value, str) and not fits_pattern(value, schema["pattern"]):
            yield Problem(path, f"expected text like {schema['pattern']}, got {shown_value(value)}")

    def _unique(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not schema["uniqueItems"] or not isinstance(value, list):
            return
        seen: set[object] = set()
        for index, entry in enumerate(value):
            before = len(seen)
            seen.add(key_of(entry))
            if len(seen) == before:
                yield Problem((*path, index), f"{shown_value(entry)} is there twice; keep one")

    def _items(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not isinstance(value, list):
            return
        if isinstance(schema["items"], list):  # as drafts up to 2019-09 say what `prefixItems` says now
            for index, (entry, wanted) in enumerate(zip(value, schema["items"], strict=False)):
                yield from self.check(entry, wanted, (*path, index))
            return
        first = len(schema.get("prefixItems", ()))
        for index, entry in enumerate(value[first:], first):
            yield from self.check(entry, schema["items"], (*path, index))

    def _further_items(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        first = schema.get("items")
        if isinstance(value, list) and isinstance(first, list):
            for index, entry in enumerate(value[len(first) :], len(first)):
                yield from self.check(entry, schema["additionalItems"], (*path, index))

    def _contains(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not isinstance(value, list):
            return
        least, most = schema.get("minContains", 1), schema.get("maxContains", len(value))
        count = sum(not self._problems(entry, schema["contains"]) for entry in value)
        if not (_is_number(least) and _is_number(most)) or least <= count <= most:
            return
        expected = f"at least {least}" if count < least else f"at most {most}"
        yield Problem(path, f"expected {expected} entries that are {self._phrase(schema['contains'])}, got {count}")

    def _property_names(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        for name in value if isinstance(value, dict) else ():
            for problem in self._problems(name, schema["propertyNames"])[:1]:
                yield Problem((*path, name), f"has a name that is not accepted: {problem.message}")

    def _dependent(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        yield from self._where_there(value, schema["dependentRequired"], path)

    def _dependent_schemas(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        yield from self._where_there(value, schema["dependentSchemas"], path)

    def _dependencies(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        yield from self._where_there(value, schema["dependencies"], path)

    def _where_there(self, value: Any, wanted_with: JsonView, path: Path) -> Iterator[Problem]:
        """Yield what must be there too, or hold, where a certain key is."""
        for name, wanted in wanted_with.items() if isinstance(value, dict) else ():
            if name in value and isinstance(wanted, list):
                missing = (one for one in wanted if one not in value)
                yield from (Problem((*path, one), f"is missing, which goes with {name!r}") for one in missing)
            elif name in value:
                yield from self.check(value, wanted, path)

    def _unevaluated_items(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if not isinstance(value, list):
            return
        known = self._evaluated.of(value, schema)
        for index, entry in enumerate(value):
            if index not in known:
                yield from self.check(entry, schema["unevaluatedItems"], (*path, index))

    def _unevaluated_properties(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        wanted = schema["unevaluatedProperties"]
        if not isinstance(value, dict) or (wanted is False and not self.closed):
            return
        known = self._evaluated.of(value, schema)
        for name, entry in value.items():
            if name in known:
                continue
            if wanted is False:
                yield Problem((*path, name), "is unknown; leave it out")
            else:
                yield from self.check(entry, wanted, (*path, name))

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
                    if fits_pattern(name, pattern):
                        yield from self.check(value[name], wanted, (*path, name))

    def _additional(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        wanted, known = schema["additionalProperties"], schema.get("properties", {})
        if not isinstance(value, dict) or (wanted is False and not self.closed):
            return
        patterns = schema.get("patternProperties", {})
        for name, entry in value.items():
            if name in known or any(fits_pattern(name, one) for one in patterns):
                continue
            if wanted is False:
                yield Problem((*path, name), f"is unknown; expected {', '.join(known) or 'nothing'}")
            else:
                yield from self.check(entry, wanted, (*path, name))

    def _all_of(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        for wanted in schema["allOf"]:
            yield from self.check(value, wanted, path)

    def _any_of(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if all(self._problems(value, wanted) for wanted in schema["anyOf"]):
            yield from self._closest(value, schema["anyOf"], path)

    def _one_of(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        fitting = sum(not self._problems(value, wanted) for wanted in schema["oneOf"])
        if fitting > 1:
            yield Problem(path, f"fits {fitting} of the forms that exclude each other, got {shown_value(value)}")
        if fitting == 0:
            yield from self._closest(value, schema["oneOf"], path)

    def _closest(self, value: Any, forms: Sequence[JsonView | bool], path: Path) -> Iterator[Problem]:
        """The problems of the form that is meant: the one whose type is right, whose tag it has, or nearly all else."""
        known = [self._resolved(form) for form in forms]
        right = [form for form in known if isinstance(form, Mapping) and self._type(value, form, path) is None]
        tag = tag_of(right) if isinstance(value, dict) else None
        if tag is not None:
            right = tag.chosen(right, value.get(tag.name))
            if not right:
                expected = f"one of {', '.join(map(shown_value, tag.all_words))}"
                sent = f"expected {expected}, got {shown_value(value[tag.name])}" if tag.name in value else ""
                missing = f"is missing; expected {expected}{_near(tag.name, value)}"
                yield Problem((*path, tag.name), sent or missing)
                return
        if all("const" in form or "enum" in form for form in right):
            expected = " or ".join(dict.fromkeys(map(self._phrase, forms)))
            yield Problem(path, f"expected {expected}, got {shown_value(value)}")
            return
        tried = [(form, self._problems(value, form)) for form in right]
        fewest = min((len(problems), -known_keys(value, form)) for form, problems in tried)
        nearest = [problems for form, problems in tried if (len(problems), -known_keys(value, form)) == fewest]
        if len(nearest) == 1:
            yield from _below(path, nearest[0])
        else:
            problem = "; or ".join(", ".join(map(str, problems[:2])) for problems in nearest[:3])
            yield Problem(path, f"fits none of its forms: {problem}")

    def _not(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        if self.fits(value, schema["not"]):
            yield Problem(path, f"{shown_value(value)} is just what is not accepted here")

    def _if(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        branch = "then" if self.fits(value, schema["if"]) else "else"
        yield from self.check(value, schema.get(branch, True), path)

    def _ref(self, value: Any, schema: JsonView, path: Path, keyword: str = "$ref") -> Iterator[Problem]:
        """A reference that comes back to the same value without having got anywhere asks for nothing."""
        target, resource = self.target(schema, keyword)
        following = (id(target), id(value))
        if following in self._following:
            return
        self._following.add(following)
        try:
            with self.inside(resource):
                problems = self._problems(value, target)
        finally:
            self._following.discard(following)
        yield from _below(path, problems)

    def _dynamic_ref(self, value: Any, schema: JsonView, path: Path) -> Iterator[Problem]:
        yield from self._ref(value, schema, path, "$dynamicRef")

    def target(self, schema: JsonView, keyword: str) -> tuple[JsonView | bool, JsonView | None]:
        """Return the target of a reference, and the part with an address that this belongs to."""
        if keyword == "$ref":
            target = self.references.target(schema[keyword], schema)
        else:
            target = self.references.dynamic_target(schema[keyword], schema, self.scope)
        return target, self.references.resource(target)

    def _resolved(self, schema: JsonView | bool) -> JsonView | bool:
        """Return the target of a schema that is a reference; any other as it is."""
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            return schema
        return self.references.target(schema["$ref"], schema)

    def _expected(self, schema: JsonView, name: str) -> str:
        return self._phrase(schema.get("properties", {}).get(name, True))

    def _phrase(self, schema: JsonView | bool) -> str:
        """Return the demand of a schema, in a few words."""
        if not isinstance(schema, Mapping):
            return "a value"
        if isinstance(schema.get("$ref"), str):
            return self._phrase(self.references.target(schema["$ref"], schema))
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


def _below(path: Path, problems: Sequence[Problem]) -> Iterator[Problem]:
    return (Problem((*path, *one.path), one.message) for one in problems)


def _near(name: str, value: Mapping[str, Any]) -> str:
    """A hint where the argument is there under another spelling, such as file_path for filePath."""
    plain = name.replace("_", "").lower()
    for entry in value:
        if entry != name and str(entry).replace("_", "").replace("-", "").lower() == plain:
            return f" (you sent {entry!r})"
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
    "$dynamicRef": _Keyword(str, _Checker._dynamic_ref),
    "enum": _Keyword(list, _Checker._enum),
    "const": _Keyword(object, _Checker._const),
    "multipleOf": _Keyword((int, float), _Checker._multiple),
    "pattern": _Keyword(str, _Checker._pattern),
    "uniqueItems": _Keyword(bool, _Checker._unique),
    "prefixItems": _Keyword(list, _Checker._prefix_items),
    "items": _Keyword((*_SCHEMA, list), _Checker._items),
    "additionalItems": _Keyword(_SCHEMA, _Checker._further_items),
    "contains": _Keyword(_SCHEMA, _Checker._contains),
    "propertyNames": _Keyword(_SCHEMA, _Checker._property_names),
    "required": _Keyword(list, _Checker._required),
    "properties": _Keyword(dict, _Checker._properties),
    "patternProperties": _Keyword(dict, _Checker._pattern_properties),
    "additionalProperties": _Keyword(_SCHEMA, _Checker._additional),
    "allOf": _Keyword(list, _Checker._all_of),
    "anyOf": _Keyword(list, _Checker._any_of),
    "oneOf": _Keyword(list, _Checker._one_of),
    "not": _Keyword(_SCHEMA, _Checker._not),
    "if": _Keyword(_SCHEMA, _Checker._if),
    "dependentRequired": _Keyword(dict, _Checker._dependent),
    "dependentSchemas": _Keyword(dict, _Checker._dependent_schemas),
    "dependencies": _Keyword(dict, _Checker._dependencies),
    "unevaluatedItems": _Keyword(_SCHEMA, _Checker._unevaluated_items),
    "unevaluatedProperties": _Keyword(_SCHEMA, _Checker._unevaluated_properties),
}

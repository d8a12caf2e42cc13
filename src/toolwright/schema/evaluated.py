"""Keys and places of a value that a JSON Schema has looked at, for `unevaluatedProperties` and `unevaluatedItems`."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, Protocol

from toolwright.protocols.json_types import JsonView
from toolwright.record import record
from toolwright.schema.basics import fits_pattern
from toolwright.schema.references import schemas_beside


class Checking(Protocol):
    """The methods of the walk over the value that are needed here."""

    scope: tuple[JsonView, ...]

    def holds(self, value: Any, schema: JsonView | bool) -> bool: ...
    def target(self, schema: JsonView, keyword: str) -> tuple[JsonView | bool, JsonView | None]: ...
    def inside(self, resource: JsonView | None) -> AbstractContextManager[None]: ...


@record(slots=True, eq=False)
class Evaluated:
    """The places found for one value. Each part is asked once: where parts hold each other it is asked for again."""

    checking: Checking
    _known: dict[tuple[int, ...], set[Any]] = field(default_factory=dict[tuple[int, ...], set[Any]])

    def of(self, value: Any, schema: JsonView | bool, *, below: bool = False) -> set[Any]:
        """Return the keys or places that a schema, or one beside it that the value fits, has looked at.

        `below` says that the schema is such a one, whose own `unevaluated…` has looked at all the rest.
        """
        if not isinstance(schema, Mapping):
            return set()
        key = (id(value), id(schema), below, *map(id, self.checking.scope))
        if key not in self._known:
            self._known[key] = set()  # a part that leads back to itself has looked at nothing more
            self._known[key] = self._of(value, schema, below=below)
        return self._known[key]

    def _of(self, value: Any, schema: JsonView, *, below: bool) -> set[Any]:
        checking = self.checking
        places: set[Any] = set()
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(schema.get(keyword), str):
                target, resource = checking.target(schema, keyword)
                with checking.inside(resource):
                    places |= self.of(value, target, below=True)
        if isinstance(value, list):
            places |= _items(checking, value, schema, below=below)
        if isinstance(value, dict):
            places |= _properties(value, schema, below=below)
        for beside in _beside(checking, value, schema):
            with checking.inside(beside if isinstance(beside, Mapping) and "$id" in beside else None):
                if checking.holds(value, beside):
                    places |= self.of(value, beside, below=True)
        return places


def _beside(checking: Checking, value: Any, schema: JsonView) -> Iterator[JsonView | bool]:
    yield from schemas_beside(schema)
    if "if" in schema:
        fits = checking.holds(value, schema["if"])
        yield from (schema["if"], schema.get("then", True)) if fits else (schema.get("else", True),)
    dependent = schema.get("dependentSchemas")
    if isinstance(value, dict) and isinstance(dependent, Mapping):
        yield from (wanted for name, wanted in dependent.items() if name in value)


def _items(checking: Checking, value: list[Any], schema: JsonView, *, below: bool) -> set[Any]:
    whole = "items" in schema and not isinstance(schema["items"], list)
    if whole or (below and "unevaluatedItems" in schema):
        return set(range(len(value)))
    first = schema.get("prefixItems", schema.get("items", ()))
    places = set(range(min(len(first), len(value))))
    if "contains" in schema:
        places |= {index for index, entry in enumerate(value) if checking.holds(entry, schema["contains"])}
    return places


def _properties(value: dict[str, Any], schema: JsonView, *, below: bool) -> set[Any]:
    if "additionalProperties" in schema or (below and "unevaluatedProperties" in schema):
        return set(value)
    patterns = schema.get("patternProperties", {})
    known = schema.get("properties", {})
    return {name for name in value if name in known or any(fits_pattern(name, one) for one in patterns)}

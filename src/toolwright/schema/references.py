"""Where the references of a JSON Schema lead: by pointer, by anchor, by an address that a part of it has."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from toolwright.protocols.json_types import JsonView
from toolwright.record import record

_VALUES = ("enum", "const", "default", "examples")
"""Keywords whose values are no schemas, whatever they look like."""
_OLD = ("draft-03", "draft-04", "draft-06", "draft-07")


@record(kw_only=True, eq=False)
class References:
    """The parts of one schema by their addresses; looked through when the first reference is met."""

    root: JsonView
    documents: Mapping[str, JsonView] = field(default_factory=dict[str, JsonView])
    """Other schemas by their addresses. Nothing is fetched: a reference to any other accepts everything."""

    @cached_property
    def _bases(self) -> dict[int, str]:
        """The address against which a part's references are read."""
        return {}

    @cached_property
    def _parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        for address, document in self.documents.items():
            self._add(document, address, parts)
            parts[address] = document
        self._add(self.root, "", parts)
        return parts

    def _add(self, document: JsonView, address: str, found: dict[str, Any]) -> None:
        """Look a schema through, part by part: one from elsewhere may be nested as deep as it likes."""
        old = _is_old(document)
        waiting: list[tuple[Any, str]] = [(document, address)]
        while waiting:
            part, base = waiting.pop()
            if isinstance(part, Mapping):
                base = self._name(part, base, found, old=old)
                self._bases[id(part)] = base
            inner = part.items() if isinstance(part, Mapping) else enumerate(part) if isinstance(part, list) else ()
            waiting += [(entry, base) for name, entry in inner if name not in _VALUES]

    def _name(self, part: JsonView, base: str, found: dict[str, Any], *, old: bool) -> str:
        """Note the addresses that a part has, and return the one for what is in it."""
        named = part.get("$id")
        if isinstance(named, str) and not (old and "$ref" in part):
            address, fragment = urldefrag(_joined(base, named))
            if fragment and old and named.startswith("#"):
                found[f"{address}#{fragment}"] = part
            else:
                base = address
        found.setdefault(base, part)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(part.get(keyword), str):
                found[f"{base}#{part[keyword]}"] = part
        return base

    def target(self, reference: str, part: JsonView) -> JsonView | bool:
        """Return the target of a reference in a part; True, which accepts anything, if it leads nowhere."""
        parts = self._parts
        address, fragment = urldefrag(_joined(self._bases.get(id(part), ""), reference))
        if not fragment or not fragment.startswith("/"):
            target = parts.get(f"{address}#{fragment}" if fragment else address, True)
        else:
            target = _pointed(parts.get(address, True), unquote(fragment))
        return target if isinstance(target, bool | Mapping) else True

    def resource(self, part: JsonView | bool) -> JsonView | None:
        """The part with an address of its own that a part belongs to."""
        self._parts  # noqa: B018 - looks the schema through
        root = self._parts.get(self._bases.get(id(part), ""))
        return root if isinstance(root, Mapping) else None

    def dynamic_target(self, reference: str, part: JsonView, scope: tuple[JsonView, ...]) -> JsonView | bool:
        """The same for `$dynamicRef`: the outermost part on the way here that has the anchor, if any has."""
        target = self.target(reference, part)
        name = urldefrag(reference)[1]
        if not isinstance(target, Mapping) or target.get("$dynamicAnchor") != name:
            return target
        for outer in scope:
            there = self._parts.get(f"{self._bases.get(id(outer), '')}#{name}")
            if isinstance(there, Mapping) and there.get("$dynamicAnchor") == name:
                return there
        return target


def _joined(base: str, reference: str) -> str:
    """An address read from another; to one that is a name (`urn:…`) only what is in it can be added."""
    try:
        return f"{base}{reference}" if reference.startswith("#") else urljoin(base, reference)
    except ValueError:  # no address at all, such as one with half a bracket
        return reference


def _pointed(node: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        elif isinstance(node, Mapping) and step in node:
            node = node[step]
        else:
            return True
    return node


def _is_old(schema: JsonView) -> bool:
    return any(name in str(schema.get("$schema", "")) for name in _OLD)


def replaces_the_rest(root: JsonView) -> bool:
    """Tell whether a `$ref` hides what stands beside it, as in drafts up to the seventh."""
    return _is_old(root)


def schemas_beside(schema: JsonView) -> Iterator[JsonView | bool]:
    """Yield the schemas in a schema that are held against the same value."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        entries = schema.get(keyword)
        yield from entries if isinstance(entries, list) else ()

"""Requests as bytes, joined from pieces that are each encoded once."""

import json
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from toolwright.record import record

K = TypeVar("K")
V = TypeVar("V")

GROWING = 4
"""How many conversations with one model are remembered at a time."""


class Once(Generic[K, V]):
    """A function of an object, worked out once and remembered for as long as the object lives.

    By identity, not by value: comparing long messages would cost what encoding them does.
    """

    def __init__(self, work_out: Callable[[K], V]) -> None:
        self._work_out = work_out
        self._kept: dict[int, tuple[weakref.ref[Any], V]] = {}

    def __call__(self, key: K) -> V:
        number = id(key)
        held = self._kept.get(number)
        if held is not None and held[0]() is key:
            return held[1]
        value = self._work_out(key)
        kept = self._kept
        kept[number] = (weakref.ref(key, lambda _: kept.pop(number, None)), value)
        return value

    def __len__(self) -> int:
        return len(self._kept)


class Growing(Generic[K, V]):
    """Fold a list that grows from call to call: only what is new at its end is worked on.

    Remembered for as long as the first entry lives.
    """

    def __init__(self, start: Callable[[], V], add: Callable[[V, K], None]) -> None:
        self._start = start
        self._add = add
        self._known: list[_Known[K, V]] = []

    def through(self, entries: Sequence[K]) -> V:
        if not entries:
            return self._start()
        known = next((one for one in self._known if one.begins(entries)), None) or self._begun(entries[0])
        for entry in entries[1 + len(known.others) :]:
            self._add(known.value, entry)
            known.others.append(entry)
        return known.value

    def _begun(self, first: K) -> "_Known[K, V]":
        known: list[_Known[K, V]] = self._known

        def forget(reference: "weakref.ref[K]") -> None:
            known[:] = [one for one in known if one.first is not reference]

        begun = _Known(weakref.ref(first, forget), list[K](), self._start())
        self._add(begun.value, first)
        self._known[:] = [begun, *self._known[: GROWING - 1]]
        return begun


@record(slots=True)
class _Known(Generic[K, V]):
    first: "weakref.ref[K]"
    others: list[K]
    value: V

    def begins(self, entries: Sequence[K]) -> bool:
        return self.first() is entries[0] and list(entries[1 : 1 + len(self.others)]) == self.others


def dump(value: Any) -> bytes:
    """Compact JSON. Half a surrogate pair, which no provider would take, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def join_body(fields: Mapping[str, Any], **lists: Iterable[bytes]) -> bytes:
    """One JSON object of plain fields and of lists whose entries are already encoded.

    Joined in one go: a long conversation is megabytes, and each copy of it costs milliseconds.
    """
    pieces = [dump(fields)[:-1]]
    for name, entries in lists.items():
        comma = b"" if pieces == [b"{"] else b","
        pieces.append(b'%s"%s":[' % (comma, name.encode()))
        between = b""
        for entry in entries:
            pieces += (between, entry)
            between = b","
        pieces.append(b"]")
    pieces.append(b"}")
    return b"".join(pieces)


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Later layers over earlier ones, objects inside objects likewise."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            under = merged.get(key)
            if isinstance(under, Mapping) and isinstance(value, Mapping):
                merged[key] = merge(under, value)
            else:
                merged[key] = value
    return merged


def without(fields: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The fields that do not have one of these names, inside other fields either; nothing empty is left behind."""
    if not names:
        return dict(fields)
    kept: dict[str, Any] = {}
    for key, value in fields.items():
        inner = without(value, names) if isinstance(value, Mapping) else value
        if key not in names and not (inner == {} and value):
            kept[key] = inner
    return kept


def place(options: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Options under the names the wire has for them: `{"reasoningEffort": "reasoning.effort"}` nests the value."""
    placed: dict[str, Any] = {}
    for key, value in options.items():
        *folders, last = names.get(key, key).split(".")
        entry: Any = {last: value}
        for folder in reversed(folders):
            entry = {folder: entry}
        placed = merge(placed, entry)
    return placed

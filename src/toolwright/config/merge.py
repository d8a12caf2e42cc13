"""Settings of several sources made one: the later wins, within the bounds that the administrator has set."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.settings import Settings
from toolwright.settings.derive import notes_of

_JOINED_LISTS = ("plugin", "instructions")


def merged(values: Iterable[Mapping[str, Any]]) -> Json:
    """All of them, weakest first. Objects are merged key by key, two kinds of list are joined."""
    result: Json = {}
    for value in values:
        result = merge(result, value)
    return result


def merge(lower: Mapping[str, Any], higher: Mapping[str, Any], path: tuple[str, ...] = ()) -> Json:
    result = dict(lower)
    for key, value in higher.items():
        before = result.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            result[key] = merge(before, value, (*path, key))
        elif not path and key in _JOINED_LISTS and isinstance(before, list):
            result[key] = [*before, *(entry for entry in value if entry not in before)]
        elif key == "permission" and before is not None and isinstance(value, list | dict):
            result[key] = [*as_list(before), *as_list(value)]
        else:
            result[key] = value
    return result


def bounded(settings: Json, managed: Json) -> Json:
    """Return everybody else's settings under the administrator's: those win, but a stricter value of others stays."""
    result = _bounded(Settings, settings, managed)
    if denied := managed.get("environment", {}).get("deny"):
        environment = result["environment"]
        allowed = [name for name in environment.get("allow", ()) if not any(_overlap(name, one) for one in denied)]
        result["environment"] = environment | ({"allow": allowed} if "allow" in environment else {})
    return result


def as_list(permission: Any) -> list[Any]:
    """Rules in the list form, so that one can be put after them."""
    if isinstance(permission, list):
        return permission
    if isinstance(permission, str):
        return [{"action": "*", "resource": "*", "effect": permission}]
    rules: list[Any] = []
    for name, value in (permission or {}).items():
        patterns = value if isinstance(value, Mapping) else {"*": value}
        rules += ({"action": name, "resource": pattern, "effect": effect} for pattern, effect in patterns.items())
    return rules


def _bounded(record: Any, settings: Json, managed: Json) -> Json:
    result = merge(settings, managed)
    notes = notes_of(record)
    for key, value in managed.items():
        note = notes.get(key)
        if note is None or key not in settings:
            continue
        if note.section:
            result[key] = _bounded(note.section, settings[key], value)
        elif note.entries and isinstance(settings[key], dict) and isinstance(value, dict):
            both = {
                name: _bounded(note.entries, settings[key][name], value[name]) for name in settings[key].keys() & value
            }
            result[key] |= both
        elif note.setting is not None and note.setting.tighten is not None:
            result[key] = note.setting.tighten(value, settings[key])
    return result


def _overlap(first: str, other: str) -> bool:
    """Return whether a name can fit both patterns, in any case of letters."""
    reached = {(0, 0)}
    first, other = first.upper(), other.upper()
    todo = [(0, 0)]
    while todo:
        here, there = todo.pop()
        if here == len(first) and there == len(other):
            return True
        for step in _steps(first[here : here + 1], other[there : there + 1]):
            place = (here + step[0], there + step[1])
            if place not in reached:
                reached.add(place)
                todo.append(place)
    return False


def _steps(first: str, other: str) -> list[tuple[int, int]]:
    """Return the steps that two patterns may go on together."""
    steps: list[tuple[int, int]] = []
    if first == "*":
        steps += [(1, 0)] + ([(0, 1)] if other else [])
    if other == "*":
        steps += [(0, 1)] + ([(1, 0)] if first else [])
    if first and other and "*" not in (first, other) and (first == other or "?" in (first, other)):
        steps.append((1, 1))
    return steps

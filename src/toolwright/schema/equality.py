"""When two JSON values are the same."""

from typing import Any


def equal(one: Any, other: Any) -> bool:
    """JSON equality: 1 equals 1.0, but true does not equal 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def key_of(value: Any) -> object:
    """The same for two values exactly if they are equal."""
    if isinstance(value, dict):
        return ("object", frozenset((name, key_of(entry)) for name, entry in value.items()))
    if isinstance(value, list):
        return ("array", *map(key_of, value))
    return (isinstance(value, bool), value)

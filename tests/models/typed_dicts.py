"""Whether a JSON value is what the type hints of an SDK say, to the last key."""

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, TypeVar, Union, get_args, get_origin, get_type_hints


def complaints(value: Any, hint: Any, place: str = "") -> list[str]:
    """What is wrong with the value, each with its place; nothing if it fits."""
    return list(_check(value, hint, place or "body"))


def _check(value: Any, hint: Any, place: str) -> Iterator[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return
    if origin in (Required, NotRequired, Annotated):
        yield from _check(value, arguments[0], place)
    elif origin in (Union, types.UnionType):
        yield from _one_of(value, arguments, place)
    elif origin is Literal:
        if value not in arguments:
            yield f"{place}: {value!r} is none of {arguments}"
    elif hasattr(hint, "__required_keys__"):
        yield from _dict(value, hint, place)
    elif origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            yield f"{place}: {value!r} is no object"
    elif origin is not None:
        yield from _list(value, arguments, place)
    elif not _is_plain(value, hint):
        yield f"{place}: {value!r} is no {hint}"


def _one_of(value: Any, hints: tuple[Any, ...], place: str) -> Iterator[str]:
    tried = [complaints(value, hint, place) for hint in hints]
    if all(tried):
        # The kind that comes nearest: a complaint about a key inside says more than one about the whole.
        yield from max(tried, key=lambda found: max(one.count(".") + one.count("[") for one in found))


def _dict(value: Any, hint: Any, place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: {value!r} is no object"
        return
    hints = get_type_hints(hint, include_extras=True)
    yield from (f"{place}.{name} is unknown" for name in value.keys() - hints.keys())
    # `__required_keys__` does not see a `Required` that is written as text.
    required = hint.__required_keys__ | {name for name, one in hints.items() if get_origin(one) is Required}
    yield from (
        f"{place}.{name} is missing" for name in required - value.keys() if get_origin(hints[name]) is not NotRequired
    )
    for name in value.keys() & hints.keys():
        yield from _check(value[name], hints[name], f"{place}.{name}")


def _list(value: Any, arguments: tuple[Any, ...], place: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{place}: {value!r} is no list"
        return
    for number, entry in enumerate(value):
        yield from _check(entry, arguments[0], f"{place}[{number}]")


def _is_plain(value: Any, hint: Any) -> bool:
    if hint is type(None) or hint is None:
        return value is None
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(hint, type) and isinstance(value, hint)

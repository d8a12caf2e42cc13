"""JSON that comes from outside: read whole, or refused with a reason."""

import json
from collections.abc import Iterable
from typing import Any

DEPTH = 100
"""Levels of nesting. Nothing that is meant well goes deeper, and what does would exhaust the stack later."""

_NESTED = (dict, list)
TOO_DEEP = f"it is nested more than {DEPTH} levels deep"


def read_json(text: str) -> Any:
    """The value of the text; a ValueError if it is not JSON or nested too deep."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    # Where little is opened, nothing is deep: most texts are that short.
    if text.count("{") + text.count("[") > DEPTH and is_too_deep(value):
        raise ValueError(TOO_DEEP)
    return value


def is_too_deep(value: Any) -> bool:
    """Return whether a value is nested deeper than anything that is meant well."""
    level = [value] if isinstance(value, _NESTED) else []
    for _ in range(DEPTH):
        level = [entry for one in level for entry in _below(one) if isinstance(entry, _NESTED)]
        if not level:
            return False
    return True


def _below(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value

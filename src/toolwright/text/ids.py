"""Ids that sort by the time they were made: `ses_`, `msg_`, `prt_`, `per_`, `que_`, `tool_` and the rest.

Twelve hex digits of full 48-bit milliseconds, four of a counter, ten random letters: in order within a
process, unique between processes, and good until the year 10889. Ids that others have made may be greater;
`follow_id` makes all later ones of their kind greater still.
"""

import itertools
import os
import re
import time

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ENCODED = bytes(ord(_LETTERS[byte % 62]) for byte in range(256))
_FORM = re.compile(r"[a-z]+_[0-9A-Za-z]{1,64}")
_counter = itertools.count()
_COUNTER_SIZE = 0x10000
_HEAD = 12
"""Characters that order the ids."""
_HEX = frozenset("0123456789abcdef")
_followed: dict[str, str] = {}
"""By prefix the greatest head of an id that others made."""


def now() -> int:
    """The time as ids and records have it: milliseconds since the epoch."""
    return max(0, time.time_ns() // 1_000_000)


def new_id(prefix: str) -> str:
    """A fresh id such as `msg_019a8c3f2b1c0007QwErTyUiOp`."""
    head = f"{now():012x}"
    number = next(_counter) % _COUNTER_SIZE
    random = os.urandom(10).translate(_ENCODED).decode()
    if prefix in _followed and head <= _followed[prefix]:
        head = _followed[prefix] = _next(_followed[prefix])
    return f"{prefix}_{head}{number:04x}{random}"


def follow_id(text: str) -> bool:
    """Make every later id of this kind greater than this one; False if none can be."""
    prefix, _, rest = text.partition("_")
    head = rest[:_HEAD].ljust(_HEAD, "0")
    if head.strip("z") == "" or head.strip("f") == "":
        return False
    if head > f"{now():012x}":
        _followed[prefix] = max(head, _followed.get(prefix, ""))
    return True


def _next(head: str) -> str:
    """The next greater head: a hex number plus one, since that is how others count; else the next in letters."""
    if _HEX.issuperset(head) and head.strip("f"):
        return f"{int(head, 16) + 1:012x}"
    kept = head.rstrip("z")
    if not kept:
        return head
    return f"{kept[:-1]}{_LETTERS[_LETTERS.index(kept[-1]) + 1]}".ljust(_HEAD, "0")


def is_id(text: str, prefix: str) -> bool:
    """Return whether this can be an id of that kind; nothing else is ever used as a name on disk."""
    return text.startswith(f"{prefix}_") and _FORM.fullmatch(text) is not None

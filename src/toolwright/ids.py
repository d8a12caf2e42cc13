"""Ids that sort by the time they were made: `ses_`, `msg_`, `prt_`, `per_`, `que_`, `tool_` and the rest.

Twelve hex digits of full 48-bit milliseconds, four of a counter, ten random letters: in order within a
process, unique between processes, and good until the year 10889.
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


def new_id(prefix: str) -> str:
    """A fresh id such as `msg_019a8c3f2b1c0007QwErTyUiOp`."""
    milliseconds = time.time_ns() // 1_000_000
    number = next(_counter) % _COUNTER_SIZE
    random = os.urandom(10).translate(_ENCODED).decode()
    return f"{prefix}_{milliseconds:012x}{number:04x}{random}"


def is_id(text: str, prefix: str) -> bool:
    """Whether this can be an id of that kind; nothing else is ever used as a name on disk."""
    return text.startswith(f"{prefix}_") and _FORM.fullmatch(text) is not None

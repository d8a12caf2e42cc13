"""Call ids in the form a provider demands: the same id always becomes the same one."""

import hashlib
import os
import re


def new_call_id() -> str:
    """For a provider that gives its calls none."""
    return f"call_{os.urandom(12).hex()}"


def plain_id(call_id: str, *, longest: int) -> str:
    """Letters, digits, `_` and `-` only, and no longer than that."""
    plain = _OTHER.sub("_", call_id)
    if 0 < len(plain) <= longest:
        return plain
    return f"call_{_digest(call_id)[: longest - 5]}"


def nine_id(call_id: str) -> str:
    """Exactly nine letters and digits, as Mistral has it."""
    return call_id if _NINE.fullmatch(call_id) else _digest(call_id)[:9]


def _digest(call_id: str) -> str:
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()


_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_NINE = re.compile(r"[A-Za-z0-9]{9}")

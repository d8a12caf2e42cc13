"""Problems with values, put into words, and two checks of plain values."""

import functools
import json
import re
from typing import Any

from toolwright.record import record

Path = tuple[str | int, ...]


@record(frozen=True, slots=True)
class Problem:
    """One thing wrong with a value: where, and what was expected there."""

    path: Path
    message: str

    def __str__(self) -> str:
        return f"{shown_path(self.path)}: {self.message}" if self.path else self.message


def shown_path(path: Path) -> str:
    """`edits[0].oldString`, short enough for a line."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return text if len(text) <= 200 else f"{text[:197]}..."


def shown_value(value: Any) -> str:
    """The value as JSON, short enough for a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_multiple(value: int | float, step: int | float) -> bool:
    """By the decimals as they are written, so that 0.3 is a multiple of 0.1."""
    from fractions import Fraction

    try:
        one, other = (number if isinstance(number, int) else Fraction(repr(number)) for number in (value, step))
    except ValueError:
        return False
    return one % other == 0


def fits_pattern(text: str, pattern: str) -> bool:
    compiled = _compiled(pattern)
    return compiled is None or compiled.search(text) is not None


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for an expression of another dialect, which then fits everything."""
    try:
        return re.compile(pattern)
    except re.error:
        return None

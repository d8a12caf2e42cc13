"""Relations of two wildcards: whether one fits all that the other fits, or anything of it."""

import re
from collections.abc import Iterator
from functools import lru_cache

_MOST = 2000
"""Characters of a pattern that are compared; longer ones are held to be unrelated."""


def covers(wide: str, narrow: str) -> bool:
    """Return whether every text that fits `narrow` fits `wide` too."""
    # Most pairs of rules differ in their first letters; that must not take a table to find out.
    return wide == "*" or (narrow.startswith(_beginning(wide)) and _covers(wide, narrow))


@lru_cache(maxsize=8192)
def _beginning(pattern: str) -> str:
    """Return the beginning of every text that fits."""
    return re.split(r"[*?]", pattern, maxsplit=1)[0].rstrip(" ")


@lru_cache(maxsize=4096)
def _covers(wide: str, narrow: str) -> bool:
    if len(wide) + len(narrow) > _MOST:
        return wide == "*"
    return all(any(_includes(one, other) for one in _forms(wide)) for other in _forms(narrow))


@lru_cache(maxsize=4096)
def overlap(one: str, other: str) -> bool:
    """Return whether some text fits both."""
    if len(one) + len(other) > _MOST:
        return True
    return any(_meet(a, b) for a in _forms(one) for b in _forms(other))


def _forms(pattern: str) -> Iterator[str]:
    """A final ` *` may be left out."""
    yield pattern
    if pattern.endswith(" *"):
        yield pattern[:-2]


def _includes(wide: str, narrow: str) -> bool:
    """A row at a time: which beginnings of `wide` take in the beginning of `narrow` so far."""
    row = [True, *([False] * len(wide))]
    for index, mark in enumerate(wide):
        row[index + 1] = row[index] and mark == "*"
    for sign in narrow:
        previous, row = row, [False] * (len(wide) + 1)
        for index, mark in enumerate(wide):
            if mark == "*":
                row[index + 1] = row[index] or previous[index + 1]
            else:
                row[index + 1] = previous[index] and sign != "*" and mark in (sign, "?")
    return row[-1]


def _meet(one: str, other: str) -> bool:
    row = [True, *([False] * len(one))]
    for index, mark in enumerate(one):
        row[index + 1] = row[index] and mark == "*"
    for sign in other:
        previous, row = row, [row[0] and sign == "*", *([False] * len(one))]
        for index, mark in enumerate(one):
            if "*" in (mark, sign):
                row[index + 1] = row[index] or previous[index + 1]
            else:
                row[index + 1] = previous[index] and (mark == sign or "?" in (mark, sign))
    return row[-1]

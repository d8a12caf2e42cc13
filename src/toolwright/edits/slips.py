"""Slips of the pen: a letter, a bracket or the order of words, by which a line differs that is plainly meant."""

import re

_PIECE = re.compile(r"\w+|[^\w\s]")
_SIGNS = frozenset(",;:.()[]{}")
_THREE_ALIKE = re.compile(r"([a-zA-Z])\1\1")
"""A letter three times in a row, as no word has it."""
_FEW = 4
"""Letters of a word in which a wrong one can be told from another word, and words whose order is not all there is."""


def is_slip(line: str, other: str) -> bool:
    """Tell whether two lines differ in one letter of a word, in one sign that some lines have, or in word order."""
    short, long = sorted((line, other), key=len)
    at = _head(short, long)
    if len(long) - len(short) == 1 and long[at] in _SIGNS and short[at:] == long[at + 1 :]:
        return True
    a, b = _PIECE.findall(line), _PIECE.findall(other)
    if len(a) >= _FEW and sorted(a) == sorted(b):
        return True
    start = _head(a, b)
    return start < len(a) == len(b) and a[start + 1 :] == b[start + 1 :] and _is_mistyped(a[start], b[start])


def _is_mistyped(word: str, other: str) -> bool:
    """Tell if two words, both of letters, are one letter apart: another, one more or less; or one underscore."""
    short, long = sorted((word, other), key=len)
    if len(short) >= _FEW and len(long) - len(short) == 1 and short.replace("_", "") == long.replace("_", ""):
        return True
    if (
        (len(short) < _FEW and not _THREE_ALIKE.search(long))
        or len(long) - len(short) > 1
        or not (short.isalpha() and long.isalpha())
    ):
        return False
    at = _head(short, long)
    return short[at:] == long[at + 1 :] or short[at + 1 :] == long[at + 1 :]


def _head(items: str | list[str], other: str | list[str]) -> int:
    """Return how much the two have in common at the beginning."""
    return next(
        (at for at, (a, b) in enumerate(zip(items, other, strict=False)) if a != b), min(len(items), len(other))
    )

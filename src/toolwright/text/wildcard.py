"""The wildcards of permission rules: `*` is any run of characters, `?` exactly one, all else is itself."""

import functools
import re


def matches(text: str, pattern: str, *, any_case: bool = False) -> bool:
    """Return whether the whole text fits the pattern.

    `*` crosses `/` and line ends. A final ` *` is optional, so `ls *` fits `ls` and `ls -a` but not `lsof`.
    """
    return _compile(pattern, any_case).fullmatch(text) is not None


def longest_piece(pattern: str) -> str:
    """Return what is in every text that fits the pattern, in small letters: the longest part without wildcards."""
    return max(re.split(r"[*?]+", pattern), key=len).lower()


@functools.lru_cache(maxsize=4096)
def _compile(pattern: str, any_case: bool) -> re.Pattern[str]:
    flags = re.DOTALL | (re.IGNORECASE if any_case else 0)
    forms = [pattern[:-2], pattern] if pattern.endswith(" *") else [pattern]
    return re.compile("|".join(map(_regex, forms)), flags)


def _regex(pattern: str) -> str:
    """A middle piece may be taken where it first fits and never looked for again: atomic groups keep this linear."""
    first, *rest = (_piece(piece) for piece in re.split(r"\*+", pattern))
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>.*?{piece})" for piece in middle) + ".*" + last


def _piece(text: str) -> str:
    return ".".join(map(re.escape, text.split("?")))

"""Files that a wildcard names at the moment, by the shell's own rules."""

import os
import posixpath
import re
from collections.abc import Iterator

from toolwright.record import record

MOST = 1000
"""The most files named by a wildcard that are judged one by one; where there are more, that is said."""
_LOOKED_AT = 20_000
"""The most names that are looked at before giving up."""
_LONGEST = 1000
"""Characters of a pattern for one name; names have at most 255, and nobody writes a longer one in earnest."""

_MAGIC = re.compile(r"[*?\[]")
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
    "word": r"\w",
    "cntrl": r"\x00-\x1f\x7f",
    "print": r"\x20-\x7e",
    "graph": "!-~",
}


_BEYOND_ASCII = frozenset({"alpha", "alnum", "upper", "lower", "space", "punct", "word", "print", "graph"})
"""Classes that have members in some languages of which this table knows nothing."""
_COLLATED = re.compile(r"\[[!^]?\]?[^\]]*\[[.=]")
"""A set with `[.a.]` or `[=a=]` in it, which depends on the language."""


class TooMany(Exception):
    """More names than are looked at."""


@record(slots=True, kw_only=True)
class _Budget:
    """The number of names that may still be looked at, and whether wildcards fit names that begin with a dot."""

    left: int = _LOOKED_AT
    dots: bool = False


def is_wild(path: str) -> bool:
    return _MAGIC.search(path) is not None


def matched(path: str) -> tuple[list[str], bool]:
    """The paths that an absolute pattern stands for, and whether those are all.

    Parts behind the last wildcard need not exist: `m*/new` is a name in every folder that fits.
    """
    paths: list[str] = []
    parts = path.strip("/").split("/")
    # `**` is how listings are told, to whose patterns a dot is a letter like any
    budget = _Budget(dots="**" in parts)
    try:
        for match in _walk("/", parts, budget):
            if len(paths) == MOST:
                return paths, False
            paths.append(match)
    except TooMany:
        return paths, False
    return sorted(paths), True


def _walk(folder: str, parts: list[str], budget: _Budget) -> Iterator[str]:
    """The names below `folder` that fit the parts, each of which is one level; `**` is any number of them."""
    if not any(map(is_wild, parts)):
        path = posixpath.join(folder, *parts)
        yield path
        return
    first, *rest = parts
    if not is_wild(first):
        yield from _walk(posixpath.join(folder, first), rest, budget)
        return
    if len(first) > _LONGEST:
        raise TooMany
    deep = first == "**"
    if deep and rest:
        yield from _walk(folder, rest, budget)
    fits = re.compile(_regex(first), re.DOTALL)
    for entry in _entries(folder, budget):
        hidden = entry.name.startswith(".") and not first.startswith(".") and not budget.dots
        path = posixpath.join(folder, entry.name)
        if deep and entry.is_dir(follow_symlinks=False) and entry.name != ".git":
            yield from _walk(path, parts, budget)
        if fits.fullmatch(entry.name) and (deep or not hidden):
            if not rest:
                yield path
            elif not deep and entry.is_dir():
                yield from _walk(path, rest, budget)


def _entries(folder: str, budget: _Budget) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                budget.left -= 1
                if budget.left < 0:
                    raise TooMany
                yield entry
    except OSError:
        return


def _regex(pattern: str) -> str:
    """One level of a pattern; what is not closed stands for itself. Atomic groups keep it linear."""
    if _COLLATED.search(pattern):
        return ".*"
    pieces, position = [""], 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            pieces += [""] if pieces[-1] or len(pieces) == 1 else []
        elif char == "?":
            pieces[-1] += "."
        elif char == "[" and (end := _closing(pattern, position)) > 0:
            pieces[-1] += _set(pattern[position:end])
            position = end + 1
        else:
            pieces[-1] += re.escape(char)
    first, *rest = pieces
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>.*?{piece})" for piece in middle) + ".*" + last


def _closing(pattern: str, start: int) -> int:
    position = start + (pattern[start : start + 1] in ("!", "^"))
    first = position
    while position < len(pattern):
        if pattern.startswith("[:", position):
            end = pattern.find(":]", position + 2)
            position = end + 2 if end > 0 else position + 1
        elif pattern[position] == "]" and position > first:
            return position
        else:
            position += 1
    return -1


def _set(body: str) -> str:
    """A set of characters; one that is not understood fits every character, so that nothing is missed."""
    negated = body[:1] in ("!", "^")
    inside = body[1:] if negated else body
    inside = re.sub(r"\[:(\w+):\]", lambda match: "\0" + match.group(1) + "\0", inside)
    beyond = not negated and any(f"\0{name}\0" in inside for name in _BEYOND_ASCII)
    escaped = "".join(char if char in "-\0" or char.isalnum() else re.escape(char) for char in inside)
    for name, members in _CLASSES.items():
        escaped = escaped.replace(f"\0{name}\0", members)
    escaped += "\x80-\U0010ffff" if beyond else ""
    try:
        re.compile(f"[{'^' if negated else ''}{escaped}]")
    except re.error:
        return "."
    return f"[{'^' if negated else ''}{escaped}]" if "\0" not in escaped else "."

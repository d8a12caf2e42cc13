"""Paths as a file of git's ignore rules writes them, as patterns of ours, whose star crosses folders."""

import re

from toolwright.config.foreign.found import NotUnderstood
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class ForeignPaths:
    """The patterns that fit what is meant, and those that fit what they take in beyond it."""

    patterns: tuple[str, ...]
    beyond: tuple[str, ...] = ()

    @property
    def outside(self) -> bool:
        """Return whether this names a place by its full path or by the home folder."""
        return self.patterns[0].startswith(("/", "~"))


def ignore_paths(text: str) -> ForeignPaths:
    """Return what a path of Claude Code's rules means.

    `//x` is a full path, `~/x` one in the home folder, `/x` and `./x` begin at the project; a name without a slash is
    meant at any depth; a folder stands for all in it.
    """
    if text.startswith("!") or re.search(r"[\[\]\\]", text):
        raise NotUnderstood("exceptions, sets of characters and escapes in paths cannot be said here")
    path, anchored = _from_its_start(text)
    deep = path.startswith("**/")
    path = re.sub(r"^(?:\*\*/)+", "", path).rstrip("/")
    if not path or path == "**":
        return ForeignPaths(patterns=("*",) if not text.startswith(("//", "~")) else (_prefix(text) + "*",))
    anywhere = deep or not (anchored or "/" in path)
    variants = _without_middle(path)
    heads = (_prefix(text),) if not anywhere else (_prefix(text), f"{_prefix(text)}*/")
    whole = [head + re.sub(r"\*{2,}", "*", one) for one in variants for head in heads]
    patterns = [form for one in whole for form in ((one,) if one.endswith("*") else (one, f"{one}/*"))]
    beyond = [] if anywhere and "/" not in path else [wider for one in variants for wider in _wider(one, heads)]
    return ForeignPaths(patterns=tuple(dict.fromkeys(patterns)), beyond=tuple(dict.fromkeys(beyond)))


def _from_its_start(text: str) -> tuple[str, bool]:
    """The path without what says where it begins, and whether that was said."""
    for start in ("//", "~/", "/", "./"):
        if text.startswith(start):
            return text[len(start) :], True
    return text, False


def _prefix(text: str) -> str:
    return "/" if text.startswith("//") else "~/" if text.startswith("~/") else ""


def _without_middle(path: str) -> list[str]:
    """`a/**/b` is `a/b` and everything between: two patterns of ours."""
    if "/**/" not in path:
        return [path]
    first, _, rest = path.partition("/**/")
    return [form for below in _without_middle(rest) for form in (f"{first}/{below}", f"{first}/**/{below}")]


def _wider(path: str, heads: tuple[str, ...]) -> list[str]:
    """The pattern with each star that stays in one folder taken across one; the last name stands for all below it."""
    stars = [match for match in re.finditer(r"(?<!\*)\*(?!\*)", path) if match.end() < len(path)]
    wider = [f"{path[: star.start()]}*/*{path[star.end() :]}" for star in stars]
    return [head + re.sub(r"\*{2,}", "*", one) for one in wider for head in heads]

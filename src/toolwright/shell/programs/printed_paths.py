"""Commands that print paths: where those lie, though not which they are."""

import re
from collections.abc import Sequence

from toolwright.shell.programs.arguments import sort_arguments
from toolwright.shell.state.state import Field, literal


def listed(argv: Sequence[Field]) -> tuple[Field, ...] | None:
    """The paths that a command prints, as patterns; None if it is not one that prints paths."""
    name, *arguments = argv
    match name.text:
        case "find" if not any(map(_PRINTS_ELSE.match, (one.spelled for one in arguments))):
            return found_paths(arguments)
        case "ls" if all(one.text.startswith("-") for one in arguments) and not any(
            "l" in one.text for one in arguments
        ):
            return (Field("*", ("*",), glob=True),)
        case "grep" | "rg" | "egrep" | "fgrep":
            return _searched(name.text, arguments)
        case "git" if [one.text for one in arguments[:1]] == ["ls-files"]:
            return _tracked(arguments[1:])
        case "git" if [one.text for one in arguments[:1]] == ["diff"] and any(
            one.text == "--name-only" for one in arguments
        ):
            return (literal("."),)
        case _:
            return None


_PRINTS_ELSE = re.compile(r"-f?printf|-exec|-ok|-fprint|-ls|-fls|-L$|-follow$")
"""With these `find` prints something else, or paths that lead through links."""


def found_paths(arguments: Sequence[Field]) -> tuple[Field, ...]:
    """Return what a listing names: the folders it looks in, narrowed by its one `-name` if nothing widens it again."""
    starts = _until_condition(arguments) or [literal(".")]
    texts = [one.text for one in arguments]
    names = [arguments[spot + 1] for spot, text in enumerate(texts[:-1]) if text == "-name"]
    wide = any(text in ("-o", "-or", "!", "-not", ",", "(") for text in texts) or not all(one.exact for one in starts)
    if len(names) != 1 or wide or not (names[0].exact or names[0].glob):
        return tuple(starts)
    patterns = tuple(f"{one.text.rstrip('/') or '/'}/**/{name}" for one in starts for name in names[0].texts)
    return (Field(patterns[0], patterns, names[0].known, glob=True),)


def _searched(name: str, arguments: Sequence[Field]) -> tuple[Field, ...] | None:
    """The places that a search for names of files alone looks through; nothing but those names is printed."""
    parsed = sort_arguments(arguments, _SEARCH_VALUES)
    plain = all(one.known for one in arguments) and parsed.options.keys() <= _SEARCH_OPTIONS
    if not plain or not parsed.has("-l", "--files-with-matches"):
        return None
    whole = name == "rg" or parsed.has("-r", "--recursive")
    return tuple(parsed.operands[0 if parsed.has("-e") else 1 :]) or ((literal("."),) if whole else None)


_SEARCH_VALUES = "-e -g -t --include --exclude --exclude-dir"
_SEARCH_OPTIONS = frozenset(
    f"{_SEARCH_VALUES} -l --files-with-matches -r --recursive -i -w -n -E -F -P -I -s -x -Z -0 --null --hidden".split()
)
"""Those with which nothing but names is printed, and no link followed."""


def _tracked(arguments: Sequence[Field]) -> tuple[Field, ...]:
    """The paths that `git ls-files` is asked about; a pattern of git's reaches into every folder."""
    paths = [one for one in arguments if not one.spelled.startswith("-")]
    if not paths or not all(one.known for one in paths):
        return (literal("."),)
    return tuple(
        Field(one.spelled, tuple(f"**/{text}" for text in one.texts), glob=True) if _STAR.search(one.spelled) else one
        for one in paths
    )


_STAR = re.compile(r"[*?\[]")


def _until_condition(arguments: Sequence[Field]) -> list[Field]:
    paths: list[Field] = []
    for argument in arguments:
        if argument.spelled.startswith(("-", "(", "!")):
            break
        paths.append(argument)
    return paths

"""What a command finds on its standard input, where that can be told."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from toolwright.shell.expand import expand_all, value_of
from toolwright.shell.nodes import Redirect, Simple, Statement
from toolwright.shell.state import Field, State, literal


@dataclass(frozen=True, slots=True)
class Feed:
    """Either the very text, or the paths that a listing names."""

    text: Field | None = None
    paths: tuple[Field, ...] = ()


def fed_by(redirects: Sequence[Redirect], state: State) -> Feed | None:
    """The text of a here-document or here-string that goes to standard input; unknown if anything else does."""
    for redirect in reversed(redirects):
        if redirect.descriptor not in ("", "0") or (not redirect.descriptor and redirect.operator[0] != "<"):
            continue
        if redirect.body is not None:
            return Feed(value_of(redirect.body, state))
        if redirect.operator == "<<<":
            return Feed(_with_line_end(value_of(redirect.target, state)))
        return Feed()
    return None


def _with_line_end(value: Field) -> Field:
    return Field(value.spelled + "\n", tuple(text + "\n" for text in value.texts), value.known, value.glob)


def output_of(statement: Statement, state: State, functions: Container[str]) -> Feed:
    """What a statement passes down the pipe; known only of commands that no function stands for."""
    if not isinstance(statement, Simple) or not statement.words or statement.assignments:
        return Feed()
    argv = expand_all(statement.words, state)
    if not argv or not argv[0].exact or argv[0].text in functions:
        return Feed()
    name, *arguments = argv
    if name.text == "cat" and not arguments and all(one.operator[0] == "<" for one in statement.redirects):
        return fed_by(statement.redirects, state) or Feed()
    if any(one.descriptor != "2" or one.operator not in (">", ">>") for one in statement.redirects):
        return Feed()
    match name.text:
        case "echo":
            return Feed(_echoed(arguments))
        case "printf":
            return Feed(_printed(arguments))
        case "find" if not any("printf" in one.spelled or one.text.startswith(("-exec", "-ok")) for one in arguments):
            return Feed(paths=found_paths(arguments))
        case "ls" if all(one.text.startswith("-") for one in arguments):
            return Feed(paths=(Field("*", ("*",), glob=True),))
        case "git" if [one.text for one in arguments[:1]] == ["ls-files"]:
            return Feed(paths=_listed(arguments[1:]))
        case _:
            return Feed()


def _echoed(arguments: Sequence[Field]) -> Field | None:
    if any(one.text.startswith("-") or "\\" in one.spelled for one in arguments):
        return None
    text = " ".join(one.spelled for one in arguments) + "\n"
    return Field(text, (text,), known=all(one.exact for one in arguments))


def _printed(arguments: Sequence[Field]) -> Field | None:
    """`printf` with a plain text, or with `%s` for its arguments: the very characters it would print."""
    if not arguments or not all(one.exact for one in arguments):
        return None
    form, *values = [one.text for one in arguments]
    pieces = re.split(r"(%s|\\n)", form)
    wanted = pieces.count("%s")
    if any("%" in piece or "\\" in piece for piece in pieces[::2]) or form.startswith("-") or (values and not wanted):
        return None
    text, left = "", iter(values)
    for _ in range(max(1, -(-len(values) // wanted)) if wanted else 1):
        for piece in pieces:
            text += next(left, "") if piece == "%s" else "\n" if piece == "\\n" else piece
    return literal(text)


def found_paths(arguments: Sequence[Field]) -> tuple[Field, ...]:
    """What a listing names: the folders it looks in, narrowed by the one `-name` it is given, if nothing widens that."""
    starts = _until_condition(arguments) or [literal(".")]
    texts = [one.text for one in arguments]
    names = [arguments[spot + 1] for spot, text in enumerate(texts[:-1]) if text == "-name"]
    wide = any(text in ("-o", "-or", "!", "-not", ",", "(") for text in texts) or not all(one.exact for one in starts)
    if len(names) != 1 or wide or not (names[0].exact or names[0].glob):
        return tuple(starts)
    patterns = tuple(f"{one.text.rstrip('/') or '/'}/**/{name}" for one in starts for name in names[0].texts)
    return (Field(patterns[0], patterns, names[0].known, glob=True),)


def _listed(arguments: Sequence[Field]) -> tuple[Field, ...]:
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

"""What a command finds on its standard input, where that can be told."""

from collections.abc import Sequence

from toolwright.record import record
from toolwright.shell.expand import expand_all, value_of
from toolwright.shell.nodes import Redirect, Simple, Statement
from toolwright.shell.state import Field, State, literal


@record(frozen=True, slots=True)
class Feed:
    """Either the very text, or the paths that a listing names."""

    text: Field | None = None
    paths: tuple[Field, ...] = ()


def fed_by(redirects: Sequence[Redirect], state: State) -> Feed | None:
    """The text of a here-document or here-string."""
    for redirect in reversed(redirects):
        if redirect.body is not None:
            return Feed(value_of(redirect.body, state))
        if redirect.operator == "<<<":
            return Feed(value_of(redirect.target, state))
        if redirect.operator in ("<", "<>", "<&"):
            return Feed()
    return None


def output_of(statement: Statement, state: State) -> Feed:
    """What a statement passes down the pipe."""
    if not isinstance(statement, Simple) or not statement.words:
        return Feed()
    argv = expand_all(statement.words, state)
    if not argv:
        return Feed()
    name, *arguments = argv
    match name.text:
        case "echo":
            return Feed(_echoed(arguments))
        case "printf":
            return Feed(_printed(arguments))
        case "cat" if not arguments:
            return fed_by(statement.redirects, state) or Feed()
        case "find" if not any("printf" in one.spelled or one.text.startswith(("-exec", "-ok")) for one in arguments):
            return Feed(paths=tuple(_until_condition(arguments)) or (literal("."),))
        case "ls" if all(one.text.startswith("-") for one in arguments):
            return Feed(paths=(Field("*", ("*",), glob=True),))
        case "git" if [one.text for one in arguments[:1]] == ["ls-files"]:
            return Feed(paths=(literal("."),))
        case _:
            return Feed()


def _echoed(arguments: Sequence[Field]) -> Field | None:
    if any(one.text.startswith("-") or "\\" in one.spelled for one in arguments):
        return None
    text = " ".join(one.spelled for one in arguments)
    return Field(text, (text,), known=all(one.exact for one in arguments))


def _printed(arguments: Sequence[Field]) -> Field | None:
    """`printf` with a plain text, or with `%s` for each argument."""
    if not arguments or not all(one.exact for one in arguments):
        return None
    form, *values = [one.text for one in arguments]
    if form in ("%s", "%s\\n", "%s\n", "%s\\0", "%s "):
        return literal("\n".join(values))
    plain = form.removesuffix("\\n")
    return literal(plain) if not values and "%" not in plain and "\\" not in plain else None


def _until_condition(arguments: Sequence[Field]) -> list[Field]:
    paths: list[Field] = []
    for argument in arguments:
        if argument.spelled.startswith(("-", "(", "!")):
            break
        paths.append(argument)
    return paths

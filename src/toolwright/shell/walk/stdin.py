"""Standard input of a command, where that can be told."""

import re
from collections.abc import Sequence

from toolwright.record import record
from toolwright.shell.grammar.nodes import Redirect, Simple, Statement
from toolwright.shell.programs.printed_paths import listed
from toolwright.shell.state.state import Field, ShellState, literal
from toolwright.shell.walk.expand import expand_all, value_of


@record(frozen=True, slots=True)
class InputFeed:
    """Either the very text, or the paths that a listing names."""

    text: Field | None = None
    paths: tuple[Field, ...] = ()


def fed_by(redirects: Sequence[Redirect], state: ShellState) -> InputFeed | None:
    """The text of a here-document or here-string that goes to standard input; unknown if anything else does."""
    for redirect in reversed(redirects):
        if redirect.descriptor not in ("", "0") or (not redirect.descriptor and redirect.operator[0] != "<"):
            continue
        if redirect.body is not None:
            return InputFeed(value_of(redirect.body, state))
        if redirect.operator == "<<<":
            return InputFeed(_with_line_end(value_of(redirect.target, state)))
        return InputFeed()
    return None


def _with_line_end(value: Field) -> Field:
    return Field(value.spelled + "\n", tuple(text + "\n" for text in value.texts), value.known, value.glob)


def output_of(statement: Statement, state: ShellState, feed: InputFeed | None) -> InputFeed:
    """Return what a statement passes down the pipe; known only of commands that no function stands for."""
    if not isinstance(statement, Simple) or not statement.words or statement.assignments:
        return InputFeed()
    argv = expand_all(statement.words, state)
    if not argv or not argv[0].exact or argv[0].text in state.functions:
        return InputFeed()
    name, *arguments = argv
    if name.text == "cat" and not arguments and all(one.operator[0] == "<" for one in statement.redirects):
        return fed_by(statement.redirects, state) or InputFeed()
    if any(one.descriptor != "2" or one.operator not in (">", ">>") for one in statement.redirects):
        return InputFeed()
    match name.text:
        case "echo":
            return InputFeed(_echoed(arguments))
        case "printf":
            return InputFeed(_printed(arguments))
        case "head" | "tail" | "sort" | "uniq" | "tac" | "shuf" | "grep" if feed is not None and feed.paths:
            return feed if _only_filters(name.text, arguments) else InputFeed()
        case _:
            return InputFeed(paths=listed(argv) or ())


def _only_filters(name: str, arguments: Sequence[Field]) -> bool:
    """Tell whether a filter passes on some of its lines as they are, and reads nothing else."""
    operands = [one for one in arguments if not one.spelled.startswith("-") and not one.text.isdecimal()]
    are_exact = all(one.exact for one in arguments)
    options = "".join(one.text for one in arguments if one.text.startswith("-"))
    return (
        are_exact
        and len(operands) <= (name == "grep")
        and not set(options) & set("oc" if name in ("grep", "uniq") else "o")
    )


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

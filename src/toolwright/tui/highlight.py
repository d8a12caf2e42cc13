"""Code in the colours of its language."""

from collections.abc import Iterator
from typing import Any

from toolwright.chat.screen import CYAN, DIM, GREEN, YELLOW
from toolwright.display import visible

LONGEST = 60_000
"""Characters beyond which code is shown in one colour: colouring takes time."""
MAGENTA = "35"


def highlighted(code: str, language: str) -> "list[list[tuple[str, str]]] | None":
    """The lines in pieces with a colour each; None if the language is not known or the code is too long."""
    if not language or len(code) > LONGEST:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language.split()[0].lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, text in lexer.get_tokens(visible(code.expandtabs(4))):
        first, *rest = text.split("\n")
        colour = _colour(kind)
        lines[-1].append((first, colour))
        lines += ([(one, colour)] for one in rest)
    return lines


def _colour(kind: Any) -> str:
    return next((_COLOURS[name] for name in _names(kind) if name in _COLOURS), "")


def _names(kind: Any) -> Iterator[str]:
    """The name of a kind of token, and of those it is one of."""
    while kind is not None:
        yield str(kind)
        kind = kind.parent


_COLOURS = {
    "Token.Comment": DIM,
    "Token.Keyword": MAGENTA,
    "Token.Operator.Word": MAGENTA,
    "Token.Literal.String": GREEN,
    "Token.Literal.Number": YELLOW,
    "Token.Name.Function": CYAN,
    "Token.Name.Class": CYAN,
    "Token.Name.Decorator": YELLOW,
    "Token.Name.Builtin": CYAN,
}

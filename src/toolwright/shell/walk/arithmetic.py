"""Calculations of the shell: harmless with numbers, able to run code through a variable that holds a subscript."""

import re

from toolwright.shell.grammar.nodes import Arithmetic, Literal, ParameterExpansion, Word
from toolwright.shell.state.state import ShellState, is_number, some_number
from toolwright.shell.state.variables import assign, special
from toolwright.shell.walk.expand import value_of

_TOKEN = re.compile(
    r"0[xX][0-9A-Fa-f]+|[0-9]+(?:#[0-9A-Za-z@_]+)?|([A-Za-z_]\w*)(\s*=(?!=))?(\s*(?:[-+*/%&|^]|<<|>>)=)?"
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def calculate(arithmetic: Arithmetic, state: ShellState) -> str:
    """Why this calculation cannot be judged, or nothing. What it assigns are numbers from then on."""
    problem = "" if not arithmetic.opaque else _unsure(arithmetic.text)
    text = ""
    for part in arithmetic.parts:
        if isinstance(part, Literal):
            text += part.text
            continue
        text += " 0 "
        if not is_number(value_of(Word("", [part]), state)):
            problem = _unsure(part.source if isinstance(part, ParameterExpansion) else arithmetic.text)
    for match in _TOKEN.finditer(text):
        name, assigned, changed = match.groups()
        if name is None:
            continue
        value = state.variables.get(name)
        if not assigned and (value is None or not is_number(value)):
            problem = problem or _unsure(name)
        if assigned or changed:
            problem = _give_number(name, state) or problem
    for name in re.findall(r"(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\+\+|--)", text):
        problem = _give_number("".join(name), state) or problem
    return problem


def _give_number(name: str, state: ShellState) -> str:
    """A number is a value like any other to variables that the shell or programs act on."""
    number = some_number(f"${name}")
    assign(name, number, state)
    return special(name, number, dialect=state.dialect)


def subscript(index: Word, state: ShellState) -> str:
    """Why the subscript of an array cannot be judged, or nothing."""
    if index.source in ("@", "*", "-1"):
        return ""
    return calculate(Arithmetic(index.source, index.parts), state)


def is_identifier(text: str) -> bool:
    return _IDENTIFIER.fullmatch(text) is not None


def _unsure(what: str) -> str:
    return f"`{what.strip()}` is calculated with, and its value is not known to be a number."

"""A table of what permissions are expected to come to, one line each: `deny build read .env`."""

import json
from collections.abc import Iterable
from typing import Any, Literal, get_args

from toolwright.errors import UsageError
from toolwright.protocols.json_text import read_json
from toolwright.record import record
from toolwright.tools import built_in

Expected = Literal["allow", "ask", "deny", "hidden"]
FORM = "allow|ask|deny|hidden AGENT TOOL ARGUMENT"


@record(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One line of the table. With a problem it expects nothing and fails."""

    line: int
    text: str
    action: Expected | None = None
    agent: str = ""
    tool: str = ""
    argument: str = ""
    problem: str = ""


def arguments_for(tool: str, argument: str) -> dict[str, Any]:
    """The arguments of a call that is written as one word, such as a path or a command, or as JSON."""
    if argument.startswith("{") or _is_json(argument):
        return _object(argument)
    known = built_in(tool)
    name, rest = known.in_a_word if known and known.in_a_word else ("", {})
    if argument and not name:
        raise UsageError(f"The arguments of {tool} must be a JSON object, not {argument!r}.")
    return {name: argument, **rest} if argument else dict(rest)


def _object(text: str) -> dict[str, Any]:
    try:
        value = read_json(text)
    except ValueError as error:
        raise UsageError(f"The arguments must be a JSON object, but: {error}.") from error
    if not isinstance(value, dict):
        raise UsageError(f"The arguments must be a JSON object, not {text[:60]!r}.")
    return value


def _is_json(argument: str) -> bool:
    """Return whether it is a list or a text in JSON: a mistake, and not a path or a command."""
    try:
        return argument[:1] in ("[", '"') and bool(json.loads(argument))
    except (ValueError, RecursionError):
        return False


def read_expectations(text: str, name: str) -> list[Expectation]:
    """The lines of a file; empty ones and those that begin with # are passed over."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    rows = [_read(number, line) for number, line in lines if line and not line.startswith("#")]
    if not rows:
        raise UsageError(f"{name} has no line to test. Write some of the form: {FORM}")
    return rows


def _read(number: int, line: str) -> Expectation:
    words = line.split(maxsplit=3)
    action = next((one for one in get_args(Expected) if one == words[0]), None)
    if action is None or len(words) < 3:
        return Expectation(line=number, text=line, problem=f"expected the form {FORM}")
    argument = words[3] if len(words) > 3 else ""
    return Expectation(
        line=number, text=" ".join(words), action=action, agent=words[1], tool=words[2], argument=argument
    )


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """A sentence about a name that means nothing here."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f"there is no {kind} {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")

"""A table of what permissions are expected to come to, one line each: `deny build read .env`."""

import json
from typing import Any, Literal, get_args

from toolwright.errors import UsageError
from toolwright.record import record

Expected = Literal["allow", "ask", "deny", "hidden"]

# How one word stands for a whole call. Tools that are not here are judged by their name and the word.
_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": ("filePath", {}),
    "list": ("path", {}),
    "write": ("filePath", {"content": ""}),
    "edit": ("filePath", {"oldString": "", "newString": "x"}),
    "multiedit": ("filePath", {"edits": [{"oldString": "", "newString": "x"}]}),
    "glob": ("pattern", {}),
    "grep": ("pattern", {}),
    "bash": ("command", {"description": "expected"}),
    "webfetch": ("url", {"format": "text"}),
    "websearch": ("query", {}),
    "codesearch": ("query", {}),
    "skill": ("name", {}),
    "task": ("subagent_type", {"description": "expected", "prompt": "expected"}),
}


@record(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One line of the table."""

    line: int
    file: str = ""
    action: Expected
    agent: str
    tool: str
    argument: str

    def __str__(self) -> str:
        return f"{self.action} {self.agent} {self.tool} {self.argument}".rstrip()

    def arguments(self) -> dict[str, Any]:
        """The arguments of the call the line stands for."""
        if self.argument.startswith("{"):
            try:
                value: dict[str, Any] = json.loads(self.argument)
            except ValueError as error:
                raise UsageError(f"the arguments are not JSON: {error}") from error
            return value
        if self.tool not in _CALLS:
            return {}
        name, rest = _CALLS[self.tool]
        return {name: self.argument, **rest} if self.argument else rest


def read_expectations(text: str, name: str) -> list[Expectation]:
    """The lines of a file; empty ones and those that begin with # are passed over."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(maxsplit=3)
        if not words or words[0].startswith("#"):
            continue
        action = next((one for one in get_args(Expected) if one == words[0]), None)
        if action is None or len(words) < 3:
            raise UsageError(
                f"{name}:{number}: expected `allow|ask|deny|hidden AGENT TOOL ARGUMENT`, got {line.strip()!r}."
            )
        argument = words[3] if len(words) > 3 else ""
        found.append(
            Expectation(line=number, file=name, action=action, agent=words[1], tool=words[2], argument=argument.strip())
        )
    return found

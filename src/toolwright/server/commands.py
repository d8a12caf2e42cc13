"""Prompts with a name: the user's own from the settings, and those that are always there."""

import re
from collections.abc import Mapping
from typing import Any

from toolwright.errors import UsageError
from toolwright.record import record
from toolwright.workspace import Workspace

Json = dict[str, Any]
_PLACE = re.compile(r"\$(ARGUMENTS|[1-9]\d?)")
_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|\S+")

_INIT = """\
Look at this project and write AGENTS.md, the page that tells an agent how to work here: how it is built, tested and \
checked (also how to run a single test), and how its code is written. About 30 lines. If there is one already, improve \
it. $ARGUMENTS"""


@record(frozen=True, slots=True, kw_only=True)
class Command:
    """One of them."""

    name: str
    template: str
    description: str = ""
    agent: str = ""
    model: str = ""
    subtask: bool | None = None

    def to_json(self) -> Json:
        optional = {
            "description": self.description,
            "agent": self.agent,
            "model": self.model,
            "subtask": self.subtask,
        }
        value = {"name": self.name, "template": self.template, "hints": self.hints, "source": "command"}
        return value | {name: entry for name, entry in optional.items() if entry not in ("", None)}

    @property
    def hints(self) -> list[str]:
        """What the template wants to know."""
        return sorted({match[0] for match in _PLACE.finditer(self.template)})

    def filled(self, arguments: str) -> str:
        """The prompt with what was typed after the name; the last number takes all that is left."""
        words = [word.strip("\"'") for word in _WORD.findall(arguments)]
        last = max((int(match[1]) for match in _PLACE.finditer(self.template) if match[1].isdigit()), default=0)

        def fill(match: re.Match[str]) -> str:
            if match[1] == "ARGUMENTS":
                return arguments
            number = int(match[1])
            return " ".join(words[number - 1 :]) if number == last else "".join(words[number - 1 : number])

        if not _PLACE.search(self.template) and arguments.strip():
            return f"{self.template}\n\n{arguments}"
        return _PLACE.sub(fill, self.template)


def commands_of(workspace: Workspace) -> Mapping[str, Command]:
    init = Command(name="init", template=_INIT, description="write or improve AGENTS.md")
    found = {"init": init}
    for name, said in workspace.settings.command.items():
        found[name] = Command(
            name=name,
            template=said.template,
            description=said.description,
            agent=said.agent,
            model=said.model,
            subtask=said.subtask,
        )
    return found


def find_command(workspace: Workspace, name: str) -> Command:
    found = commands_of(workspace)
    if name not in found:
        raise UsageError(f"There is no command {name[:80]!r}. There are: {', '.join(found)}.")
    return found[name]

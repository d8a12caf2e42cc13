"""Meaning of a line that a person types: a prompt, a command of ours, or one for the shell."""

import re
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolwright.app.own import OTHER_NAMES, OwnCommand, own_command, own_commands
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.app.desk import Room

_NAME = re.compile(r"[\w:-]+")


class NamedPrompts(Protocol):
    """Prompts that have a name."""

    def __contains__(self, name: str, /) -> bool: ...


@record(frozen=True, slots=True, kw_only=True)
class ShellLine:
    """A command that the person runs."""

    command: str


@record(frozen=True, slots=True, kw_only=True)
class OwnLine:
    """A command of ours, and what goes with it."""

    command: OwnCommand
    rest: str


@record(frozen=True, slots=True, kw_only=True)
class PromptLine:
    """Words for an agent, or a prompt that is called by its name: the session tells them apart."""

    text: str
    unknown: str = ""
    """The name of a command that it looks like, of which there is none."""
    nearest: str = ""
    """The command of ours that may be meant."""

    @property
    def sentence(self) -> str:
        """Say that there is no such command; empty if none is missing."""
        hint = f" Did you mean /{self.nearest}?" if self.nearest else ""
        return f"There is no command /{self.unknown}.{hint}" if self.unknown else ""


Meaning = ShellLine | OwnLine | PromptLine


def meaning_of(text: str, named: NamedPrompts, room: "Room") -> Meaning:
    """Tell what a line means. `named` are the prompts with a name; each takes the name of one of ours."""
    line = text.strip()
    if line.startswith("!") and line[1:].strip():
        return ShellLine(command=line[1:].strip())
    name, _, rest = line[1:].partition(" ")
    if not line.startswith("/") or name in named:
        return PromptLine(text=text)
    own = own_command(name, room)
    if own is not None:
        return OwnLine(command=own, rest=rest.strip())
    # A path is words.
    if not _NAME.fullmatch(name) or Path(f"/{name}").exists():
        return PromptLine(text=text)
    near = get_close_matches(name, [*own_commands(room), *OTHER_NAMES], n=1)
    return PromptLine(text=text, unknown=name, nearest=near[0] if near else "")

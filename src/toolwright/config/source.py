"""Sources of settings: files and texts with their level, and the folders beside them."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Literal

from toolwright.config import jsonc
from toolwright.config.jsonc import KeyPath, Position
from toolwright.protocols.json_types import Json
from toolwright.record import record

Level = Literal["user", "project", "override", "managed"]
"""The origin of a setting: the user, the project, the user for this one run, or the administrator of the machine."""


@record(frozen=True)
class SettingsSource:
    """One file of settings, or a text given in its place."""

    name: str
    level: Level
    value: Json
    text: str = ""
    renamed: Mapping[KeyPath, KeyPath] = field(default_factory=dict[KeyPath, KeyPath])
    """For keys that go by another name here: their path here and their path in the text."""

    @cached_property
    def _positions(self) -> dict[KeyPath, Position]:
        return jsonc.positions(self.text)

    def where(self, path: KeyPath = ()) -> str:
        """`toolwright.json:12`, as near to the setting as the file tells."""
        path = self.written(path)
        while path:
            if (position := self._positions.get(path)) is not None:
                return f"{self.name}:{position.line}"
            path = path[:-1]
        return self.name

    def written(self, path: KeyPath) -> KeyPath:
        """The path as it stands in the text."""
        return written(path, self.renamed)


def written(path: KeyPath, renamed: Mapping[KeyPath, KeyPath]) -> KeyPath:
    """A path with the names that a text has for its keys."""
    for length in range(len(path), 0, -1):
        if (original := renamed.get(path[:length])) is not None:
            return (*original, *path[length:])
    return path


@record(frozen=True, slots=True)
class AgentSource:
    """Settings of one agent, and where they come from."""

    name: str
    value: Json
    source: SettingsSource
    path: KeyPath = ()
    other_name: str = ""
    """The path of its file, where that says another name."""
    narrows: bool = False
    """True if its rules only restrict, as those of other programs do: they take away tools, and grant none."""


@record(frozen=True, slots=True, kw_only=True)
class ConfigFolder:
    """A folder that may hold agents, commands, skills, tools and plugins."""

    path: Path
    level: Level

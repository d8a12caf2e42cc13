"""Warnings about what a file says in vain: keys that do not exist, and settings without effect so far."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from toolwright.config.jsonc import KeyPath
from toolwright.config.shapes import OTHER_NAMES
from toolwright.config.source import SettingsSource
from toolwright.errors import ConfigError
from toolwright.permission.forms import PERMISSIONS
from toolwright.permission.slips import NEAR, meant_by
from toolwright.record import record
from toolwright.schema.basics import shown_path
from toolwright.settings import AgentSettings, Settings
from toolwright.settings.derive import notes_of
from toolwright.settings.record import FOREIGN

MOST = 20
"""Of one file; whoever has more mistakes knows by then."""
MOST_LOOKED_UP = 200
"""Keys for which a near name is looked for, which takes its time."""
RESTRICTING = frozenset(
    {
        *("allowedtools", "disallowedtools", "enabledtools", "disabledtools", "deniedtools"),
        *("includetools", "excludetools", "permissionmode"),
    }
)
"""Keys by which other programs restrict an agent, without their dashes."""


@record(slots=True)
class Warnings:
    """The warnings about one source, each with its place."""

    source: SettingsSource
    lines: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])
    """The keys that do not exist, each with the one that is meant."""
    slips: list[KeyPath] = field(default_factory=list[KeyPath])
    """Keys of agents that look like a slip of the pen, and so are not meant for the provider."""
    _looked_up: int = 0

    def of_settings(self) -> "Warnings":
        self._section(Settings, self.source.value, ())
        return self

    def of_agent(self) -> "Warnings":
        self._section(AgentSettings, self.source.value, ())
        return self

    def _section(self, record: Any, value: Mapping[str, Any], path: KeyPath) -> None:
        notes = notes_of(record)
        for key, entry in value.items():
            here = (*path, key)
            note = notes.get(key)
            if note is None:
                self._unknown(record, here, notes)
                continue
            if note.setting is not None and not note.setting.effect and entry not in (False, None):
                self._warn(here, f"{self._key(here)} has no effect so far")
            if key in ("permission", "tools") and isinstance(entry, Mapping):
                self._permissions(entry, here)
            elif note.section and isinstance(entry, Mapping):
                self._section(note.section, entry, here)
            elif note.entries and isinstance(entry, Mapping):
                for name, below in entry.items():
                    self._section(note.entries, below, (*here, name))

    def _unknown(self, record: Any, path: KeyPath, known: Iterable[str]) -> None:
        if record is Settings and path[-1] in (*FOREIGN, *OTHER_NAMES):
            return
        # What an agent has beyond our keys is meant for the provider, unless it looks like a slip.
        provider = record is AgentSettings
        near = self._nearest(path[-1], known, NEAR if provider else 0.6)
        if provider and _plain(path[-1]) in RESTRICTING:
            raise ConfigError(
                f"{self.source.where(path)}: {self._key(path)!r} is not understood here and would restrict the agent."
                " Say it with `permission`."
            )
        if provider and near:
            self.slips.append(path)
        if near or not provider:
            text = f"unknown key {self._key(path)!r}"
            self.unknown.append(f"{text}; did you mean {near!r}?" if near else f"{text}.")
            self._warn(path, f"{text}; did you mean {near!r}?" if near else f"{text}; it is ignored")

    def _permissions(self, value: Mapping[str, Any], path: KeyPath) -> None:
        for key in value:
            self._looked_up += key not in PERMISSIONS
            if self._looked_up <= MOST_LOOKED_UP and (near := meant_by(key, PERMISSIONS)):
                here = (*path, key)
                self._warn(here, f"unknown key {self._key(here)!r}; did you mean {near!r}?")

    def _warn(self, path: KeyPath, text: str) -> None:
        if len(self.lines) < MOST:
            self.lines.append(f"{self.source.where(path)}: {text}")

    def _key(self, path: KeyPath) -> str:
        return shown_path(self.source.written(path))

    def _nearest(self, key: Any, known: Iterable[str], cutoff: float) -> str:
        from difflib import get_close_matches

        self._looked_up += 1
        if self._looked_up > MOST_LOOKED_UP or not isinstance(key, str) or len(key) > 60:
            return ""
        near = get_close_matches(key, known, n=1, cutoff=cutoff)
        return near[0] if near else ""


def _plain(key: Any) -> str:
    return str(key).lower().replace("-", "").replace("_", "")

"""Admission of a project's settings before the user trusts it: what tightens, and what is harmless."""

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from toolwright.config.shipped import SCRIPTED, shipped_providers
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.settings import AgentSettings, Settings
from toolwright.settings.derive import FieldNote, notes_of

SCRIPT = f"{SCRIPTED}/"
_WIRES = frozenset({"", "openai-chat", "openai-responses", "anthropic", "gemini"})
_RULES = frozenset({"permission", "tools"})
MOST_NAMES = 12


def without_scripts(value: Json, left_out: list[tuple[str, ...]]) -> Json:
    """A project's settings, trusted or not, without scripts in the place of models. Their paths go to `left_out`."""
    kept = _without_scripts(value, (), left_out)
    for group in ("agent", "command"):
        if isinstance(entries := kept.get(group), Mapping):
            kept[group] = {name: _without_scripts(entry, (group, name), left_out) for name, entry in entries.items()}
    return kept


def _without_scripts(value: Mapping[str, Any], path: tuple[str, ...], left_out: list[tuple[str, ...]]) -> Json:
    scripts = [key for key in ("model", "small_model") if str(value.get(key) or "").strip().startswith(SCRIPT)]
    left_out += ((*path, key) for key in scripts)
    return {key: entry for key, entry in value.items() if key not in scripts}


@record(slots=True, kw_only=True)
class Admission:
    """The gate for one untrusted project; it remembers what it has left out."""

    agents: frozenset[str]
    """Agents that are not the project's own: of them it may only tighten the permissions."""
    providers: frozenset[str]
    """Providers that are not the project's own, besides those that are shipped."""
    left_out: list[str] = field(default_factory=list[str])

    def admitted(self, source: Json, current: Json) -> Json:
        """Return the part of one source that takes effect over what stands so far."""
        return self._section(Settings, source, current, ())

    def agent(self, name: str, settings: Mapping[str, Any]) -> Json:
        """Return the part of an agent's settings that takes effect."""
        notes = notes_of(AgentSettings)
        if name in self.agents:
            kept = {key: value for key, value in settings.items() if key in _RULES}
        else:
            kept = {
                key: value
                for key, value in settings.items()
                if (note := notes.get(key)) and note.setting and note.setting.untrusted != "user_only"
            }
        if any(key not in kept and not (key == "name" and value == name) for key, value in settings.items()):
            self.left_out.append(f"agent.{name}")
        return kept

    def _section(self, record: Any, settings: Json, current: Json, path: tuple[str, ...]) -> Json:
        kept: Json = {}
        notes = notes_of(record)
        for key, value in settings.items():
            note = notes.get(key)
            if note is None:
                continue
            entry = self._field(note, value, current.get(key), (*path, key))
            if entry is not None:
                kept[key] = entry
        return kept

    def _field(self, note: FieldNote, value: Any, current: Any, path: tuple[str, ...]) -> Any:
        special: dict[str, Callable[[Any], Any]] = {
            "agent": self._agents,
            "provider": self._providers,
            "instructions": self._instructions,
        }
        if len(path) == 1 and note.key in special:
            return special[note.key](value) or None
        setting = note.setting
        if note.section and (setting is None or setting.tighten is None):
            short = setting.short if setting else ""
            below = value if isinstance(value, Mapping) else {short: value}
            before = current if isinstance(current, Mapping) else {short: current} if current else {}
            return self._section(note.section, dict(below), dict(before), path) or None
        if setting is None:
            return None
        if setting.untrusted == "free" or note.key in _RULES:
            return value
        stands = _current(note, current)
        kept = setting.tighten(stands, value) if setting.untrusted == "tightens" and setting.tighten else stands
        if value != stands and not _is_whole(value, kept):
            self.left_out.append(path[0])
        return kept if kept != stands else None

    def _agents(self, agents: Json) -> Json:
        return {name: kept for name, value in agents.items() if (kept := self.agent(name, value))}

    def _providers(self, providers: Json) -> Json:
        kept: Json = {}
        known = self.providers | shipped_providers() if providers else frozenset()
        for name, provider in providers.items():
            if name in known or not _plain_provider(provider):
                self.left_out.append(f"provider.{name}")
            else:
                kept[name] = {key: value for key, value in provider.items() if key != "env"} | {"env": []}
        return kept

    def _instructions(self, entries: list[str]) -> list[str]:
        kept = [entry for entry in entries if is_inside(entry)]
        if len(kept) < len(entries):
            self.left_out.append("instructions")
        return kept


def is_inside(entry: str) -> bool:
    """Return whether a pattern of files stays in its folder, going by its text. Links are looked at later."""
    path = posixpath.normpath(entry) if entry else ".."
    outside = path.startswith(("/", "~", "..", "\\")) or "://" in entry or "\0" in entry
    return not outside and ".." not in entry.replace("\\", "/").split("/")


def left_out_line(names: list[str]) -> str:
    """`not trusted, left out: model, sandbox (tw trust)`, harmless to a terminal whatever a project calls things."""
    unique = list(dict.fromkeys(names))
    labels = [name if name.isprintable() else ascii(name) for name in unique[:MOST_NAMES]]
    more = f" and {len(unique) - MOST_NAMES} more" if len(unique) > MOST_NAMES else ""
    return f"not trusted, left out: {', '.join(name[:60] for name in labels)}{more} (tw trust)"


def _is_whole(value: Any, kept: Any) -> bool:
    """Return whether all of a value is kept; a list that withholds is kept with more beside it."""
    if isinstance(value, list) and isinstance(kept, list):
        return all(entry in kept for entry in value)
    return bool(value == kept)


def _current(note: FieldNote, current: Any) -> Any:
    """Return the current value as JSON, with the default where nothing was said."""
    if note.section:
        defaults = {key: _current(below, None) for key, below in notes_of(note.section).items()}
        return defaults | (current or {})
    value = note.default if current is None else current
    return list(value) if isinstance(value, tuple) else value


def _plain_provider(record: Mapping[str, Any]) -> bool:
    """Return whether a provider is sent nothing but the prompt: no library with keys of its own."""
    models = record.get("models") or {}
    wires = [record, *(model.get("provider") for model in models.values() if isinstance(model, Mapping))]
    return all(_known_wire(wire) for wire in wires if isinstance(wire, Mapping))


def _known_wire(record: Mapping[str, Any]) -> bool:
    api, npm = str(record.get("api") or ""), str(record.get("npm") or "")
    return ("://" in api or api in _WIRES) and (not npm or npm.startswith("@"))

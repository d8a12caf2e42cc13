"""Plugins of Claude Code as folders, such as its marketplaces hold: agents, commands, skills, hooks and servers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolwright.config import jsonc
from toolwright.config.foreign.found import ForeignSetup, NotUnderstood
from toolwright.config.reading import read_text
from toolwright.errors import ConfigError
from toolwright.protocols.json_types import Json
from toolwright.record import record

PROGRAM = "Claude Code"
ROOT = "CLAUDE_PLUGIN_ROOT"
"""The variable by which a plugin names its own folder."""
_MANIFEST = ".claude-plugin/plugin.json"


@record(frozen=True, slots=True, kw_only=True)
class ClaudePlugin:
    """A plugin, and what it brings."""

    name: str
    folder: Path
    agents: tuple[Path, ...]
    commands: tuple[Path, ...]
    skills: tuple[Path, ...]
    hooks: Json
    servers: Json


def claude_plugins(named: Sequence[str], home: Path, root: Path) -> tuple[list[ClaudePlugin], list[ForeignSetup]]:
    """Read the plugins in these folders, and say which are left out, and why."""
    plugins, left_out = list[ClaudePlugin](), list[ForeignSetup]()
    for name in dict.fromkeys(named):
        folder = (home / name.removeprefix("~/") if name.startswith("~/") else Path(name)).resolve()
        try:
            plugins.append(_read(folder, root))
        except (NotUnderstood, ConfigError) as error:
            left_out.append(ForeignSetup(program=PROGRAM, kind="plugins", name=name, file=folder, reason=str(error)))
    return plugins, left_out


def _read(folder: Path, root: Path) -> ClaudePlugin:
    if not folder.is_dir():
        raise NotUnderstood("there is no such folder; name it from / or from ~/")
    if folder.is_relative_to(root):
        raise NotUnderstood("it lies in the project, which anybody may have changed; keep plugins in a folder of yours")
    manifest = _json(folder / _MANIFEST) if (folder / _MANIFEST).is_file() else {}
    name = str(manifest.get("name") or folder.name)
    return ClaudePlugin(
        name=name,
        folder=folder,
        agents=tuple(_places(folder, manifest, "agents")),
        commands=tuple(_places(folder, manifest, "commands")),
        skills=tuple(_places(folder, manifest, "skills")),
        hooks=_piece(folder, manifest, "hooks", "hooks/hooks.json", "hooks"),
        servers=_piece(folder, manifest, "mcpServers", ".mcp.json", "mcpServers"),
    )


def _places(folder: Path, manifest: Json, kind: str) -> Iterator[Path]:
    """The usual folder of a kind, and those that the manifest names beside it."""
    value = manifest.get(kind)
    more = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    for path in dict.fromkeys([folder / kind, *(_inside(folder, str(one)) for one in more)]):
        if path.is_dir():
            yield path


def _piece(folder: Path, manifest: Json, key: str, usual: str, inner: str) -> Json:
    """Return the content of a plugin's file, or of its manifest in place of the file, with its folder filled in."""
    manifest_entry = manifest.get(key)
    if isinstance(manifest_entry, Mapping):
        content: Any = manifest_entry
    else:
        file = _inside(folder, manifest_entry) if isinstance(manifest_entry, str) else folder / usual
        content = _json(file) if file.is_file() else {}
    value = content.get(inner, content)
    return _filled(value, str(folder)) if isinstance(value, dict) else {}


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise NotUnderstood(f"its manifest names {name}, which lies outside of it")
    return path


def _filled(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace(f"${{{ROOT}}}", folder)
    if isinstance(value, list):
        return [_filled(one, folder) for one in value]
    return {key: _filled(one, folder) for key, one in value.items()} if isinstance(value, dict) else value


def _json(file: Path) -> Json:
    document = jsonc.parse(read_text(file), str(file))
    if not isinstance(document, dict):
        raise ConfigError(f"{file}:1: expected an object in braces")
    return document

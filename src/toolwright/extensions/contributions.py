"""Additions of a plugin's `config` hook: agents and commands, under the rules that hold for everybody."""

from collections.abc import Mapping
from typing import Any

from toolwright.agents import added_agent
from toolwright.commands import Command
from toolwright.errors import ConfigError
from toolwright.extensions.home import ExtensionHome
from toolwright.protocols.json_types import Json

KINDS = ("agent", "command")


def added(before: Json, after: Any) -> Json:
    """The agents and commands that a hook has put beside those there were."""
    fresh_by_kind: Json = {}
    for kind in KINDS:
        now = after.get(kind) if isinstance(after, dict) else None
        known = before.get(kind, {})
        fresh = {name: one for name, one in now.items() if name not in known} if isinstance(now, dict) else {}
        fresh_by_kind |= {kind: fresh} if fresh else {}
    return fresh_by_kind


def join_contributions(workspace: ExtensionHome, plugin: str, contributed: Mapping[str, Any]) -> list[str]:
    """Add them to the workspace. Nothing of the same name gives way. Returns what was left out, and why."""
    problems: list[str] = []
    for name, value in contributed.get("agent", {}).items():
        try:
            if name not in workspace.agents:
                workspace.agents.by_name[name] = added_agent(name, value, plugin, workspace.folders.home)
        except ConfigError as error:
            problems.append(f"its agent {name} is left out: {error}")
    for name, value in contributed.get("command", {}).items():
        if isinstance(value, dict) and isinstance(value.get("template"), str):
            workspace.commands.added.setdefault(name, _command(name, value, plugin))
        else:
            problems.append(f"its command {name} is left out: it has no template")
    return problems


def _command(name: str, value: Json, plugin: str) -> Command:
    subtask = value.get("subtask")
    return Command(
        name=name,
        template=value["template"],
        description=str(value.get("description") or ""),
        agent=str(value.get("agent") or ""),
        model=str(value.get("model") or ""),
        subtask=subtask if isinstance(subtask, bool) else None,
        origin=plugin,
    )

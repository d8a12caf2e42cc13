"""Agents as Claude Code writes them, each brought into our form or left out with a reason."""

import re
from typing import Any

from toolwright.config.foreign.found import NotUnderstood, require_known
from toolwright.config.foreign.tools import granted, withheld
from toolwright.protocols.json_types import Json

_KNOWN = (
    "name",
    "description",
    "tools",
    "disallowedTools",
    "model",
    "permissionMode",
    "maxTurns",
    "color",
    "disabled",
    "hooks",
)
_HARMLESS = (
    *("skills", "mcpServers", "memory", "background", "effort", "initialPrompt"),
    *("version", "author", "license", "metadata", "tags", "category"),
)
"""Keys that add something we do not have, or describe the file."""
_LOOSER = ("default", "acceptEdits", "bypassPermissions", "auto")
"""Modes that ask no more than ours; our rules hold all the same."""
_COLOR = re.compile(r"#[0-9a-fA-F]{6}|[a-z][a-z-]*")


def claude_agent(head: Json, body: str) -> Json:
    """The settings of an agent; its rules only restrict."""
    require_known(head, (*_KNOWN, *_HARMLESS))
    rules = granted(head["tools"]) if head.get("tools") is not None else []
    rules += withheld(head["disallowedTools"]) if head.get("disallowedTools") else []
    rules += _mode(head.get("permissionMode", "default"))
    agent: Json = {"mode": "subagent", "prompt": body, "description": _line(head.get("description"))}
    agent |= {"permission": rules} if rules else {}
    agent |= {"steps": head["maxTurns"]} if "maxTurns" in head else {}
    agent |= {"color": color} if _COLOR.fullmatch(color := str(head.get("color", ""))) else {}
    agent |= {"disable": True} if head.get("disabled") is True else {}
    # A short name such as `sonnet` is one of theirs; the session's own model is used.
    model = head.get("model")
    return agent | ({"model": model} if isinstance(model, str) and "/" in model else {})


def _mode(mode: Any) -> list[Json]:
    if mode == "plan":
        return [{"action": "edit", "resource": "*", "effect": "deny"}]
    if mode not in _LOOSER:
        raise NotUnderstood(f"its permissionMode {mode!r} is not understood here and might restrict it")
    return []


def _line(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise NotUnderstood("it has no description")
    return text.strip()

"""The folders beside its own that an editor opens for a session: what lies in them is not outside."""

from pathlib import Path
from typing import Any

from toolwright.permission.rules import Rule
from toolwright.protocols.jsonrpc import INVALID_PARAMS, RpcError
from toolwright.session.session import Session
from toolwright.text.wildcard import matches

PERMISSION = "external_directory"


def folders_of(value: Any) -> list[Path]:
    """The folders of `additionalDirectories`; RpcError for what is none."""
    if not value:
        return []
    if not isinstance(value, list) or not all(map(_is_path, value)):
        raise RpcError("additionalDirectories must be a list of absolute paths, without * and ?.", INVALID_PARAMS)
    return [Path(one).resolve() for one in value]


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and Path(value).is_absolute() and not set("\0*?") & set(value)


def open_folders(session: Session, folders: list[Path]) -> None:
    """Have the session work in the folders without a question; what a rule denies stays denied.

    They are not stored with the session: the editor names them each time it opens it.
    """
    modes = [agent.name for agent in session.home.agents.visible() if agent.mode != "subagent"]
    layers = [layer for name in modes for layer in session.ruled_agent_named(name).policy.layers]
    rules = dict.fromkeys(rule for layer in layers for rule in layer.rules)
    denied = [rule for rule in rules if rule.action == "deny" and _is_about_folders(rule)]
    patterns = [f"{str(folder).rstrip('/')}{end}" for folder in folders for end in ("", "/*")]
    allowed = [Rule(PERMISSION, pattern, "allow", "session") for pattern in patterns]
    if allowed:
        session.rules = (*session.rules, *allowed, *denied)


def _is_about_folders(rule: Rule) -> bool:
    return matches(PERMISSION, rule.permission) and (rule.permission == PERMISSION or rule.pattern == "*")

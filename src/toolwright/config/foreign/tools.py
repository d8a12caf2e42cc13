"""Claude Code's lists of tools (`Read, Bash(git *), mcp__docs__search`) as rules that restrict as much."""

import re
from collections.abc import Iterator
from typing import Any

from toolwright.config.foreign.found import NotUnderstood
from toolwright.protocols.json_types import Json

PERMISSIONS: dict[str, tuple[str, ...]] = {
    "Read": ("read",),
    "NotebookRead": ("read",),
    "Edit": ("edit",),
    "MultiEdit": ("edit",),
    "Write": ("edit",),
    "NotebookEdit": ("edit",),
    "Glob": ("glob",),
    "Grep": ("grep",),
    "LS": ("list",),
    "Bash": ("bash",),
    "BashOutput": ("bash",),
    "KillShell": ("bash",),
    "KillBash": ("bash",),
    "WebFetch": ("webfetch",),
    "WebSearch": ("websearch", "codesearch"),
    "TodoWrite": ("todowrite", "todoread"),
    "TodoRead": ("todoread",),
    "Task": ("task",),
    "Agent": ("task",),
    "Skill": ("skill",),
    "LSP": ("lsp",),
    "AskUserQuestion": ("question",),
    "ExitPlanMode": ("plan_exit",),
    "EnterPlanMode": ("plan_enter",),
}
_FILES = ("Read", "Edit", "MultiEdit", "Write")
_ALWAYS = ("external_directory", "doom_loop")
"""Permissions that are no tool's: what is said of tools leaves them as they are."""
_ENTRY = re.compile(r"\s*([^,()\s]+)\s*(?:\(([^()]*)\))?\s*(?:,|$)")


def granted(listed: Any) -> list[Json]:
    """Rules that leave nothing but what is named; what we do not have cannot be granted, and is not."""
    entries = list(tool_entries(listed))
    if any(name in ("*", "All") and not inner for name, inner in entries):
        return []
    rules = [_rule("*", "*", "deny"), *(_rule(name, "*", "allow") for name in _ALWAYS)]
    for name, inner in entries:
        for permission in permissions_named(name) or ():
            patterns = list(_patterns(name, inner))
            if patterns != ["*"]:
                rules.append(_rule(permission, "*", "deny"))
            rules += (_rule(permission, pattern, "allow") for pattern in patterns)
    return rules


def withheld(listed: Any) -> list[Json]:
    """Rules that deny what is named. A name that we do not know could be any of our tools."""
    rules: list[Json] = []
    for name, inner in tool_entries(listed):
        permissions = permissions_named(name)
        if permissions is None:
            raise NotUnderstood(f"it may not use {name!r}, which is not known here")
        for permission in permissions:
            for pattern in _patterns(name, inner):
                rules.append(_rule(permission, pattern, "deny"))
                if name in _FILES and inner and not pattern.startswith("/"):
                    rules.append(_rule(permission, f"*/{pattern}", "deny"))
    return rules


def permissions_named(name: str) -> tuple[str, ...] | None:
    """Return our permissions that a tool of Claude Code stands for; None if we know no such tool."""
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        plain = re.sub(r"[^a-zA-Z0-9_*-]", "_", f"{server}_{tool or '*'}")
        return (plain,)
    return PERMISSIONS.get(name)


def _patterns(name: str, inner: str | None) -> Iterator[str]:
    if not inner or inner == "*":
        yield "*"
    elif name == "Bash":
        yield f"{inner.removesuffix(':*')} *" if inner.endswith(":*") else inner
    elif name in ("Task", "Agent"):
        yield from (one.strip() for one in inner.split(",") if one.strip())
    elif name == "Skill":
        yield inner
    elif name in _FILES:
        path = inner.removeprefix("./")
        yield re.sub(r"\*{2,}", "*", path[1:] if path.startswith("//") else path)
    else:
        raise NotUnderstood(f"what it says of {name}({inner}) cannot be said here")


def tool_entries(listed: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the names in a list of tools, or in a text of them, each with what stands in brackets behind it."""
    if isinstance(listed, str):
        listed = [listed]
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise NotUnderstood("its tools are not a list of names")
    for text in listed:
        at = 0
        while at < len(text.rstrip()):
            match = _ENTRY.match(text, at)
            if match is None:
                raise NotUnderstood(f"{text[at : at + 60]!r} among its tools is not understood here")
            yield match[1], match[2]
            at = match.end()


def _rule(permission: str, pattern: str, effect: str) -> Json:
    return {"action": permission, "resource": pattern, "effect": effect}

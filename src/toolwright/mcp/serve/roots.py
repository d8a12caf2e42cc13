"""The folders that a client has opened: what it calls stays within them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from toolwright.agents import CLIENT
from toolwright.definition import Action
from toolwright.mcp.protocol import object_of, text_of
from toolwright.permission.rules import Rule

KEPT = ("read", "edit")
"""Permissions that go by the names of files; searches and commands are judged by them as well."""


def roots_in(answer: Any) -> list[Path]:
    """The folders that the answer to `roots/list` names; those that are no files are passed over."""
    listed = object_of(answer).get("roots")
    addresses = [text_of(object_of(one).get("uri")) for one in listed] if isinstance(listed, list) else []
    parts = [urlsplit(address) for address in addresses if address.startswith("file://")]
    return [Path(unquote(one.path)).resolve() for one in parts if one.path and "\0" not in unquote(one.path)]


def rules_within(roots: Sequence[Path], directory: Path) -> tuple[Rule, ...]:
    """Rules that only forbid, and keep a session in those of the folders that are part of the project.

    Where none is, the project is not the client's to choose: whoever started the server has named it.
    """
    directory = directory.resolve()
    inside = [root for root in roots if root.is_relative_to(directory)]
    if not inside or directory in inside:
        return ()
    patterns: list[tuple[str, Action]] = [(f"{directory}/*", "deny")]
    patterns += ((f"{root}{end}", "allow") for root in inside for end in ("", "/*"))
    return tuple(Rule(permission, pattern, action, CLIENT) for permission in KEPT for pattern, action in patterns)

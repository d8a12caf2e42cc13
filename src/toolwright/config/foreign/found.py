"""Another program's set-up: what it holds, and what becomes of it here."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from toolwright.record import record

Kind = Literal["agents", "MCP servers", "permissions", "plugins"]


class NotUnderstood(Exception):
    """Why a piece of another program's set-up is left out, in words that follow its name."""


@record(frozen=True, slots=True, kw_only=True)
class ForeignSetup:
    """An agent, a server or a rule that another program's file names."""

    program: str
    kind: Kind
    name: str
    file: Path
    reason: str = ""
    """Why it is not in use; empty if it is."""
    hooks: Any = None
    """Hooks that an agent's file has run while it works."""


def require_known(values: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse any other key: it could be a restriction, and to pass over one is to allow."""
    unknown = [key for key in values if key not in set(known)]
    if unknown:
        raise NotUnderstood(f"its {unknown[0]!r} is not understood here and might restrict it")

"""Another program's permissions as rules of ours, with notes on those that mean something else here."""

from collections.abc import Iterable
from typing import Literal

from toolwright.protocols.json_types import Json
from toolwright.record import record

Change = Literal["stricter", "looser", "left out"]

READ_ONLY = ("cat", "cd", "diff", "du", "echo", "grep", "head", "ls", "pwd", "stat", "tail", "wc", "which")
"""Commands that the other programs run without a question; the files they read are judged here as `read`."""


@record(frozen=True, slots=True)
class RuleNote:
    """A piece that does not mean quite the same here."""

    piece: str
    change: Change
    reason: str

    def __str__(self) -> str:
        return f"{self.piece}: {self.change}, {self.reason}"


@record(frozen=True, slots=True, kw_only=True)
class Converted:
    """Rules in the order in which ours are read, the last that fits winning."""

    rules: tuple[Json, ...] = ()
    notes: tuple[RuleNote, ...] = ()

    @property
    def restricting(self) -> "tuple[Json, ...]":
        """Those that take something away, for a project that is not trusted."""
        return tuple(rule for rule in self.rules if rule["effect"] != "allow")


def rule(permission: str, pattern: str, effect: str) -> Json:
    return {"action": permission, "resource": pattern, "effect": effect}


def asking(permissions: Iterable[str], servers: Iterable[str]) -> list[Json]:
    """Rules that ask about whatever no later rule allows: some of our tools, and all tools of MCP servers."""
    return [rule(one, "*", "ask") for one in permissions] + [rule(f"{name}_*", "*", "ask") for name in servers]

"""A goal: the conditions that must hold on the final tree before work counts as done."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from toolwright.errors import UsageError
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.ids import now

SECONDS = 120.0
"""Longest time that one run of a condition may take, where nobody has said."""
MUTANTS = 3
"""Number of changed lines that are broken to see whether a check notices, where nobody has said."""
SHOWN = 6000
"""Characters of what a check printed that are kept; the end of it, where summaries stand."""

Function = Callable[[Path], Any]


@record(frozen=True, slots=True, kw_only=True)
class Condition:
    """A command that must end with code 0, or a function of the project's folder that must return something true."""

    command: str = ""
    function: Function | None = None
    match: str = ""
    """A regular expression that must be found in what the command prints; its exit code does not count then."""

    @property
    def name(self) -> str:
        """Return what people and the model know it by."""
        if self.function is None:
            return self.command
        return str(getattr(self.function, "__name__", type(self.function).__name__))


@record(frozen=True, slots=True, kw_only=True)
class Goal:
    """Conditions that must hold, all of them."""

    conditions: tuple[Condition, ...]
    seconds: float = SECONDS
    """Longest time that one run of one condition may take."""
    may_change: tuple[str, ...] = ()
    """Patterns of files that the work may change although the check rests on them, such as tests to be written anew."""
    mutants: int = MUTANTS
    """Number of changed lines that are broken, in a copy, to see whether the check notices; none for 0."""


Status = Literal["held", "failed", "timed_out", "not_run"]


@record(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One run of one condition: when, on which tree, and what came of it."""

    command: str
    status: Status
    tree: str
    """The hash of the project's files before it ran."""
    when: int
    """Milliseconds since 1970."""
    exit: int | None = None
    output: str = ""
    match: str = ""
    seconds: float = 0.0
    tree_after: str = ""
    """The hash after it ran."""
    rewrote: tuple[str, ...] = ()
    """Files of the project that it has changed itself."""

    @property
    def held(self) -> bool:
        return self.status == "held"

    def as_json(self) -> Json:
        """Return it as the evidence has it."""
        fields: Json = {"command": self.command, "exit": self.exit, "tree": self.tree, "when": self.when}
        fields |= {"status": self.status, "output": self.output, "seconds": round(self.seconds, 3)}
        return fields | {"treeAfter": self.tree_after} | ({"match": self.match} if self.match else {})

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "CheckRun":
        """Read one that was stored."""
        return cls(
            command=str(stored.get("command", "")),
            status=stored.get("status", "not_run"),
            tree=str(stored.get("tree", "")),
            when=int(stored.get("when") or now()),
            exit=stored.get("exit"),
            output=str(stored.get("output", "")),
            match=str(stored.get("match", "")),
            seconds=float(stored.get("seconds", 0.0)),
            tree_after=str(stored.get("treeAfter", "")),
        )


def goal_of(
    until: object, *, match: str = "", seconds: float = 0.0, may_change: Iterable[str] = (), mutants: int = MUTANTS
) -> Goal | None:
    """Return the goal that a program or a person gives: a command, a function, or several of them; None for none."""
    if until is None or isinstance(until, Goal):
        return until
    several = list(until) if isinstance(until, Iterable) and not isinstance(until, str | bytes) else [until]
    conditions = tuple(_condition(one, match) for one in several)
    if not conditions:
        raise UsageError("until= names no condition: give a command, a function of the project's folder, or several.")
    return Goal(conditions=conditions, seconds=seconds or SECONDS, may_change=tuple(may_change), mutants=mutants)


def _condition(condition: object, match: str) -> Condition:
    if isinstance(condition, Condition):
        return condition
    if isinstance(condition, str) and condition.strip():
        return Condition(command=condition.strip(), match=_expression(match))
    if callable(condition):
        return Condition(function=condition)
    raise UsageError(f"until={condition!r:.60} is no condition: give a command, or a function of the project's folder.")


def _expression(match: str) -> str:
    try:
        re.compile(match)
    except re.error as error:
        raise UsageError(f"{match!r:.60} is no regular expression: {error}.") from error
    return match

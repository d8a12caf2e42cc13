"""Things a session has seen, by the records of its calls: texts that others wrote, secrets, what it has made. Pure."""

import re
from collections.abc import Collection, Iterator
from dataclasses import field
from typing import Final

from toolwright.calls.acts import Act
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.definition import ANY, Tool
from toolwright.flows.naming import ids_in, strings
from toolwright.permission.defaults import is_secret_file
from toolwright.record import record

MOST = 1000
"""Texts that are told apart; that there were others, a session that has seen so many knows anyway."""
LONGEST = 100
"""Characters of what a text is called."""
_NOT_MADE: Final = ("denied", "rejected", "schema", "unknown_tool")
"""Kinds of failures of calls that were never made, and so brought nothing."""
_ENVIRONMENT: Final = re.compile(r"\b(?:env|printenv|export|declare|set)\b")


@record(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A text that others wrote, by the call that brought it."""

    tool: str
    subject: str
    """The address, the file or the command."""
    call_id: str
    session_id: str
    hosts: tuple[str, ...] = ()
    """Its origin, if it is no text of others where those are the user's own."""

    def __str__(self) -> str:
        return f"{self.subject} ({self.tool})" if self.subject else self.tool


@record(slots=True)
class Seen:
    """All that has been seen so far; it only grows."""

    sources: dict[str, TextSource] = field(default_factory=dict[str, TextSource])
    """By the id of their call."""
    secret: str = ""
    """The first secret that was seen."""
    made: set[str] = field(default_factory=set[str])
    """The ids of what calls have made that change nothing but the user's own things."""

    certain: bool = False
    """True if any of the texts was written by others wherever it came from."""

    def add(self, other: "Seen") -> None:
        """Have seen what another has as well."""
        for call_id, source in other.sources.items():
            if len(self.sources) < MOST or not self.certain:
                self.sources[call_id] = source
                self.certain = self.certain or not source.hosts
        self.secret = self.secret or other.secret
        self.made |= other.made


@record(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Facts needed beside the record of a call."""

    trusted: bool
    """True if the project is trusted."""
    secret_variables: Collection[str] = ()
    """Variables that commands are given though they look like keys."""


def seen_in(part: ToolPart, tool: Tool | None, around: Circumstances) -> Seen:
    """Return what one call has brought; `tool` is None where nobody knows it any more."""
    state, seen = part.state, Seen()
    if not isinstance(state, Completed | Failed) or (isinstance(state, Failed) and state.kind in _NOT_MADE):
        return seen
    seen.secret = next(_secrets(part, around), "")
    hosts = list[str]()
    foreign = tool is None or tool.untrusted or (not around.trusted and _looks_at_files(tool))
    if part.tool == "bash" and not foreign:
        acts = _acts(str(state.input.get("command") or ""))
        hosts = [*(host for act in acts for host in act.to), *_reached(part)]
        foreign = bool(hosts) or any(act.foreign for act in acts)
        hosts = [] if any(act.foreign for act in acts) else hosts
    if foreign:
        subject = " ".join(next(strings(state.input), "").split())
        subject = subject if len(subject) <= LONGEST else f"{subject[:LONGEST]}…"
        source = TextSource(
            tool=part.tool, subject=subject, call_id=part.call_id, session_id=part.session_id, hosts=tuple(hosts)
        )
        seen.sources[part.call_id] = source
    if tool is not None and tool.act == "here" and isinstance(state, Completed):
        seen.made.update(ids_in(state.output))
    return seen


def _looks_at_files(tool: Tool) -> bool:
    return tool.reads != "" and (tool.reads == ANY or not tool.writes)


def _acts(command: str) -> list[Act]:
    # What it takes to understand a command is loaded for the first one.
    from toolwright.shell.analysis.analysis import analyse
    from toolwright.shell.outward import acts_by_text

    return list(acts_by_text(analyse(command, cwd="/", home="/root")).values())


def _reached(part: ToolPart) -> Iterator[str]:
    """The hosts that a command has reached, where it went through our door."""
    metadata = part.state.metadata if isinstance(part.state, Completed | Failed) else None
    listed = (metadata or {}).get("network")
    for exchange in listed if isinstance(listed, list) else ():
        if isinstance(exchange, dict) and isinstance(to := exchange.get("to"), str):
            yield to.rpartition(":")[0].strip("[]")


def _secrets(part: ToolPart, around: Circumstances) -> Iterator[str]:
    """Files that hold keys or that a person was asked about by name, and variables that are kept from commands."""
    for entry in part.decisions or ():
        if entry.get("permission") == "read" and entry.get("action") != "deny" and entry.get("reply") != "reject":
            pattern = str(entry.get("pattern"))
            asked = entry.get("reply") is not None and not str(entry.get("rule", "")).startswith(("read *:", "* *:"))
            if asked or is_secret_file(pattern):
                yield pattern
    if part.tool == "bash" and around.secret_variables and isinstance(part.state, Completed | Failed):
        command = str(part.state.input.get("command") or "")
        named = [name for name in around.secret_variables if re.search(rf"\b{re.escape(name)}\b", command)]
        yield from named or (around.secret_variables if _ENVIRONMENT.search(command) else ())

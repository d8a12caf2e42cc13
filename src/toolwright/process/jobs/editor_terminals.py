"""Terminals of somebody else's, as an editor has them, in which commands run instead of in a scope and box of ours."""

from pathlib import Path
from typing import Protocol

from toolwright.process.running.scope import ProgramEnd
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class TerminalCommand:
    """A program to run, and the call that wants it."""

    arguments: tuple[str, ...]
    cwd: Path
    session_id: str
    call_id: str


@record(frozen=True, slots=True, kw_only=True)
class TerminalEnd:
    """The outcome of a command."""

    end: ProgramEnd
    output: str
    truncated: bool = False
    """True if the beginning of the output is lost."""
    timed_out: bool = False


class Terminals(Protocol):
    """Runs commands. What was approved is approved; nothing but its own rules keeps a command from anything else."""

    @property
    def ready(self) -> bool:
        """True if they are to be used now."""
        ...

    async def run(self, command: TerminalCommand, seconds: float) -> TerminalEnd | None:
        """Run a command until it ends or its time is over; None if it was refused, and so has not begun.

        ToolError if nobody can say whether it runs. A caller that is cancelled ends it.
        """
        ...

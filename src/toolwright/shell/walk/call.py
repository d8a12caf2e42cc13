"""One call of a program or of the shell's own commands, and what it may ask of the walk around it."""

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from toolwright.record import record
from toolwright.shell.state.findings import Draft, Findings
from toolwright.shell.state.state import Field, ShellState
from toolwright.shell.walk.stdin import InputFeed


class Walk(Protocol):
    """The walk that a call is part of."""

    findings: Findings

    def nested(self, text: str, state: ShellState, draft: Draft) -> ShellState:
        """Walk through a text that a shell will run; the state after it."""
        ...

    def leave_body(self, state: ShellState) -> None:
        """Note that a loop or function may be left at this point."""
        ...

    def call_function(self, name: str, arguments: Sequence[Field], state: ShellState) -> bool:
        """Walk through the functions of that name, changing the state; whether there are any."""
        ...


@record(slots=True, kw_only=True)
class ShellCall:
    argv: list[Field]
    state: ShellState
    draft: Draft
    feed: InputFeed | None = None
    """Standard input, if it does not come from where the whole script's does."""
    also: list[Field] = field(default_factory=list[Field])
    """Further operands that come from elsewhere, as those of xargs do."""

    wrapped: bool = False
    """True if another program runs it, so that a name of the shell's own is a program's too."""

    listed: list[Field] = field(default_factory=list[Field])
    """Those of its words that are folders from a listing, and stand for what lies in them."""
    mark: str = ""
    """The mark in its words for a path that a listing names."""

    @property
    def name(self) -> str:
        return self.argv[0].text

    @property
    def arguments(self) -> list[Field]:
        return self.argv[1:]

    def inner(self, argv: list[Field], *, also: Sequence[Field] = ()) -> "ShellCall":
        return ShellCall(
            argv=argv,
            state=self.state,
            draft=self.draft,
            feed=self.feed,
            also=list(also),
            wrapped=True,
            listed=self.listed,
        )

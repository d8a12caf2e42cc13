"""A command in the network of its session: who asks for it, what was answered, what it is told."""

import asyncio
from typing import Final, Protocol

from toolwright.calls.request import Request
from toolwright.network.destination import Destination
from toolwright.network.verdict import Action, RuleLine
from toolwright.record import record

NOTES: Final = 8
"""Refusals that the result of one command tells of."""


class CommandCaller(Protocol):
    """The call that a command was started by: its rules, and who is asked for it."""

    def decide(self, permission: str, pattern: str) -> Action: ...
    def rules_about(self, permission: str) -> tuple[RuleLine, ...]: ...
    async def ask_all(self, *requests: Request) -> None: ...


@record(frozen=True, slots=True, kw_only=True)
class HostTraffic:
    """Bytes that went to a destination, and that came from there."""

    to: str
    sent: int
    received: int


class Surrounding(Protocol):
    """The network that a command is in."""

    async def publish(self) -> None:
        """Lead the servers of jobs outside."""
        ...

    def ended(self, running: "RunningCommand") -> None:
        """Take note that nothing of a command runs any more."""
        ...


class RunningCommand:
    """A command in the network of its session, from before it starts until nothing of it is left."""

    def __init__(self, network: Surrounding, caller: CommandCaller, command: str) -> None:
        self.caller = caller
        self.command = command
        self.answers = dict[tuple[Destination, bool], str]()
        """Why a person has said no, to a host or to more being sent there, empty for a yes; a program that tries again
        is not asked about again."""
        self.is_job = False
        self.asked_since: float | None = None
        self.waited = 0.0
        """Seconds that it was kept waiting by questions, which are not its own."""
        self._network = network
        self._refused = dict[str, None]()

    def note(self, sentence: str) -> None:
        self._refused.setdefault(sentence)

    def take_notes(self) -> list[str]:
        """Return what was refused since this was last asked, each once."""
        notes = list(self._refused)
        self._refused.clear()
        more = len(notes) - NOTES
        return [*notes[:NOTES], f"{more} more destinations were refused"] if more > 0 else notes

    def take_waited(self) -> float:
        """Return how long questions have kept it waiting since this was last asked."""
        now = asyncio.get_running_loop().time()
        waited, self.waited = self.waited, 0.0
        if self.asked_since is not None:
            waited, self.asked_since = waited + now - self.asked_since, now
        return waited

    async def keep(self) -> None:
        """Have its servers led outside from now on: it outlives the call that began it."""
        self.is_job = True
        await self._network.publish()

    def end(self) -> None:
        """Nothing of it runs any more."""
        self._network.ended(self)

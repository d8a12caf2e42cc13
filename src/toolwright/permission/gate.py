"""The gate every call's requests pass: judged all together, asked one after the other, each written down."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolwright.errors import PermissionRejected, ToolError
from toolwright.permission.broker import Asker, Broker, Entry, Judgement
from toolwright.request import Request


@dataclass(slots=True)
class Gate:
    """Lets a call through, or raises. What was asked stands in the asker's log afterwards."""

    broker: Broker

    def check(self, asker: Asker, requests: Sequence[Request]) -> None:
        """Raise if a rule forbids any of the requests; ask nobody."""
        judgements = self.broker.judge(asker, requests)
        if any(judgement.action == "deny" for judgement in judgements):
            _note(asker, judgements)
            self.broker.refuse_denied(judgements)

    async def ask(self, asker: Asker, requests: Sequence[Request]) -> None:
        """Judge all, then ask in order; return if every one is granted."""
        judgements = self.broker.judge(asker, requests)
        entries = _note(asker, judgements)
        self.broker.refuse_denied(judgements)
        for entry in entries:
            if entry.judgement.action == "ask":
                await self._put(asker, entry)

    async def _put(self, asker: Asker, entry: Entry) -> None:
        # An earlier question of this call may just have been answered with an "always" that covers this one.
        [judgement] = self.broker.judge(asker, [entry.judgement.request])
        self.broker.refuse_denied([judgement])
        if judgement.action == "allow":
            entry.reply = "always"
            return
        try:
            entry.reply = (await self.broker.ask(asker, judgement)).kind
        except PermissionRejected:
            entry.reply = "reject"
            raise


class DryRunOver(ToolError):
    """Raised where a dry run has seen all it wants to see."""

    def __init__(self) -> None:
        super().__init__("Dry run: nothing was done.", "aborted")


@dataclass(slots=True)
class DryGate(Gate):
    """Judges the first requests of a call, writes them down and ends the call there."""

    def check(self, asker: Asker, requests: Sequence[Request]) -> None:
        _note(asker, self.broker.judge(asker, requests))
        raise DryRunOver

    async def ask(self, asker: Asker, requests: Sequence[Request]) -> None:
        self.check(asker, requests)


def _note(asker: Asker, judgements: Sequence[Judgement]) -> list[Entry]:
    entries = [Entry(judgement) for judgement in judgements]
    asker.log.extend(entries)
    return entries

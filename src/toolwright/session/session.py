"""A session: who works in it, under which rules, and how its calls are run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from toolwright.agents import Agent, Standing
from toolwright.call import Caller
from toolwright.errors import PermissionDenied, ToolError, UsageError
from toolwright.events import Bus
from toolwright.ids import new_id
from toolwright.parts import ToolPart
from toolwright.permission.broker import Asker, Entry
from toolwright.permission.gate import Gate
from toolwright.request import Request
from toolwright.session.record import CallRecord
from toolwright.session.store import PartStore
from toolwright.shelf import Services
from toolwright.tool import Abort, Action, Call, Json, Result, ToolContext

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Session:
    """Who works, under which rules, through which door. Sessions in one process know nothing of each other."""

    directory: Path
    standing: Standing
    caller: Caller
    gate: Gate
    bus: Bus
    store: PartStore
    services: Services
    provider: str = ""
    model: str = ""
    callers: tuple[str, ...] = ()
    """The sessions above this one, the nearest first."""
    id: str = field(default_factory=lambda: new_id("ses"))
    abort: Abort = field(default_factory=Abort)
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    withheld: frozenset[str] = frozenset()
    """Tools that the prompt being answered has switched off."""
    stand: Callable[[str], Standing] | None = None
    """How to find the standing of another agent in this session, for sessions that change theirs."""
    _offered: tuple[Any, tuple[str, ...]] = (None, ())

    async def run_call(
        self,
        call: Call,
        *,
        message_id: str = "",
        part: ToolPart | None = None,
        parent: str | None = None,
        log: list[Entry] | None = None,
    ) -> Result:
        """Run one call through the door. Its requests are written to `log`, if one is given.

        `part` is the record of a call that was announced before; a new one is made without it. `parent` is the
        call that makes this one, if one does.
        """
        record = self.record_of(call, part, message_id, parent)
        asker = self._asker(call, record.part.message_id, log)
        ctx = ToolContext(
            session_id=self.id,
            message_id=record.part.message_id,
            call_id=call.id,
            agent=self.standing.name,
            directory=self.directory,
            host=CallHost(self, record, asker),
            abort=self.abort,
            extra=self.extra,
            offered=self.offered(),
        )
        if self.caller.named(call).tool in self.withheld:
            return await refuse(call, record, PermissionDenied(_withheld(call)))
        return await self.caller.call_tool(call, ctx, record)

    def record_of(
        self, call: Call, part: ToolPart | None = None, message_id: str = "", parent: str | None = None
    ) -> CallRecord:
        if part is not None:
            return CallRecord(part, self.store, self.bus)
        return CallRecord.begin(
            call,
            session_id=self.id,
            message_id=message_id or new_id("msg"),
            store=self.store,
            bus=self.bus,
            parent=parent,
        )

    async def ask_for(self, call: Call, request: Request, message_id: str) -> None:
        """Ask about a call before it is made."""
        await self.gate.ask(self._asker(call, message_id, None), [request])

    def work_as(self, name: str) -> Agent:
        """From now on the named agent works here, under the rules that hold for it."""
        if name != self.standing.name:
            self.standing = self.standing_of(name)
        return self.standing.agent

    def renew(self, name: str) -> None:
        """The same at the start of a turn: rules of the caller's may have changed since the last."""
        standing = self.standing_of(name)
        if standing.policy != self.standing.policy or name != self.standing.name:
            self.standing = standing

    def standing_of(self, name: str) -> Standing:
        if self.stand is None:
            raise UsageError(f"This session belongs to the agent {self.standing.name}.")
        return self.stand(name)

    @property
    def sessions(self) -> tuple[str, ...]:
        """This session and those above it."""
        return (self.id, *self.callers)

    def offered(self) -> tuple[str, ...]:
        """The ids of the tools this session's agent has on its model; remembered, because every call wants to know."""
        registry = self.caller.registry
        circumstances = (registry.version, self.provider, self.model, self.withheld, self.standing)
        if self._offered[0] != circumstances:
            offered = registry.offered(self.provider, self.model, self.standing)
            self._offered = (circumstances, tuple(one for one in offered if one not in self.withheld))
        return self._offered[1]

    def _asker(self, call: Call, message_id: str, log: list[Entry] | None) -> Asker:
        return Asker(
            session_id=self.id,
            policy=self.standing.policy,
            callers=self.callers,
            message_id=message_id,
            call_id=call.id,
            log=[] if log is None else log,
        )


async def refuse(call: Call, record: CallRecord, error: ToolError) -> Result:
    """Close the record of a call that is not going to be run."""
    record.running(call)
    result = Result.failed(error)
    await record.finished(call, result)
    return result


def _withheld(call: Call) -> str:
    return f"{call.tool} is switched off for this prompt. Go on without it."


@dataclass(frozen=True, slots=True)
class CallHost:
    """What a session offers one of its calls."""

    session: Session
    record: CallRecord
    asker: Asker

    def check(self, requests: Sequence[Request]) -> None:
        self.session.gate.check(self.asker, requests)

    async def ask(self, requests: Sequence[Request]) -> None:
        await self.session.gate.ask(self.asker, requests)

    def decide(self, permission: str, pattern: str) -> Action:
        return self.session.standing.decide(permission, pattern)

    def hides(self, permission: str) -> bool:
        return self.session.standing.hides(permission)

    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        return self.session.standing.policy.about(permission)

    def progress(self, title: str | None, metadata: Json) -> None:
        self.record.progress(title, metadata)

    async def call(self, tool: str, arguments: Json) -> Result:
        inner = Call(id=new_id("call"), tool=tool, arguments=arguments)
        asker = self.asker
        return await self.session.run_call(inner, message_id=asker.message_id, parent=asker.call_id, log=asker.log)

    def use(self, kind: type[T]) -> T:
        return self.session.services.use(kind)

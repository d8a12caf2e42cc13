"""A session: who works in it, under which rules, and how its calls are run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from toolwright.agents import Standing
from toolwright.call import Caller
from toolwright.events import Bus
from toolwright.ids import new_id
from toolwright.permission.broker import Asker, Entry
from toolwright.permission.gate import Gate
from toolwright.request import Request
from toolwright.session.record import CallRecord
from toolwright.session.store import Store
from toolwright.shelf import Services
from toolwright.tool import Abort, Action, Call, Json, Result, ToolContext

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Session:
    """One conversation, or the calls of one program. Sessions in one process know nothing of each other."""

    directory: Path
    standing: Standing
    caller: Caller
    gate: Gate
    bus: Bus
    store: Store
    services: Services
    provider: str = ""
    model: str = ""
    callers: tuple[str, ...] = ()
    """The sessions above this one, the nearest first."""
    id: str = field(default_factory=lambda: new_id("ses"))
    abort: Abort = field(default_factory=Abort)
    _offered: tuple[str, ...] | None = None

    async def run_call(self, call: Call, *, message_id: str = "", log: list[Entry] | None = None) -> Result:
        """Run one call through the door. Its requests are written to `log`, if one is given."""
        message_id = message_id or new_id("msg")
        record = CallRecord.begin(call, session_id=self.id, message_id=message_id, store=self.store, bus=self.bus)
        asker = Asker(
            session_id=self.id,
            policy=self.standing.policy,
            callers=self.callers,
            message_id=message_id,
            call_id=call.id,
            log=[] if log is None else log,
        )
        ctx = ToolContext(
            session_id=self.id,
            message_id=message_id,
            call_id=call.id,
            agent=self.standing.name,
            directory=self.directory,
            host=CallHost(self, record, asker),
            abort=self.abort,
            offered=self.offered(),
        )
        return await self.caller.call_tool(call, ctx, record)

    @property
    def sessions(self) -> tuple[str, ...]:
        """This session and those above it."""
        return (self.id, *self.callers)

    def offered(self) -> tuple[str, ...]:
        """The ids of the tools this session's agent has on its model."""
        if self._offered is None:
            self._offered = tuple(self.caller.registry.offered(self.provider, self.model, self.standing))
        return self._offered


@dataclass(frozen=True, slots=True)
class CallHost:
    """What a session offers one of its calls."""

    session: Session
    record: CallRecord
    asker: Asker

    def check(self, ctx: ToolContext, requests: Sequence[Request]) -> None:
        self.session.gate.check(self.asker, requests)

    async def ask(self, ctx: ToolContext, requests: Sequence[Request]) -> None:
        await self.session.gate.ask(self.asker, requests)

    def decide(self, ctx: ToolContext, permission: str, pattern: str) -> Action:
        return self.session.standing.decide(permission, pattern)

    def progress(self, ctx: ToolContext, title: str | None, metadata: Json) -> None:
        self.record.progress(title, metadata)

    async def call(self, ctx: ToolContext, tool: str, arguments: Json) -> Result:
        inner = Call(id=new_id("call"), tool=tool, arguments=arguments)
        return await self.session.run_call(inner, message_id=ctx.message_id, log=self.asker.log)

    def use(self, kind: type[T]) -> T:
        return self.session.services.use(kind)

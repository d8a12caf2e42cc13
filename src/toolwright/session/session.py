"""A session: what is prompted, recorded and ruled. Everything kept by its id goes with it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from toolwright.agents import Agents, RuledAgent, as_child
from toolwright.call import Caller
from toolwright.definition import Action, Call, Result, ToolContext
from toolwright.errors import PermissionDenied, ToolError, UsageError
from toolwright.events import Bus, Event
from toolwright.ids import new_id
from toolwright.jsontypes import Json
from toolwright.order import CallOrder
from toolwright.parts import ToolPart
from toolwright.permission.gate import AskedRequest, AskingCall, Gate
from toolwright.permission.rules import Policy, Rule
from toolwright.record import record
from toolwright.request import Request
from toolwright.session.record import CallRecord
from toolwright.session.store import PartStore
from toolwright.session.turn import Turn

if TYPE_CHECKING:
    from types import TracebackType

    from toolwright.messages import SessionInfo
    from toolwright.models.model import Model
    from toolwright.session.budget import Budget
    from toolwright.session.conversation import Conversation
    from toolwright.session.result import TurnResult
    from toolwright.session.turns import Turns

T = TypeVar("T")
_JSON = (str, int, float, bool, type(None))


class SessionOwner(Protocol):
    """What a session needs of the workspace it belongs to."""

    directory: Path
    agents: Agents
    caller: Caller
    gate: Gate
    bus: Bus
    keep: bool
    """Whether calls outside of a conversation are stored."""

    @property
    def closed(self) -> bool: ...
    @property
    def store(self) -> PartStore: ...
    def use(self, kind: type[T]) -> T: ...
    def require_open(self) -> None: ...
    def turns_of(self, session: "Session", conversation: "Conversation | None" = None) -> "Turns": ...
    async def load_session(self, session: "Session") -> None: ...
    async def end_session(self, session_id: str) -> None: ...


class Session:
    """One conversation with its rules, records and calls. Use it as `async with`: leaving ends what it started."""

    def __init__(
        self,
        home: SessionOwner,
        *,
        id: str = "",  # noqa: A002 - the word the whole program uses
        agent: str = "",
        rules: Sequence[Rule] = (),
        parent: "Session | None" = None,
        provider: str = "",
        model: str = "",
    ) -> None:
        self.home = home
        self.resumes = bool(id)
        """Whether it is an earlier session, to be read from the store when it is entered."""
        self.id = id or new_id("ses")
        self.agent = home.agents[agent].name if agent else home.agents.default().name
        """The agent that works unless a prompt names another."""
        self.rules = tuple(rules)
        self.parent = parent
        self.callers: tuple[str, ...] = (parent.id, *parent.callers) if parent else ()
        """The sessions above this one, the nearest first."""
        self.gate = home.gate
        self.provider = provider
        self.model = model
        self.order = CallOrder()
        self.closed = False
        self._turns: Turns | None = None
        self._idle: Turn | None = None
        self._ruled_agents: dict[str, tuple[Any, RuledAgent]] = {}
        self._offered: tuple[Any, tuple[str, ...]] = (None, ())

    def __repr__(self) -> str:
        return f"<Session {self.id} agent={self.agent}{' closed' if self.closed else ''}>"

    async def __aenter__(self) -> "Session":
        self._require_open()
        if self.resumes:
            await self.home.load_session(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await self.close()

    # Prompts.

    async def prompt(
        self,
        text: str,
        *,
        files: Sequence[str | Path] = (),
        system: str = "",
        model: "str | Model | None" = None,
        budget: "Budget | Mapping[str, Any] | None" = None,
        tools: Sequence[str] | None = None,
        output: Any = None,
        agent: str = "",
        variant: str = "",
    ) -> "TurnResult":
        """Answer one prompt. What goes wrong on the way is in the result; only bad input raises.

        `files` go along, `system` is told to the model for this prompt alone, `tools` are the only ones offered,
        `budget` is what the turn may take, and `output` is the type of the answer: a TypedDict, a dataclass, a pydantic
        model or a JSON Schema.
        """
        from toolwright.session.asking import ask

        self._require_open()
        return await ask(
            self,
            text,
            files=files,
            system=system,
            model=model,
            budget=budget,
            tools=tools,
            output=output,
            agent=agent,
            variant=variant,
        )

    def stream(self, text: str, **more: Any) -> "AsyncGenerator[Event, None]":
        """Like `prompt`, telling what happens as it happens; the last event has the `result`.

        A stream that is left early stops its turn; the session stays usable.
        """
        from toolwright.session.asking import stream

        self._require_open()
        return stream(self, text, **more)

    async def go_on(
        self, *, model: "str | Model | None" = None, budget: "Budget | Mapping[str, Any] | None" = None
    ) -> "TurnResult":
        """Answer the newest prompt from its last finished step on: its process ended, or its machine did."""
        from toolwright.session.asking import go_on

        self._require_open()
        return await go_on(self, model=model, budget=budget)

    async def abort(self, reason: str = "the user stopped the turn") -> None:
        """Stop the turn that is under way and those that wait. When this returns, nothing of them is left to do."""
        if self._turns is not None:
            await self._turns.abort(reason)

    @property
    def turns(self) -> "Turns":
        """What takes the session's prompts; made with the first."""
        if self.resumes:
            raise UsageError(f"The session {self.id} is not read yet. Enter it: async with workspace.session(id=...).")
        if self._turns is None:
            self._turns = self.home.turns_of(self)
        return self._turns

    @property
    def conversation(self) -> "Conversation":
        return self.turns.conversation

    @property
    def info(self) -> "SessionInfo":
        return self.turns.conversation.info

    def hold(self, conversation: "Conversation") -> None:
        """Take over the records of the session, new or from the store."""
        last = conversation.last_user()
        if last is not None and last.agent in self.home.agents.by_name:
            self.agent = last.agent
        self.resumes = False
        self._turns = self.home.turns_of(self, conversation)

    # Rules.

    def permit(self, rules: Sequence[Rule] | Mapping[str, Any] | str) -> None:
        """Give the session rules of its own, in place of those it has; they hold from the next call on."""
        from toolwright.permission.forms import given_rules

        self.rules = given_rules(rules)
        if self._turns is not None:
            self._turns.store_rules()

    def ruled_agent_named(self, agent: str) -> RuledAgent:
        """An agent under all rules that hold for it here: its own, the session's, those of every session above."""
        above = self.parent.ruled_agent.policy if self.parent else None
        made_from, ruled = self._ruled_agents.get(agent, (None, None))
        if ruled is None or made_from != (self.rules, above):
            agents = self.home.agents
            record = agents[agent] if self.parent is None else as_child(agents[agent])
            ruled = agents.ruled(record, self.rules, above)
            self._ruled_agents[agent] = ((self.rules, above), ruled)
        return ruled

    @property
    def ruled_agent(self) -> RuledAgent:
        """Whoever works here now, under the rules that hold: the agent of the turn under way, or the session's own."""
        turn = self._turns.turn if self._turns is not None else None
        return self.ruled_agent_named(turn.agent.name if turn else self.agent)

    # Calls.

    def outside(self, agent: str = "") -> Turn:
        """The turn of a call that no prompt has asked for."""
        name = agent or self.agent
        return Turn(agent=self.ruled_agent_named(name).agent, provider=self.provider, model_id=self.model)

    async def call(self, tool: str, /, **arguments: Any) -> Result:
        """Call a tool as the session's agent. Dates, paths and records among the arguments are written as JSON."""
        for value in arguments.values():
            if not isinstance(value, _JSON):
                from toolwright.values import jsonable

                arguments = jsonable(arguments)
                break
        return await self.run_call(Call(id=new_id("call"), tool=tool, arguments=arguments))

    async def run_call(
        self,
        call: Call,
        turn: Turn | None = None,
        *,
        message_id: str = "",
        part: ToolPart | None = None,
        parent: str = "",
        log: list[AskedRequest] | None = None,
        journal: CallRecord | None = None,
        gate: Gate | None = None,
    ) -> Result:
        """Run one call through the door. Its requests are written to `log`, if one is given.

        `part` is the record of a call that was announced before; a new one is made without it. `parent` is the call
        that makes this one, if one does. `journal` takes the place of the session's records, `gate` that of its gate.
        """
        if self.closed or self.home.closed:
            self._require_open()
        if turn is None:
            turn = self._idle = self._idle if self._idle and self._idle.agent.name == self.agent else self.outside()
        record = journal or self.record_of(call, part, message_id, parent)
        ruled = self.ruled_agent_named(turn.agent.name)
        asker = AskingCall(
            session_id=self.id,
            policy=ruled.policy,
            call=call,
            callers=self.callers,
            message_id=record.part.message_id,
            log=[] if log is None else log,
        )
        ctx = CallContext(
            session_id=self.id,
            message_id=asker.message_id,
            call_id=call.id,
            agent=turn.agent.name,
            directory=self.home.directory,
            abort=turn.abort,
            mentioned=turn.mentioned,
            parent=parent,
            session=self,
            turn=turn,
            policy=ruled.policy,
            gate=gate or self.gate,
            asker=asker,
            record=record,
        )
        limited = turn.withheld or turn.wanted is not None
        if limited and not turn.offers(self.home.caller.registry.resolved(call.tool)):
            error = PermissionDenied(f"{call.tool} is switched off for this prompt. Go on without it.")
            return await refuse(call, record, error)
        return await self.home.caller.call_tool(call, ctx, record, self.order)

    def record_of(self, call: Call, part: ToolPart | None = None, message_id: str = "", parent: str = "") -> CallRecord:
        store = self._turns.conversation if self._turns else self.home.store if self.home.keep else None
        if part is not None:
            outbox = self._turns.conversation.outbox if self._turns else None
            return CallRecord(part, store, self.home.bus, outbox)
        return CallRecord.begin(
            call,
            session_id=self.id,
            message_id=message_id or new_id("msg"),
            store=store,
            bus=self.home.bus,
            parent=parent or None,
        )

    async def ask_for(self, call: Call, turn: Turn, request: Request, message_id: str) -> None:
        """Ask about a call before it is made."""
        policy = self.ruled_agent_named(turn.agent.name).policy
        asker = AskingCall(session_id=self.id, policy=policy, call=call, callers=self.callers, message_id=message_id)
        await self.gate.ask(asker, [request])

    def offered(self, turn: Turn | None = None) -> tuple[str, ...]:
        """The ids of the tools an agent has on its model; remembered, because every step wants to know."""
        turn = turn or self.outside()
        registry, ruled = self.home.caller.registry, self.ruled_agent_named(turn.agent.name)
        circumstances = (registry.version, turn.provider, turn.model_id, turn.withheld, turn.wanted, ruled.policy)
        if self._offered[0] != circumstances:
            offered = registry.offered(turn.provider, turn.model_id, ruled)
            self._offered = (circumstances, tuple(filter(turn.offers, offered)))
        return self._offered[1]

    # The end.

    async def close(self) -> None:
        """End what the session has under way, and let go of everything kept for it. Its records stay."""
        if self.closed:
            return
        self.closed = True
        await self.abort("the session was closed")
        await self.home.end_session(self.id)

    def _require_open(self) -> None:
        if self.home.closed:
            self.home.require_open()
        if self.closed:
            raise UsageError(f"The session {self.id} was left. Open it again with workspace.session(id=...).")


async def refuse(call: Call, record: CallRecord, error: ToolError) -> Result:
    """Close the record of a call that is not going to be run."""
    record.running(call)
    result = Result.failed(error)
    await record.finished(call, result)
    return result


@record(frozen=True, slots=True, kw_only=True, repr=False)
class CallContext(ToolContext):
    """What a session offers one of its calls."""

    session: Session
    turn: Turn
    policy: Policy
    gate: Gate
    asker: AskingCall
    record: CallRecord

    async def ask_all(self, *requests: Request) -> None:
        await self.gate.ask(self.asker, requests)

    def check(self, *requests: Request) -> None:
        self.gate.check(self.asker, requests)

    def decide(self, permission: str, pattern: str) -> Action:
        return self.policy.decide(permission, pattern).action

    def hides(self, permission: str) -> bool:
        return self.policy.hides(permission)

    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        return self.policy.about(permission)

    def metadata(self, title: str | None = None, metadata: Json | None = None) -> None:
        self.record.progress(title, metadata or {})

    async def call(self, tool: str, arguments: Json) -> Result:
        inner = Call(id=new_id("call"), tool=tool, arguments=arguments)
        return await self.session.run_call(
            inner, self.turn, message_id=self.message_id, parent=self.call_id, log=self.asker.log, gate=self.gate
        )

    def use(self, kind: type[T]) -> T:
        return self.session.home.use(kind)

    @property
    def offered(self) -> tuple[str, ...]:
        return self.session.offered(self.turn)

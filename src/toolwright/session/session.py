"""A session: what is prompted, recorded and ruled. Everything kept by its id goes with it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Protocol, TypeVar

from toolwright.agents import Agents, RuledAgent, as_child
from toolwright.call import Caller
from toolwright.calls.order import CallOrder
from toolwright.calls.parts import ToolPart
from toolwright.calls.request import Request
from toolwright.definition import Action, Call, Result, ToolContext
from toolwright.errors import CallChanged, PermissionDenied, ToolError, UnknownTool, UsageError
from toolwright.events import Bus
from toolwright.permission.forms import given_rules
from toolwright.permission.gate import AskedRequest, AskingCall, DryRunOver, Gate
from toolwright.permission.rules import Policy, Rule
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.prompting import Prompting
from toolwright.session.records.call_record import CallRecord
from toolwright.session.store import PartStore
from toolwright.session.turns.terms import CallTerms
from toolwright.text.ids import new_id

if TYPE_CHECKING:
    from toolwright.inbox import Question, Reply
    from toolwright.messages import Message, SessionInfo
    from toolwright.models.model import Model
    from toolwright.session.agent import Agent
    from toolwright.session.alone import CallDecision, CommandOutcome
    from toolwright.session.budget import Budget
    from toolwright.session.flows import Flows
    from toolwright.session.prompt import AskedOptions
    from toolwright.session.records.conversation import Conversation
    from toolwright.session.result import TurnResult
    from toolwright.session.turn_events import TurnEvent
    from toolwright.session.turns.turns import Turns

T = TypeVar("T")
CLOSED = "the session was closed"
SERVER_STOPPED = "the server was stopped"
LEFT_BEHIND = (CLOSED, SERVER_STOPPED, "the workspace was closed", "whoever had asked for it was stopped")
"""Why a turn is stopped that nobody wants to be over."""
BROUGHT = 64
"""Ended calls that are held before they are looked at."""
CHANGED = "[The user has changed the arguments of this call before it was made.]"
_JSON = (str, int, float, bool, type(None))


class SessionOwner(Protocol):
    """Workspace as its sessions see it."""

    directory: Path
    deps: object
    """Dependencies that the program has given for its tools."""
    agents: Agents
    caller: Caller
    gate: Gate
    bus: Bus
    keep: bool
    """True if calls outside of a conversation are stored."""

    @property
    def closed(self) -> bool: ...
    @property
    def store(self) -> PartStore: ...
    def use(self, kind: type[T]) -> T: ...
    def require_open(self) -> None: ...
    def check_rules(self, rules: Sequence[Rule]) -> None: ...
    def agent_named(self, agent: "str | Agent[Any]") -> str: ...
    def turns_of(self, session: "Session", conversation: "Conversation | None" = None) -> "Turns": ...
    async def load_session(self, session: "Session") -> None: ...
    async def end_session(self, session_id: str) -> None: ...


class Session(Prompting):
    """One conversation with its rules, records and calls. Use it as `async with`: leaving ends what it started."""

    def __init__(
        self,
        home: SessionOwner,
        *,
        id: str = "",  # noqa: A002 - the word the whole program uses
        agent: "str | Agent[Any]" = "",
        rules: Sequence[Rule] = (),
        parent: "Session | None" = None,
        provider: str = "",
        model: str = "",
        messages: "Sequence[Message]" = (),
    ) -> None:
        self.home = home
        self._begins_with = tuple(messages)
        self.resumes = bool(id)
        """Whether it is an earlier session, to be read from the store when it is entered."""
        self.id = id or new_id("ses")
        self.agent = home.agent_named(agent) if agent else home.agents.default().name
        """The agent that works unless a prompt names another."""
        self.rules = tuple(rules)
        self.parent = parent
        self.callers: tuple[str, ...] = (parent.id, *parent.callers) if parent else ()
        """The sessions above this one, the nearest first."""
        self.name: str = parent.name if parent else ""
        """By which people know the agent that works here, where that is in the background."""
        self.gate = home.gate
        self.provider = provider
        self.model = model
        self.order = CallOrder()
        self.brought = list[ToolPart]()
        """Calls that have ended, whose results nobody has looked at yet for texts of others."""
        self._flows: Flows | None = None
        self.closed = False
        self._turns: Turns | None = None
        self._idle: CallTerms | None = None
        self._ruled_agents: dict[str, tuple[Any, Any, RuledAgent]] = {}
        self._offered: tuple[Any, tuple[str, ...]] = (None, ())

    def __repr__(self) -> str:
        return f"<Session {self.id} agent={self.agent}{' closed' if self.closed else ''}>"

    async def __aenter__(self) -> "Session":
        self._require_open()
        if self.resumes:
            await self.home.load_session(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Prompts.

    async def _prompted(self, text: str, output: Any, options: "AskedOptions") -> "TurnResult[Any]":
        from toolwright.session.asking import answered, prompt_of

        self._require_open()
        return await answered(self, prompt_of(self, text, options, output=output))

    def _streamed(self, text: str, output: Any, options: "AskedOptions") -> "AsyncGenerator[TurnEvent[Any], None]":
        from toolwright.session.asking import prompt_of, stream

        self._require_open()
        return stream(self, prompt_of(self, text, options, output=output))

    async def go_on(
        self, *, model: "str | Model | None" = None, budget: "Budget | Mapping[str, Any] | None" = None
    ) -> "TurnResult":
        """Answer the newest prompt from its last finished step on: its process ended, or its machine did."""
        from toolwright.session.asking import go_on

        self._require_open()
        return await go_on(self, model=model, budget=budget)

    @property
    def waiting(self) -> "list[Question]":
        """The questions with which an earlier process has left the session; `resume` answers them."""
        from toolwright.session.turns.resuming import waiting_in

        return [] if not self.has_begun or self.turns.busy else waiting_in(self.conversation.messages)

    async def resume(
        self,
        question_id: str,
        reply: "Reply | str",
        *,
        model: "str | Model | None" = None,
        budget: "Budget | Mapping[str, Any] | None" = None,
    ) -> "TurnResult":
        """Answer a question that an earlier process has asked, and go on with the turn that waits for it."""
        from toolwright.session.turns.resuming import resume

        self._require_open()
        return await resume(self, question_id, reply, model=model, budget=budget)

    async def abort(self, reason: str = "the user stopped the turn") -> None:
        """Stop the turn that is under way and those that wait. When this returns, nothing of them is left to do."""
        if self._turns is not None:
            await self._turns.abort(reason)

    @property
    def turns(self) -> "Turns":
        """Return the turns that take the session's prompts; made with the first."""
        if self.resumes:
            raise UsageError(f"The session {self.id} is not read yet. Enter it: async with workspace.session(id=...).")
        if self._turns is None:
            self._turns = self.home.turns_of(self)
            if self._begins_with:
                from toolwright.session.first_messages import begin_with

                begin_with(self._turns.conversation, self._begins_with)
        return self._turns

    @property
    def messages(self) -> "list[Message]":
        """The conversation so far, as far as the model still goes by it; another session can begin with them."""
        return list(self.turns.conversation.messages) if self.has_begun else []

    @property
    def has_begun(self) -> bool:
        """Tell if there are records of it, or it is an earlier one; a new one is not stored because somebody looks."""
        return self._turns is not None or self.resumes or bool(self._begins_with)

    @property
    def conversation(self) -> "Conversation":
        return self.turns.conversation

    @property
    def info(self) -> "SessionInfo":
        return self.turns.conversation.info

    def attach(self, conversation: "Conversation") -> None:
        """Take over the records of the session, new or from the store."""
        last = conversation.last_user()
        if last is not None and last.agent in self.home.agents.by_name:
            self.agent = last.agent
        self.resumes = False
        self._turns = self.home.turns_of(self, conversation)

    # Rules.

    def permit(self, rules: Sequence[Rule] | Mapping[str, Any] | str) -> None:
        """Give the session rules of its own, in place of those it has; they hold from the next question on."""
        checked = given_rules(rules)
        self.home.check_rules(checked)
        self.take_rules(checked)

    def take_rules(self, rules: tuple[Rule, ...]) -> None:
        """The same for rules that come from elsewhere, which may name what is not there."""
        self.rules = rules
        if self._turns is not None:
            self._turns.store_rules()

    def ruled_agent_named(self, agent: str) -> RuledAgent:
        """An agent under all rules that hold for it here: its own, the session's, those of every session above."""
        above = self.parent.ruled_agent.policy if self.parent else None
        agents = self.home.agents
        agent_record = agents.by_name.get(agent) or agents[agent]
        known = self._ruled_agents.get(agent)
        if known is not None and known[0] is agent_record and known[1] == (self.rules, above):
            return known[2]
        ruled = agents.ruled(agent_record if self.parent is None else as_child(agent_record), self.rules, above)
        self._ruled_agents[agent] = (agent_record, (self.rules, above), ruled)
        return ruled

    @property
    def ruled_agent(self) -> RuledAgent:
        """Return the agent of the turn under way, or the session's own, under the rules that hold."""
        turn = self._turns.turn if self._turns is not None else None
        return self.ruled_agent_named(turn.agent.name if turn else self.agent)

    # Calls.

    @property
    def flows(self) -> "Flows":
        """Return what it has seen of texts that others wrote, and of secrets."""
        if self._flows is None:
            from toolwright.session.flows import Flows

            self._flows = Flows(self)
        return self._flows

    def idle_terms(self, agent: str = "") -> CallTerms:
        """The terms of a call that no prompt has asked for."""
        name = agent or self.agent
        return CallTerms(agent=self.ruled_agent_named(name).agent, provider=self.provider, model_id=self.model)

    async def call(self, tool: str, /, *misplaced: Never, **arguments: Any) -> Result:
        """Call a tool as the session's agent. Dates, paths and records among the arguments are written as JSON."""
        plain = not misplaced and type(tool) is str
        for value in arguments.values():
            plain = plain and isinstance(value, _JSON)
        if not plain:
            from toolwright.session.input_checks import as_arguments

            arguments = as_arguments(tool, misplaced, self._named(arguments))
        return await self.run_call(Call(id=new_id("call"), tool=tool, arguments=arguments))

    async def decide(self, tool: str, /, **arguments: Any) -> "CallDecision":
        """Return what the rules make of a call: allow, ask or deny, and why. Nothing is done and nobody is asked."""
        from toolwright.session.alone import decide

        self._require_open()
        return await decide(self, tool, arguments)

    async def run(
        self, command: str, *, seconds: float | None = None, workdir: str | Path | None = None
    ) -> "CommandOutcome":
        """Run a command of the program's own in the box of the project. A rule that denies it holds all the same."""
        from toolwright.session.alone import run_command

        self._require_open()
        options = {"timeout": None if seconds is None else int(seconds * 1000), "workdir": workdir and str(workdir)}
        return await run_command(self, command, {name: one for name, one in options.items() if one is not None})

    def _named(self, arguments: Json) -> Json:
        """The arguments with the names of agents in the place of the agents themselves."""
        from toolwright.session.agent import Agent

        return {name: self.home.agent_named(one) if isinstance(one, Agent) else one for name, one in arguments.items()}

    async def run_call(
        self,
        call: Call,
        terms: CallTerms | None = None,
        *,
        message_id: str = "",
        part: ToolPart | None = None,
        parent: str = "",
        log: list[AskedRequest] | None = None,
        journal: CallRecord | None = None,
        gate: Gate | None = None,
        granted: tuple[str, ...] = (),
    ) -> Result:
        """Run one call through the door. Its requests are written to `log`, if one is given.

        `part` is the record of a call that was announced before; a new one is made without it. `parent` is the call
        that makes this one, if one does. `journal` takes the place of the session's records, `gate` that of its gate.
        `granted` are the permissions that a person has given to the call as they have changed it.
        """
        if self.closed or self.home.closed:
            self._require_open()
        if terms is None:
            is_same = self._idle is not None and self._idle.agent.name == self.agent
            terms = self._idle = self._idle if self._idle and is_same else self.idle_terms()
        record = journal or self.record_of(call, part, message_id, parent)
        ruled = self.ruled_agent_named(terms.agent.name)
        asker = AskingCall(
            session_id=self.id,
            policy=ruled.policy,
            call=call,
            callers=self.callers,
            name=self.name,
            message_id=record.part.message_id,
            log=[] if log is None else log,
            current=lambda: self.ruled_agent_named(terms.agent.name).policy,
            waits=partial(self._waits, terms, record, not (self.callers or parent)),
            granted=granted,
        )
        record.asked = asker.log
        ctx = CallContext(
            session_id=self.id,
            message_id=asker.message_id,
            call_id=call.id,
            agent=terms.agent.name,
            directory=self.home.directory,
            abort=terms.abort,
            mentioned=terms.mentioned,
            parent=parent,
            deps=self.home.deps,
            session=self,
            terms=terms,
            policy=ruled.policy,
            gate=gate or self.gate,
            asker=asker,
            record=record,
        )
        registry, agent = self.home.caller.registry, terms.agent
        limited = terms.withheld or terms.wanted is not None or agent.only_tools is not None or registry.owners
        if limited and not self._has(terms, registry.resolved(call.tool)):
            return await self.refuse(call, terms, record, self._withheld(call.tool, terms))
        try:
            result = await self.home.caller.call_tool(call, ctx, record, self.order)
        except CallChanged as change:
            record.note = CHANGED
            changed = replace(call, arguments=change.arguments)
            more: Any = {"parent": parent, "log": log, "journal": record, "gate": gate}
            return await self.run_call(changed, terms, granted=change.permissions, **more)
        if not isinstance(result.error, DryRunOver):
            self._take_in(record.part)
        if result.error is not None and terms.spending is not None:
            terms.spending.note_refused(self.id, call, result)
        return result

    def _take_in(self, part: ToolPart) -> None:
        """Note what a call has brought, here and in the sessions above; `flows` looks at it when it matters."""
        above: Session | None = self
        while above is not None:
            above.brought.append(part)
            if len(above.brought) >= BROUGHT:
                above.flows.look()
            above = above.parent

    def _waits(self, terms: CallTerms, record: CallRecord, is_kept: bool, question: "Question | None") -> None:
        """Note what a call waits for, and how long. What is left behind without a word stays noted, if it is kept."""
        record.count_waiting(waits=question is not None)
        if is_kept and (question is not None or terms.abort.reason not in LEFT_BEHIND):
            record.waits(question)

    async def refuse(self, call: Call, terms: CallTerms, record: CallRecord, error: ToolError) -> Result:
        """Close the record of a call that is not going to be run."""
        record.running(call)
        result = Result.failed(error)
        await record.finished(call, result)
        if terms.spending is not None:
            terms.spending.note_refused(self.id, call, result)
        return result

    def _has(self, terms: CallTerms, tool_id: str) -> bool:
        """Tell whether the prompt leaves a tool on, and the agent has it."""
        return terms.offers(tool_id) and self.home.caller.registry.has(terms.agent.name, tool_id)

    def _withheld(self, tool: str, terms: CallTerms) -> ToolError:
        registry = self.home.caller.registry
        tool_id = registry.resolved(tool)
        only = terms.agent.only_tools
        if not registry.has(terms.agent.name, tool_id) or (
            only is not None and tool_id in registry and tool_id not in only
        ):
            return PermissionDenied(f"{terms.agent.name} has no tool {tool_id!r}. Go on without it.")
        if tool_id in registry:
            return PermissionDenied(f"{tool} is switched off for this prompt. Go on without it.")
        return UnknownTool(registry.unknown(tool, self.offered(terms)))

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

    async def ask_for(self, call: Call, terms: CallTerms, request: Request, message_id: str) -> None:
        """Ask about a call before it is made."""
        policy = self.ruled_agent_named(terms.agent.name).policy
        asker = AskingCall(
            session_id=self.id,
            policy=policy,
            call=call,
            callers=self.callers,
            name=self.name,
            message_id=message_id,
        )
        await self.gate.ask(asker, [request])

    def offered(self, terms: CallTerms | None = None) -> tuple[str, ...]:
        """The ids of the tools an agent has on its model; remembered, because every step wants to know."""
        terms = terms or self.idle_terms()
        registry, ruled = self.home.caller.registry, self.ruled_agent_named(terms.agent.name)
        agent = (terms.agent.name, terms.agent.only_tools)
        model = (terms.provider, terms.model_id)
        circumstances = (registry.version, *model, *agent, terms.withheld, terms.wanted, ruled.policy)
        if self._offered[0] != circumstances:
            offered = registry.offered(terms.provider, terms.model_id, ruled)
            self._offered = (circumstances, tuple(filter(terms.offers, offered)))
        return self._offered[1]

    # The end.

    async def close(self) -> None:
        """End what the session has under way, and let go of everything kept for it. Its records stay."""
        if self.closed:
            return
        self.closed = True
        await self.abort(CLOSED)
        await self.home.end_session(self.id)

    def _require_open(self) -> None:
        if self.home.closed:
            self.home.require_open()
        if self.closed:
            raise UsageError(f"The session {self.id} was left. Open it again with workspace.session(id=...).")


@record(frozen=True, slots=True, kw_only=True, repr=False)
class CallContext(ToolContext):
    """Context of one call, as its session offers it."""

    session: Session
    terms: CallTerms
    policy: Policy
    gate: Gate
    asker: AskingCall
    record: CallRecord

    async def ask_all(self, *requests: Request) -> None:
        if any(request.acts for request in requests):
            requests = await self.session.flows.weighed(requests, self.policy)
        await self.gate.ask(self.asker, requests)

    def check(self, *requests: Request) -> None:
        self.gate.check(self.asker, requests)

    def decide(self, permission: str, pattern: str) -> Action:
        return self.policy.decide(permission, pattern).action

    def hides(self, permission: str) -> bool:
        return self.policy.hides(permission)

    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        return self.policy.about(permission)

    def asked_by_user(self, permission: str) -> tuple[str, ...]:
        return self.policy.asked_by_user(permission)

    def metadata(self, title: str | None = None, metadata: Json | None = None) -> None:
        self.record.progress(title, metadata or {})

    async def call(self, tool: str, arguments: Json) -> Result:
        inner = Call(id=new_id("call"), tool=tool, arguments=arguments)
        return await self.session.run_call(
            inner, self.terms, message_id=self.message_id, parent=self.call_id, log=self.asker.log, gate=self.gate
        )

    def use(self, kind: type[T]) -> T:
        return self.session.home.use(kind)

    @property
    def offered(self) -> tuple[str, ...]:
        return self.session.offered(self.terms)

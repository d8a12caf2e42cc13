"""The turns of one session: one at a time, each caller its own answer, stoppable at any moment."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from toolwright.agents import Agent
from toolwright.clock import now
from toolwright.errors import ToolwrightError, UsageError
from toolwright.ids import new_id
from toolwright.messages import AgentPart, Assistant, Failure, Message, ModelRef, Moment, TextPart, User
from toolwright.models.families import require_price
from toolwright.models.model import Model, ModelError
from toolwright.models.retry import RetryPolicy
from toolwright.parts import Part, new_part
from toolwright.permission.rules import Rule
from toolwright.session.budget import Budget, LimitReached, Spending
from toolwright.session.changes import Changes
from toolwright.session.compaction import make_room, prune
from toolwright.session.conversation import Conversation
from toolwright.session.events import SessionDiff, SessionIdle, SessionStatus
from toolwright.session.failures import aborted, failure_of, limit, other
from toolwright.session.history import History
from toolwright.session.instructions import Instructions
from toolwright.session.loop import answer
from toolwright.session.prompt import Prompt, PromptReader
from toolwright.session.queue import Queue, Stopped, Work
from toolwright.session.session import Session
from toolwright.session.system import reminder
from toolwright.session.turn import CompactionSettings, Toolbox, Turn, close_open_calls
from toolwright.tool import Abort
from toolwright.wire import to_json

Json = dict[str, Any]

STOPPED = "the user stopped the turn"
CALLER_GONE = "whoever had asked for it was stopped"
_NO_MODEL = (
    "No model is chosen. Set `model` in toolwright.json or name one with --model provider/model; "
    "tw models lists them, and tw demo shows a session that needs none."
)


class SessionBusy(UsageError):
    """Something was asked for that cannot be done while the session works."""


async def _free() -> None:
    """For a session that no other process can reach."""


@dataclass(slots=True, kw_only=True, eq=False)
class Turns:
    """Takes prompts for one session. A prompt that comes while another is answered waits its turn."""

    session: Session
    conversation: Conversation
    connect: Callable[[str], Model]
    instructions: Instructions
    changes: Changes
    default_agent: str
    default_model: str = ""
    colleagues: tuple[str, ...] = ()
    """The agents a prompt may mention."""
    rules: list[Rule] = field(default_factory=list[Rule])
    """The session's own rules; what is changed in this list holds from the next turn on."""
    budget: Budget = field(default_factory=Budget)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    go_on_after_reject: bool = False
    on_prompt: "list[Callable[[Turns, Message, Model], None]]" = field(default_factory=list)
    """Told of every prompt before it is answered."""
    take: Callable[[], Awaitable[None]] = _free
    let_go: Callable[[], None] = lambda: None
    """Called when work on the session begins and when it has ended, for whoever keeps other processes away."""
    is_taken: Callable[[str], bool] = lambda _: False
    """Whether a message of this id is stored already, in any session."""
    spending: Spending | None = None
    """What the turn that is under way has taken."""
    above: Spending | None = None
    """The same of the caller, where another session works through this one."""
    history: History = field(default_factory=History)
    toolbox: Toolbox = field(default_factory=Toolbox)
    _queue: Queue[Message] = field(default_factory=Queue[Message])

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def require_rest(self) -> None:
        """Raise SessionBusy while the session works."""
        if self.busy:
            raise SessionBusy(f"{self.session.id} is at work. Wait until it is done, or stop it first.")

    async def prompt(self, prompt: Prompt) -> Message:
        """Answer one prompt. What goes wrong on the way is said in the message; only bad input raises."""
        prompt.check()
        return await self._queue.run(lambda work: self._answered(work, prompt), CALLER_GONE)

    async def compact(self, model: str = "") -> Message:
        """Put a summary in the place of the conversation so far, and return it."""
        if self.conversation.last_user() is None:
            raise UsageError("There is nothing to summarise yet.")
        return await self._queue.run(lambda work: self._compacted(work, model), CALLER_GONE)

    async def abort(self, reason: str = STOPPED) -> None:
        """Stop the turn that is under way and those that wait. When this returns, nothing of them is left to do."""
        await self._queue.stop(reason)

    # What a turn consists of.

    async def _answered(self, work: Work[Message], prompt: Prompt) -> Message:
        agent, model = self._choose(prompt.agent, prompt.model)
        if prompt.message_id and self.is_taken(prompt.message_id):
            raise UsageError(f"There is a message {prompt.message_id!r} already.")
        await self.take()
        try:
            self._forget_reverted()
            user = self._added(prompt, agent, model)
            turn = self._begin(agent, model, prompt)
            for listener in self.on_prompt:
                listener(self, user, model)
            message = await self._carried_out(work, turn, lambda: self._answer(turn, user, prompt))
            if self.compaction.prune:
                prune(turn)
            return message
        finally:
            await self._rest()

    async def _compacted(self, work: Work[Message], model_name: str) -> Message:
        agent, model = self._choose("", model_name)
        await self.take()
        try:
            turn = self._begin(agent, model, Prompt(text=""))
            return await self._carried_out(work, turn, lambda: self._compact(turn))
        finally:
            await self._rest()

    async def _answer(self, turn: Turn, user: Message, prompt: Prompt) -> Message:
        reader = PromptReader(session=self.session, message_id=user.info.id, agents=self.colleagues)
        async for part in reader.attached(prompt):
            self.conversation.put(part)
        named = tuple(part.name for part in user.parts.values() if isinstance(part, AgentPart))
        self.session.extra = {"mentioned_agents": named}
        return await answer(turn)

    async def _compact(self, turn: Turn) -> Message:
        await make_room(turn, auto=False)
        return self.conversation.messages[-1]

    async def _carried_out(self, work: Work[Message], turn: Turn, steps: "Callable[[], Awaitable[Message]]") -> Message:
        """Let the steps run until they are done or stopped, and return the message that ends the turn."""
        work.on_stop = self.session.abort.set
        try:
            return await work.carry_out(lambda: _in_time(turn, steps))
        except Stopped as stopped:
            return self._closed(turn, aborted(stopped.reason or STOPPED))
        except LimitReached as error:
            return self._closed(turn, limit(str(error)))
        except ModelError as error:
            return self._closed(turn, failure_of(error))
        except ToolwrightError as error:
            return self._closed(turn, other(str(error)))
        except BaseException as bug:
            self._closed(turn, other(f"The program broke: {type(bug).__name__}: {bug}"))
            raise

    # Before and after.

    def _choose(self, agent_name: str, model_name: str) -> tuple[Agent, Model]:
        """The agent and the model: those of the prompt, of the agent, of the last prompt, or the default ones."""
        last = self.conversation.last_user()
        agent = self.session.standing_of(agent_name or (last.agent if last else self.default_agent)).agent
        name = model_name or agent.model or (str(last.model) if last else "") or self.default_model
        if not name:
            raise UsageError(_NO_MODEL)
        model = self.connect(name)
        if self.budget.cost is not None:
            require_price(model.info)
        return agent, model

    def _forget_reverted(self) -> None:
        """What was taken back by turn is gone for good once the user goes on from there."""
        mark = self.conversation.info.revert
        if mark is None:
            return
        if "messageID" in mark:
            self.conversation.remove_from(mark["messageID"])
        self.conversation.change(replace(self.conversation.info, revert=None))

    def _added(self, prompt: Prompt, agent: Agent, model: Model) -> Message:
        """The prompt as a message, on its way to disk at once; what it speaks of is looked up later."""
        before = self.conversation.last_user()
        info = User(
            id=prompt.message_id or new_id("msg"),
            session_id=self.session.id,
            time=Moment(created=now()),
            agent=agent.name,
            model=ModelRef(provider_id=model.info.provider, model_id=model.info.id),
            system=prompt.system or None,
            tools=prompt.tools or None,
            variant=prompt.variant or None,
        )
        keys = (self.session.id, info.id)
        parts: list[Part] = [TextPart(**new_part(*keys), text=prompt.text)] if prompt.text else []
        if words := reminder(agent.name, before.agent if before else "", before.time.created if before else 0):
            parts.append(TextPart(**new_part(*keys), text=words, synthetic=True))
        message = self.conversation.add(info, parts)
        self.conversation.change(self.conversation.info)
        return message

    def _begin(self, agent: Agent, model: Model, prompt: Prompt) -> Turn:
        session = self.session
        session.renew(agent.name)
        session.abort = Abort()
        session.provider, session.model = model.info.provider, model.info.api_id
        session.withheld = frozenset(name for name, wanted in prompt.tools.items() if not wanted)
        self.changes.fresh()
        self.spending = Spending(budget=self.budget, above=self.above)
        self._tell({"type": "busy"})
        return Turn(
            session=session,
            conversation=self.conversation,
            history=self.history,
            model=model,
            instructions=self.instructions,
            toolbox=self.toolbox,
            spending=self.spending,
            retry=self.retry,
            compaction=self.compaction,
            changed=self.changes.fresh,
            go_on_after_reject=self.go_on_after_reject,
        )

    def _closed(self, turn: Turn, failure: Failure) -> Message:
        """End the turn as failed: every call that is still open is closed, and the last reply says why."""
        last = self.conversation.messages[-1]
        message = last if isinstance(last.info, Assistant) else turn.begin_reply()
        for earlier in self.conversation.messages[-3:-1]:
            close_open_calls(self.conversation, earlier, str(failure.data["message"]))
        turn.fail(message, failure)
        return message

    async def _rest(self) -> None:
        """Everything of the turn is over: sum up, let go, and only then say so."""
        try:
            await self._sum_up()
            self.spending = None
            self.let_go()
            await self.conversation.settled()
        finally:
            self._tell({"type": "idle"})
            self.conversation.bus.publish(SessionIdle(session_id=self.session.id))

    async def _sum_up(self) -> None:
        changes = await asyncio.to_thread(self.changes.sum_up)
        if changes:
            self.conversation.change(replace(self.conversation.info, summary=self.changes.totals()))
            diff = tuple(to_json(change) for change in changes)
            self.conversation.bus.publish(SessionDiff(session_id=self.session.id, diff=diff))

    def _tell(self, status: Json) -> None:
        self.conversation.bus.publish(SessionStatus(session_id=self.session.id, status=status))


async def _in_time(turn: Turn, steps: "Callable[[], Awaitable[Message]]") -> Message:
    """The same within the time that the budget leaves."""
    try:
        async with asyncio.timeout(turn.spending.seconds_left()) as limits:
            return await steps()
    except TimeoutError:
        if not limits.expired():
            raise
        turn.spending.check()
        raise LimitReached("The turn has used up its time. Raise the budget to go on.") from None

"""The turns of one session: one at a time, each caller its own answer, stoppable at any moment."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import field, replace

from toolwright.agents import Agent
from toolwright.definition import Call
from toolwright.errors import ToolwrightError, UsageError
from toolwright.ids import new_id, now
from toolwright.inbox import WrongAnswer
from toolwright.jsontypes import Json
from toolwright.messages import AgentPart, Assistant, Failure, Message, ModelRef, Moment, TextPart, User, new_part
from toolwright.models.families import require_price, require_variant
from toolwright.models.hooked import HookedModel
from toolwright.models.model import Model, ModelError
from toolwright.parts import Part
from toolwright.record import record
from toolwright.session.answering import Answering, Toolbox, close_open_calls
from toolwright.session.budget import LimitReached, Spending, in_time
from toolwright.session.changes import Changes, FileChange
from toolwright.session.compaction import make_room, prune
from toolwright.session.conversation import Conversation
from toolwright.session.events import SessionDiff, SessionIdle, SessionStatus
from toolwright.session.failures import aborted, failure_of, limit, other
from toolwright.session.history import History
from toolwright.session.instructions import Instructions
from toolwright.session.loop import answer
from toolwright.session.owner import Owner
from toolwright.session.prompt import Prompt, PromptReader
from toolwright.session.queue import Queue, Stopped, Work
from toolwright.session.repair import repair
from toolwright.session.result import TurnEnd
from toolwright.session.session import Session
from toolwright.session.store import Store
from toolwright.session.system import reminder
from toolwright.session.turn import Turn
from toolwright.session.turn_settings import PromptHook, TurnSettings
from toolwright.wire import to_json

log = logging.getLogger(__name__)

STOPPED = "the user stopped the turn"
CALLER_GONE = "whoever had asked for it was stopped"
_NO_MODEL = (
    "No model is chosen. Set `model` in toolwright.json or name one with --model provider/model; "
    "tw models lists them, and tw demo shows a session that needs none."
)


class SessionBusy(UsageError):
    """Something was asked for that cannot be done while the session works."""


_Begun = tuple[Answering, Callable[[], Awaitable[Message]]]
"""A turn and the steps that are left to take."""


@record(slots=True, kw_only=True, eq=False)
class Turns:
    """Takes prompts for one session. A prompt that comes while another is answered waits its turn."""

    session: Session
    conversation: Conversation
    store: Store
    owner: Owner
    connect: Callable[[str], Model]
    instructions: Instructions
    changes: Changes
    settings: TurnSettings
    named: "Callable[[Turns, Message, Model], None]"
    """Told of every prompt before it is answered, to give the session a title."""
    spending: Spending | None = None
    """What the turn that is under way has taken."""
    above: Spending | None = None
    """The same of the caller, where another session works through this one."""
    history: History = field(default_factory=History)
    toolbox: Toolbox = field(default_factory=Toolbox)
    turn: Turn | None = None
    """The turn that is under way."""
    _queue: Queue[TurnEnd] = field(default_factory=Queue[TurnEnd])
    _heard: list[str] = field(default_factory=list[str])
    """What the user has said during the turn and the model has not been told."""

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def require_rest(self) -> None:
        """Raise SessionBusy while the session works."""
        if self.busy:
            raise SessionBusy(f"{self.session.id} is at work. Wait until it is done, or stop it first.")

    async def answer(self, prompt: Prompt) -> TurnEnd:
        """Answer one prompt. What goes wrong on the way is said in the message; only bad input raises."""
        proceed: Callable[[Prompt], Awaitable[TurnEnd]] = self._answer_in_turn
        for hook in reversed(self.settings.prompt_hooks):
            proceed = _around(hook, proceed, self.session.id)
        try:
            end: object = await proceed(prompt)
        except ToolwrightError:
            raise
        except Exception as bug:
            log.exception("a hook around a prompt of %s broke", self.session.id)
            return await self._broken_off(prompt, bug)
        if isinstance(end, TurnEnd):
            return end
        return await self._broken_off(prompt, TypeError(f"a hook around prompts returned {end!r:.60}"))

    async def _broken_off(self, prompt: Prompt, bug: Exception) -> TurnEnd:
        """The turn of a prompt that could not be answered, because a hook broke: told like any other failure."""

        async def fail() -> Message:
            raise bug

        return await self._queue.run(lambda work: self._answered(work, prompt, fail), CALLER_GONE)

    async def _answer_in_turn(self, prompt: Prompt) -> TurnEnd:
        prompt.check()
        return await self._queue.run(lambda work: self._answered(work, prompt), CALLER_GONE)

    async def go_on(self, prompt: Prompt) -> TurnEnd:
        """Work on with a turn that was broken off between two steps. The prompt says how, its words stand there."""
        return await self._queue.run(lambda work: self._gone_on(work, prompt), CALLER_GONE)

    async def carry_out(self, prompt: Prompt, steps: Callable[[], Awaitable[Message]]) -> TurnEnd:
        """A turn whose steps are not the model's: a prompt without an answer, or a command of the user's.

        Such a prompt may say nothing at all, but who works from now on.
        """
        if prompt.text or prompt.files:
            prompt.check()
        return await self._queue.run(lambda work: self._answered(work, prompt, steps), CALLER_GONE)

    async def compact(self, model: str = "") -> Message:
        """Put a summary in the place of the conversation so far, and return it."""
        if self.conversation.last_user() is None:
            raise UsageError("There is nothing to summarise yet.")
        return (await self._queue.run(lambda work: self._compacted(work, model), CALLER_GONE)).message

    async def abort(self, reason: str = STOPPED) -> None:
        """Stop the turn that is under way and those that wait. When this returns, nothing of them is left to do."""
        await self._queue.stop(reason)

    def steer(self, text: str) -> bool:
        """Tell the model something before its next step. False, and nothing is kept, if no turn is under way."""
        if self.turn is not None:
            self._heard.append(text)
        return self.turn is not None

    def store_rules(self) -> None:
        """The session's own rules have changed: keep them with it."""
        rules = tuple(
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action, "source": rule.source}
            for rule in self.session.rules
        )
        self.conversation.change(replace(self.conversation.info, permission=rules or None))

    # What a turn consists of.

    async def _answered(
        self, work: Work[TurnEnd], prompt: Prompt, steps: "Callable[[], Awaitable[Message]] | None" = None
    ) -> TurnEnd:
        agent, model = self._choose(prompt.agent, prompt.model)
        if (prompt.budget or self.settings.budget).cost is not None:
            require_price(model.info)
        require_variant(model.info, prompt.variant)
        if prompt.message_id and await self.store.knows(prompt.message_id):
            raise UsageError(f"There is a message {prompt.message_id!r} already.")

        async def begin() -> _Begun:
            await self._forget_reverted()
            user = self._added(prompt, agent, model)
            turn = self._begin(agent, model, prompt)
            self.named(self, user, model)
            return turn, steps or (lambda: self._answer(turn, user, prompt))

        return await self._worked(work, begin)

    async def _gone_on(self, work: Work[TurnEnd], prompt: Prompt) -> TurnEnd:
        agent, model = self._choose(prompt.agent, prompt.model)

        async def begin() -> _Begun:
            turn = self._begin(agent, model, prompt)
            self._recount(turn)
            return turn, lambda: answer(turn)

        return await self._worked(work, begin)

    async def _compacted(self, work: Work[TurnEnd], model_name: str) -> TurnEnd:
        agent, model = self._choose("", model_name)

        async def begin() -> _Begun:
            turn = self._begin(agent, model, Prompt(text=""))
            return turn, lambda: self._compact(turn)

        return await self._worked(work, begin)

    async def _worked(self, work: Work[TurnEnd], begin: Callable[[], "Awaitable[_Begun]"]) -> TurnEnd:
        """A turn from its begin to its end, with the session kept from other processes meanwhile."""
        await self._take()
        try:
            turn, steps = await begin()
            message = await self._carried_out(work, turn, steps)
            if turn.compaction.prune:
                prune(turn)
        finally:
            changes = await self._rest()
        return TurnEnd(message=message, spending=turn.spending, changes=changes)

    async def _answer(self, turn: Answering, user: Message, prompt: Prompt) -> Message:
        reader = PromptReader(
            session=self.session, turn=turn.turn, message_id=user.info.id, agents=self.settings.mentionable
        )
        async for part in reader.attached(prompt):
            self.conversation.put(part)
        self._note_mentioned(turn, user)
        return await answer(turn)

    def _note_mentioned(self, turn: Answering, user: Message) -> None:
        named = tuple(part.name for part in user.parts.values() if isinstance(part, AgentPart))
        turn.turn = self.turn = replace(turn.turn, mentioned=named)

    def _recount(self, turn: Answering) -> None:
        """What the turn has taken before it was broken off counts as well."""
        for message in self.conversation.messages:
            if message.info.id == turn.user.id:
                self._note_mentioned(turn, message)
            elif isinstance(message.info, Assistant) and message.info.parent_id == turn.user.id:
                turn.spending.steps += not message.info.summary
                turn.count(message)
                calls = (Call(id=one.call_id, tool=one.tool, arguments=one.state.input) for one in message.calls)
                turn.repeats.recall(calls)

    async def _compact(self, turn: Answering) -> Message:
        await make_room(turn, auto=False)
        return self.conversation.messages[-1]

    async def _carried_out(
        self, work: Work[TurnEnd], turn: Answering, steps: "Callable[[], Awaitable[Message]]"
    ) -> Message:
        """Let the steps run until they are done or stopped, and return the message that ends the turn."""
        work.on_stop = turn.turn.abort.set
        try:
            return await work.carry_out(lambda: in_time(turn.spending, steps))
        except Stopped as stopped:
            return self._closed(turn, aborted(stopped.reason or STOPPED))
        except LimitReached as error:
            return self._closed(turn, limit(str(error)))
        except ModelError as error:
            return self._closed(turn, failure_of(error))
        except WrongAnswer as error:
            self._closed(turn, other(str(error)))
            raise
        except ToolwrightError as error:
            return self._closed(turn, other(str(error)))
        except Exception as bug:
            log.exception("a turn of %s broke", self.session.id)
            return self._closed(turn, other(f"The program broke: {type(bug).__name__}: {bug}"))

    # Before and after.

    async def _take(self) -> None:
        """Keep other processes away, and catch up with what one of them has written since we last looked."""
        conversation = self.conversation
        await self.store.take(conversation.id, self.owner)
        stored = await self.store.session(conversation.id)
        if (stored.time.updated or 0) > (conversation.info.time.updated or 0):
            await conversation.reload(stored)
            repair(conversation)
            self.history = History()

    def _choose(self, agent_name: str, model: "str | Model") -> tuple[Agent, Model]:
        """The agent and the model: those of the prompt, of the agent, of the last prompt, or the default ones."""
        last = self.conversation.last_user()
        agent = self.session.ruled_agent_named(agent_name or (last.agent if last else "") or self.session.agent).agent
        chosen = model or agent.model or (str(last.model) if last else "") or self.settings.default_model
        if not chosen:
            raise UsageError(_NO_MODEL)
        opened = self.connect(chosen) if isinstance(chosen, str) else chosen
        hooks = self.settings.request_hooks
        return agent, HookedModel(opened, hooks, self.session.id) if hooks else opened

    async def _forget_reverted(self) -> None:
        """What was taken back by turn is gone for good once the user goes on from there."""
        mark = self.conversation.info.revert
        if mark is None:
            return
        if "messageID" in mark:
            await self.conversation.recall(mark["messageID"])
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
        if words := reminder(agent.name, before.agent if before else ""):
            parts.append(TextPart(**new_part(*keys), text=words, synthetic=True))
        message = self.conversation.add(info, parts)
        self.conversation.change(self.conversation.info)
        return message

    def _hear(self) -> bool:
        """What the user has said meanwhile becomes a message of its own."""
        last = self.conversation.last_user()
        if not self._heard or last is None:
            return False
        text, self._heard = "\n\n".join(self._heard), []
        info = replace(last, id=new_id("msg"), time=Moment(created=now()))
        self.conversation.add(info, [TextPart(**new_part(info.session_id, info.id), text=text)])
        return True

    def _begin(self, agent: Agent, model: Model, prompt: Prompt) -> Answering:
        settings = self.settings
        self._heard.clear()
        self.changes.fresh()
        budget = (prompt.budget or settings.budget).within(settings.bounds)
        self.spending = Spending(budget=budget, above=self.above)
        self.turn = Turn(
            agent=agent,
            model=model,
            provider=model.info.provider,
            model_id=model.info.api_id,
            withheld=frozenset(name for name, wanted in prompt.tools.items() if not wanted),
            wanted=None if prompt.only_tools is None else frozenset(prompt.only_tools),
            spending=self.spending,
        )
        self._tell({"type": "busy"})
        return Answering(
            turn=self.turn,
            session=self.session,
            conversation=self.conversation,
            history=self.history,
            model=model,
            instructions=self.instructions,
            toolbox=self.toolbox,
            spending=self.spending,
            retry=settings.retry,
            compaction=settings.compaction,
            changed=self.changes.fresh,
            hear=self._hear,
            go_on_after_reject=settings.go_on_after_reject,
            compaction_hooks=settings.compaction_hooks,
        )

    def _closed(self, turn: Answering, failure: Failure) -> Message:
        """End the turn as failed: every call that is still open is closed, and the last reply says why."""
        last = self.conversation.messages[-1]
        message = last if isinstance(last.info, Assistant) else turn.begin_reply()
        for earlier in self.conversation.messages[-3:-1]:
            close_open_calls(self.conversation, earlier, str(failure.data["message"]))
        turn.fail(message, failure)
        return message

    async def _rest(self) -> tuple[FileChange, ...]:
        """Everything of the turn is over: sum up, let go, and only then say so."""
        try:
            changes = await self._sum_up()
            self.session.agent = self.turn.agent.name if self.turn else self.session.agent
            self.spending = self.turn = None
            self.store.let_go(self.conversation.id, self.owner)
            await self.conversation.settled()
            return changes
        finally:
            self._tell({"type": "idle"})
            self.conversation.tell(SessionIdle(session_id=self.session.id))

    async def _sum_up(self) -> tuple[FileChange, ...]:
        changes = tuple(await asyncio.to_thread(self.changes.sum_up))
        if changes:
            self.conversation.change(replace(self.conversation.info, summary=self.changes.totals()))
            standing = await asyncio.to_thread(self.changes.standing, changes)
            diff = tuple(to_json(change) for change in standing)
            self.conversation.tell(SessionDiff(session_id=self.session.id, diff=diff))
        return changes

    def _tell(self, status: Json) -> None:
        self.conversation.tell(SessionStatus(session_id=self.session.id, status=status))


def _around(
    hook: PromptHook, proceed: Callable[[Prompt], Awaitable[TurnEnd]], session_id: str
) -> Callable[[Prompt], Awaitable[TurnEnd]]:
    return lambda prompt: hook(proceed, prompt, session_id)

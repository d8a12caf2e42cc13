"""The turns of one session: one at a time, each caller its own answer, stoppable at any moment."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import field, replace

from toolwright.agents import Agent
from toolwright.calls.parts import Part
from toolwright.deadline import to_the_end
from toolwright.definition import Call
from toolwright.errors import SessionBusy, ToolwrightError, UsageError
from toolwright.inbox import WrongAnswer
from toolwright.messages import TYPED, Assistant, Failure, Message, ModelRef, Moment, TextPart, User, new_part
from toolwright.models.hooked import HookedModel
from toolwright.models.known.families import require_price, require_variant
from toolwright.models.model import Model, ModelError
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.budget import Budget, LimitReached, Spending, in_time
from toolwright.session.events import SessionDiff, SessionIdle, SessionStatus
from toolwright.session.prompt import Prompt
from toolwright.session.records.conversation import Conversation
from toolwright.session.records.history import History
from toolwright.session.result import TurnEnd
from toolwright.session.session import Session
from toolwright.session.storage.owner import Owner
from toolwright.session.store import Store
from toolwright.session.subagents.background import BackgroundAgents
from toolwright.session.turns.between_steps import PendingInput
from toolwright.session.turns.compaction import make_room, prune
from toolwright.session.turns.failures import aborted, failure_of, limit, other
from toolwright.session.turns.instructions import Instructions, reminder
from toolwright.session.turns.loop import answer, attach, note_mentioned, take_and_answer
from toolwright.session.turns.queue import Queue, QueuedWork, Stopped
from toolwright.session.turns.repair import repair
from toolwright.session.turns.repeats import Repeats
from toolwright.session.turns.settings import PromptHook, TurnSettings
from toolwright.session.turns.turn import Toolbox, Turn, close_open_calls
from toolwright.session.undo.changes import ChangedFile, Changes
from toolwright.text.ids import new_id, now

log = logging.getLogger(__name__)

STOPPED = "the user stopped the turn"
CALLER_GONE = "whoever had asked for it was stopped"
_NO_MODEL = (
    "No model is chosen. Set `model` in toolwright.json or name one, by --model provider/model or by model= in Python; "
    "tw models lists them, and tw demo shows a session that needs none."
)


Begin = Callable[[Turn], Awaitable[None]]
"""Work that is done before the steps of a turn, and always to its end."""
Steps = Callable[[Turn], Awaitable[Message]]
"""Steps of a turn until its last message."""


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
    background: BackgroundAgents
    first_prompt: "Callable[[Turns, Message, Model], None]"
    """Told of the first prompt before it is answered, to give the session a title."""
    above: Spending | None = None
    """Spending of the caller's turn, where another session works through this one."""
    history: History = field(default_factory=History)
    toolbox: Toolbox = field(default_factory=Toolbox)
    turn: Turn | None = None
    """The turn that is under way."""
    _queue: Queue[TurnEnd] = field(default_factory=Queue[TurnEnd])
    _brought: dict[str, Model] = field(default_factory=dict[str, Model])
    """The models that prompts and agents have brought as objects, by the names that messages have of them."""
    pending: PendingInput = field(default_factory=PendingInput)
    """Words and notices from the background that came during the turn, and that the model has not been told."""

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def require_rest(self) -> None:
        """Raise SessionBusy while the session works."""
        if self.busy:
            raise SessionBusy(f"{self.session.id} is at work. Wait until it is done, or stop it first.")

    async def answer(self, prompt: Prompt) -> TurnEnd:
        """Answer one prompt. What goes wrong on the way is said in the message; only bad input raises."""
        proceed: Callable[[Prompt], Awaitable[TurnEnd]] = self._answer
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

    async def answer_whole(self, prompt: Prompt) -> TurnEnd:
        """Answer a prompt, until its goal is reached or given up if it has one, and return how its last turn ended."""
        if prompt.until is None:
            return await self.answer(prompt)
        from toolwright.session.asking import reached

        return await reached(self.session, prompt)

    async def _broken_off(self, prompt: Prompt, bug: Exception) -> TurnEnd:
        """The turn of a prompt that could not be answered, because a hook broke: told like any other failure."""

        async def fail(_: Turn) -> Message:
            raise bug

        return await self.take_steps(prompt, self._add_prompt, fail)

    async def _answer(self, prompt: Prompt) -> TurnEnd:
        prompt.check()
        return await self.take_steps(prompt, self._add_prompt, take_and_answer)

    async def go_on(self, prompt: Prompt, steps: Steps | None = None) -> TurnEnd:
        """Work on with a turn that was broken off between two steps. The prompt says how, its words stand there."""
        return await self.take_steps(prompt, self._recount, steps or answer)

    async def carry_out(self, prompt: Prompt, steps: Steps) -> TurnEnd:
        """A turn whose steps are not the model's: a prompt without an answer, or a command of the user's.

        Such a prompt may say nothing at all, but who works from now on.
        """
        if prompt.text or prompt.files:
            prompt.check()
        return await self.take_steps(prompt, self._add_prompt, steps)

    async def take(self, prompt: Prompt) -> TurnEnd:
        """Add a prompt to the conversation without an answer."""
        return await self.carry_out(prompt, attach)

    async def compact(self, model: str = "") -> Message:
        """Put a summary in the place of the conversation so far, and return it."""
        if self.conversation.last_user() is None:
            raise UsageError("There is nothing to summarise yet.")
        return (await self.take_steps(Prompt(text="", model=model), _nothing, _compact)).message

    async def abort(self, reason: str = STOPPED) -> None:
        """Stop the turn that is under way and those that wait. When this returns, nothing of them is left to do."""
        await self._queue.stop(reason)

    def steer(self, text: str) -> bool:
        """Tell the model something before its next step. False, and nothing is kept, if no turn is under way."""
        if self.turn is not None:
            self.pending.say(text)
        return self.turn is not None

    def store_rules(self) -> None:
        """The session's own rules have changed: keep them with it."""
        rules = tuple(
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action, "source": rule.source}
            for rule in self.session.rules
        )
        self.conversation.change(replace(self.conversation.info, permission=rules or None))

    # One turn, from its begin to its end.

    async def take_steps(self, prompt: Prompt, begin: Begin, steps: Steps) -> TurnEnd:
        """Take the turn when the session is free for it."""
        return await self._queue.run(lambda work: self._turn(work, prompt, begin, steps), CALLER_GONE)

    async def _turn(self, work: QueuedWork[TurnEnd], prompt: Prompt, begin: Begin, steps: Steps) -> TurnEnd:
        """Begin, take the steps, end, with the session kept from other processes meanwhile."""
        agent, model = self._choose(prompt.agent, prompt.model)
        if (prompt.budget or self.settings.budget).cost is not None:
            require_price(model.info)
        if prompt.variant:
            require_variant(model.info, prompt.variant)
        if prompt.message_id and await self.store.knows(prompt.message_id):
            raise UsageError(f"There is a message {prompt.message_id!r} already.")
        await self._take()
        # What a job has done until now belongs to the turns before.
        await self.changes.journal.catch_up()
        try:
            turn = self.turn = self._new_turn(prompt, agent, model)
            await begin(turn)
            self._tell({"type": "busy"})
            message = await self._take_steps(work, turn, steps)
            if turn.settings.compaction.prune:
                prune(turn)
        finally:
            if prompt.waits and self.background.known:
                await to_the_end(self.background.stop_below(self.session.id, work.reason or CALLER_GONE))
            changes = await self._rest()
        return TurnEnd(message=message, spending=turn.spending, changes=changes)

    async def _take_steps(self, work: QueuedWork[TurnEnd], turn: Turn, steps: Steps) -> Message:
        """Let the steps run until they are done or stopped, and return the message that ends the turn."""
        work.on_stop = turn.abort.set
        try:
            return await work.carry_out(lambda: in_time(turn.spending, lambda: steps(turn)))
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
        chosen = model or agent.model or self._last_model(last) or self.settings.default_model
        if not chosen:
            raise UsageError(_NO_MODEL)
        opened = self.connect(chosen) if isinstance(chosen, str) else chosen
        if opened is not chosen and opened.info.full_name == chosen:
            self._brought.pop(opened.info.full_name, None)
        else:
            self._brought[opened.info.full_name] = opened
        return agent, self._hooked(opened)

    def _last_model(self, last: User | None) -> "str | Model":
        """The model of the last prompt: the same object, where a program has brought it."""
        if last is None:
            return ""
        brought = self._brought.get(str(last.model))
        return str(last.model) if brought is None else brought

    def model_called(self, name: str, budget: Budget | None) -> Model:
        """The model of an agent that goes on with a turn."""
        model = self.connect(name)
        if (budget or self.settings.budget).cost is not None:
            require_price(model.info)
        return self._hooked(model)

    def _hooked(self, model: Model) -> Model:
        hooks = self.settings.request_hooks
        return HookedModel(model, hooks, self.session.id) if hooks else model

    async def _add_prompt(self, turn: Turn) -> None:
        """The prompt as a message, on its way to disk at once; what it speaks of is looked up later."""
        await self._forget_reverted()
        before, prompt, model = self.conversation.last_user(), turn.prompt, turn.model
        info = User(
            id=prompt.message_id or new_id("msg"),
            session_id=self.session.id,
            time=Moment(created=now()),
            agent=turn.agent.name,
            model=ModelRef(provider_id=model.info.provider, model_id=model.info.id),
            system=prompt.system or None,
            tools=prompt.tools or None,
            variant=prompt.variant or None,
        )
        keys = (self.session.id, info.id)
        typed = None if prompt.typed is None else {TYPED: prompt.typed}
        parts: list[Part] = [TextPart(**new_part(*keys), text=prompt.text, metadata=typed)] if prompt.text else []
        if words := reminder(turn.agent.name, before.agent if before else ""):
            parts.append(TextPart(**new_part(*keys), text=words, synthetic=True))
        message = self.conversation.add(info, parts)
        self.conversation.change(self.conversation.info)
        if before is None:
            self.first_prompt(self, message, model)

    async def _recount(self, turn: Turn) -> None:
        """Count what the turn took and changed before it was broken off."""
        self.changes.begin_turn(since=turn.user.time.created / 1000)
        for message in self.conversation.messages:
            if message.info.id == turn.user.id:
                note_mentioned(turn, message)
            elif isinstance(message.info, Assistant) and message.info.parent_id == turn.user.id:
                turn.spending.steps += not message.info.summary
                turn.count(message)
                calls = (Call(id=one.call_id, tool=one.tool, arguments=one.state.input) for one in message.calls)
                turn.repeats.recall(calls)

    async def _forget_reverted(self) -> None:
        """Remove what was taken back by turn: it is gone for good once the user goes on from there."""
        mark = self.conversation.info.revert
        if mark is None:
            return
        if "messageID" in mark:
            await self.conversation.recall(mark["messageID"])
            self.conversation.remove_from(mark["messageID"])
        self.conversation.change(replace(self.conversation.info, revert=None))

    def _new_turn(self, prompt: Prompt, agent: Agent, model: Model) -> Turn:
        settings = self.settings
        self.pending.words.clear()
        self.changes.begin_turn()
        budget = (prompt.budget or settings.budget).within(settings.bounds)
        return Turn(
            turns=self,
            prompt=prompt,
            agent=agent,
            model=model,
            provider=model.info.provider,
            model_id=model.info.api_id,
            withheld=frozenset(name for name, wanted in prompt.tools.items() if not wanted),
            wanted=None if prompt.only_tools is None else frozenset(prompt.only_tools),
            spending=Spending(budget=budget, above=self.above),
            pending=self.pending,
            settings=settings,
            repeats=Repeats(tools=self.session.home.caller.registry.loaded),
        )

    def _closed(self, turn: Turn, failure: Failure) -> Message:
        """End the turn as failed: every call that is still open is closed, and the last reply says why."""
        last = self.conversation.messages[-1]
        message = last if isinstance(last.info, Assistant) else turn.begin_reply()
        for earlier in self.conversation.messages[-3:-1]:
            close_open_calls(self.conversation, earlier, str(failure.data["message"]))
        turn.fail(message, failure)
        return message

    async def _rest(self) -> tuple[ChangedFile, ...]:
        """Everything of the turn is over: sum up, let go, and only then say so."""
        try:
            changes = await self._sum_up()
            self.session.agent = self.turn.agent.name if self.turn else self.session.agent
            self.turn = None
            self.store.let_go(self.conversation.id, self.owner)
            await self.conversation.settled()
            return changes
        finally:
            self._tell({"type": "idle"})
            self.conversation.tell(SessionIdle(session_id=self.session.id))

    async def _sum_up(self) -> tuple[ChangedFile, ...]:
        summed = await asyncio.to_thread(self.changes.sum_up)
        if summed:
            self.conversation.change(replace(self.conversation.info, summary=self.changes.totals()))
            standing = await asyncio.to_thread(self.changes.standing, summed)
            diff = tuple(to_json(change) for change in standing)
            self.conversation.tell(SessionDiff(session_id=self.session.id, diff=diff))
        return tuple(await asyncio.to_thread(self.changes.of_turn, summed))

    def _tell(self, status: Json) -> None:
        self.conversation.tell(SessionStatus(session_id=self.session.id, status=status))


def _around(
    hook: PromptHook, proceed: Callable[[Prompt], Awaitable[TurnEnd]], session_id: str
) -> Callable[[Prompt], Awaitable[TurnEnd]]:
    return lambda prompt: hook(proceed, prompt, session_id)


async def _nothing(_: Turn) -> None:
    """A summary answers no prompt."""


async def _compact(turn: Turn) -> Message:
    await make_room(turn, auto=False)
    return turn.conversation.messages[-1]

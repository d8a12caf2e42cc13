"""The turns of one session: one at a time, each caller its own answer, stoppable at any moment."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from toolwright.agents import Agent
from toolwright.clock import now
from toolwright.errors import ToolwrightError, UsageError
from toolwright.ids import new_id
from toolwright.messages import Assistant, Failure, Message, ModelRef, Moment, User
from toolwright.models.model import Model, ModelError
from toolwright.parts import Failed, Pending, Running, Span
from toolwright.permission.broker import Broker
from toolwright.session.conversation import Conversation
from toolwright.session.events import SessionIdle, SessionStatus
from toolwright.session.failures import aborted, limit
from toolwright.session.history import History
from toolwright.session.instructions import Instructions
from toolwright.session.loop import answer
from toolwright.session.prompt import Prompt, PromptReader
from toolwright.session.session import Session
from toolwright.session.turn import Budget, LimitReached, Toolbox, Turn
from toolwright.tool import Abort

STOPPED = "the user stopped the turn"
_NO_MODEL = (
    "No model is chosen. Set `model` in toolwright.json or name one with --model provider/model; "
    "tw models lists them, and tw demo shows a session that needs none."
)


@dataclass(slots=True, kw_only=True, eq=False)
class Turns:
    """Takes prompts for one session. A prompt that comes while another is answered waits its turn."""

    session: Session
    conversation: Conversation
    broker: Broker
    connect: Callable[[str], Model]
    instructions: Instructions
    default_agent: str
    default_model: str = ""
    colleagues: tuple[str, ...] = ()
    """The agents a prompt may mention."""
    budget: Budget = field(default_factory=Budget)
    go_on_after_reject: bool = False
    on_prompt: "list[Callable[[Turns, Message, Model], None]]" = field(default_factory=list)
    """Told of every prompt before it is answered."""
    take: Callable[[], None] = lambda: None
    let_go: Callable[[], None] = lambda: None
    """Called when work on the session begins and when it has ended, for whoever keeps other processes away."""
    children: "set[Turns]" = field(default_factory=set)
    history: History = field(default_factory=History)
    toolbox: Toolbox = field(default_factory=Toolbox)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _task: "asyncio.Task[Message] | None" = None

    @property
    def busy(self) -> bool:
        return self._one_at_a_time.locked()

    async def prompt(self, prompt: Prompt) -> Message:
        """Answer one prompt. What goes wrong on the way is said in the message; only bad input raises."""
        async with self._one_at_a_time:
            self.session.abort = Abort()
            self._task = asyncio.create_task(self._work(prompt))
            try:
                return await asyncio.shield(self._task)
            except asyncio.CancelledError:
                await self.abort("the caller went away")
                raise
            finally:
                self._task = None

    async def abort(self, reason: str = STOPPED) -> None:
        """Stop the turn that is under way. When this returns, nothing of it runs or waits any more."""
        task = self._task
        if task is None or task.done():
            return
        self.session.abort.set(reason)
        for child in list(self.children):
            await child.abort(reason)
        self.broker.cancel(self.session.id, reason)
        task.cancel()
        await asyncio.wait([task])

    async def _work(self, prompt: Prompt) -> Message:
        agent, model = self._choose(prompt)
        user = await self._added(prompt, agent, model)
        self.take()
        self._tell({"type": "busy"})
        for listener in self.on_prompt:
            listener(self, user, model)
        try:
            return await self._answered(model)
        finally:
            self.let_go()
            await self.conversation.settled()
            self._tell({"type": "idle"})
            self.conversation.bus.publish(SessionIdle(session_id=self.session.id))

    def _tell(self, status: dict[str, object]) -> None:
        self.conversation.bus.publish(SessionStatus(session_id=self.session.id, status=status))

    def _choose(self, prompt: Prompt) -> tuple[Agent, Model]:
        """The agent and the model: those of the prompt, of the agent, of the last prompt, or the default ones."""
        last = self.conversation.last_user()
        agent = self.session.work_as(prompt.agent or (last.agent if last else self.default_agent))
        name = prompt.model or agent.model or (str(last.model) if last else "") or self.default_model
        if not name:
            raise UsageError(_NO_MODEL)
        model = self.connect(name)
        self.session.provider, self.session.model = model.info.provider, model.info.api_id
        return agent, model

    async def _added(self, prompt: Prompt, agent: Agent, model: Model) -> Message:
        """The prompt as a message, with the files and agents it speaks of looked up."""
        info = User(
            id=new_id("msg"),
            session_id=self.session.id,
            time=Moment(created=now()),
            agent=agent.name,
            model=ModelRef(provider_id=model.info.provider, model_id=model.info.id),
            system=prompt.system or None,
            tools=prompt.tools or None,
            variant=prompt.variant or None,
        )
        reader = PromptReader(session=self.session, message_id=info.id, agents=self.colleagues)
        parts = await reader.parts(prompt)
        message = self.conversation.add(info, parts)
        self.conversation.change(self.conversation.info)
        return message

    async def _answered(self, model: Model) -> Message:
        turn = Turn(
            session=self.session,
            conversation=self.conversation,
            history=self.history,
            model=model,
            instructions=self.instructions,
            toolbox=self.toolbox,
            budget=self.budget,
            go_on_after_reject=self.go_on_after_reject,
        )
        try:
            return await answer(turn)
        except asyncio.CancelledError:
            return self._closed(turn, aborted(self.session.abort.reason or STOPPED))
        except LimitReached as error:
            return self._closed(turn, limit(str(error)))
        except ModelError:
            return self.conversation.messages[-1]
        except ToolwrightError as error:
            return self._closed(turn, Failure(name="UnknownError", data={"message": str(error)}))

    def _closed(self, turn: Turn, failure: Failure) -> Message:
        """End the turn as failed: every call that is still open is closed, and the last reply says why."""
        last = self.conversation.messages[-1]
        message = last if isinstance(last.info, Assistant) else turn.begin_reply()
        close_open_calls(self.conversation, message, str(failure.data["message"]))
        turn.fail(message, failure)
        return message


def close_open_calls(conversation: Conversation, message: Message, reason: str) -> None:
    """Close the calls of a message that were never finished."""
    for part in message.calls:
        if isinstance(part.state, Pending | Running):
            started = part.state.time.start if isinstance(part.state, Running) else now()
            span = Span(start=started, end=now())
            failed = Failed(input=part.state.input, error=f"The call was stopped: {reason}.", kind="aborted", time=span)
            conversation.put(replace(part, state=failed))

"""A turn: one prompt on its way to an answer, and all that its steps need."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolwright.agents import Agent
from toolwright.clock import now
from toolwright.errors import ToolwrightError
from toolwright.ids import new_id
from toolwright.messages import Assistant, Failure, Message, ModelRef, Moment, PatchPart, Paths, Tokens, User
from toolwright.models.model import Model, Settings, SystemMessage, ToolSpec
from toolwright.models.retry import RetryPolicy
from toolwright.session.conversation import Conversation
from toolwright.session.events import SessionError
from toolwright.session.history import History
from toolwright.session.instructions import Instructions
from toolwright.session.repeats import Repeats
from toolwright.session.session import Session


class LimitReached(ToolwrightError):
    """A budget is used up. What was done stays done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much one turn may take; None where nothing is set."""

    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Toolbox:
    """The offered tools as a model is told of them; the same objects as long as nothing has changed."""

    _offered: tuple[object, ...] = ()
    _specs: list[ToolSpec] = field(default_factory=list[ToolSpec])

    async def specs(self, session: Session) -> list[ToolSpec]:
        registry = session.caller.registry
        offered = (session.standing.policy, *(registry[tool_id] for tool_id in session.offered()))
        if offered != self._offered:
            tools = await registry.tools(session.provider, session.model, session.standing)
            self._specs = [ToolSpec(name=one.id, description=one.description, schema=one.parameters) for one in tools]
            self._offered = offered
        return self._specs


@dataclass(slots=True, kw_only=True)
class Turn:
    """The state of a turn while it runs."""

    session: Session
    conversation: Conversation
    history: History
    model: Model
    instructions: Instructions
    toolbox: Toolbox
    budget: Budget = field(default_factory=Budget)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    go_on_after_reject: bool = False
    repeats: Repeats = field(default_factory=Repeats)
    steps: int = 0
    started: float = field(default_factory=time.monotonic)
    spent: Tokens = field(default_factory=Tokens)
    cost: float = 0.0
    compactions: int = 0
    _system: SystemMessage | None = None

    @property
    def agent(self) -> Agent:
        return self.session.standing.agent

    @property
    def user(self) -> User:
        """The prompt that is being answered: the newest, since an agent may be changed in the middle."""
        user = self.conversation.last_user()
        assert user is not None
        return user

    @property
    def model_name(self) -> ModelRef:
        return ModelRef(provider_id=self.model.info.provider, model_id=self.model.info.id)

    def begin_reply(self, *, agent: str = "", summary: bool = False) -> Message:
        """A new assistant message, still empty."""
        name = agent or self.agent.name
        return self.conversation.add(
            Assistant(
                id=new_id("msg"),
                session_id=self.conversation.id,
                parent_id=self.user.id,
                time=Moment(created=now()),
                provider_id=self.model.info.provider,
                model_id=self.model.info.id,
                agent=name,
                mode=name,
                path=Paths(cwd=str(self.session.directory), root=str(self.instructions.root)),
                summary=summary or None,
            )
        )

    def system_message(self, text: str) -> SystemMessage:
        """The same object as long as the text is the same, so that it is encoded once."""
        if self._system is None or self._system.text != text:
            self._system = SystemMessage(text=text)
        return self._system

    def settings(self) -> Settings:
        from toolwright.models.families import family_settings

        usual = family_settings(self.model.info)
        agent = self.agent
        variant = dict(self.model.info.variants.get(self.user.variant or agent.variant or "", {}))
        return replace(
            usual,
            temperature=usual.temperature if agent.temperature is None else agent.temperature,
            top_p=usual.top_p if agent.top_p is None else agent.top_p,
            options={**usual.options, **agent.options, **variant},
            cache_key=self.conversation.id,
        )

    async def tools(self) -> list[ToolSpec]:
        """What the agent is offered on this model, without what the prompt has switched off."""
        off = {name for name, wanted in (self.user.tools or {}).items() if not wanted}
        return [spec for spec in await self.toolbox.specs(self.session) if spec.name not in off]

    def fail(self, message: Message, failure: Failure) -> None:
        """The reply came to nothing: say so in the message and to whoever listens."""
        info = message.info
        if isinstance(info, Assistant):
            self.conversation.update(replace(info, error=failure, time=replace(info.time, completed=now())))
        self.conversation.bus.publish(SessionError(session_id=self.conversation.id, error=failure))

    def note_changes(self, message: Message) -> None:
        """Write down which files the calls of a reply have changed."""
        changed = [file for part in message.calls for file in self.session.changed_files(part.call_id)]
        if changed:
            self.conversation.put(
                PatchPart(
                    id=new_id("prt"),
                    session_id=self.conversation.id,
                    message_id=message.info.id,
                    hash=message.info.id,
                    files=tuple(dict.fromkeys(changed)),
                )
            )

    def count(self, message: Message) -> None:
        """Add a reply to what the turn has taken, and stop if it has taken too much."""
        info = message.info
        if isinstance(info, Assistant):
            self.spent = replace(
                self.spent,
                input=self.spent.input + info.tokens.total - info.tokens.output,
                output=self.spent.output + info.tokens.output,
            )
            self.cost += info.cost

    def check_budget(self) -> None:
        budget = self.budget
        used: Sequence[tuple[str, float, float | None]] = (
            ("steps", self.steps, budget.steps),
            ("tokens", self.spent.input + self.spent.output, budget.tokens),
            ("dollars", self.cost, budget.cost),
            ("seconds", time.monotonic() - self.started, budget.seconds),
        )
        for what, amount, limit in used:
            if limit is not None and amount >= limit:
                raise LimitReached(f"The turn has used {amount:g} of {limit:g} {what}. Raise the budget to go on.")

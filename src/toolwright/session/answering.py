"""Answering a prompt: the turn under way, and all that its steps need."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace

from toolwright.agents import Agent
from toolwright.ids import new_id, now
from toolwright.jsontypes import Json
from toolwright.messages import Assistant, Failure, Message, Moment, PatchPart, Paths, User, new_part
from toolwright.models.encode import Once, merge
from toolwright.models.info import ModelInfo
from toolwright.models.model import Model, ReplySettings, SystemMessage, ToolSpec
from toolwright.models.retry import RetryPolicy
from toolwright.models.short_tools import SMALL_CONTEXT, short_spec
from toolwright.models.sizes import tools_size
from toolwright.parts import Failed, Running, Span
from toolwright.record import record
from toolwright.session.budget import Spending
from toolwright.session.conversation import Conversation
from toolwright.session.events import SessionError
from toolwright.session.history import History
from toolwright.session.instructions import Instructions
from toolwright.session.repeats import Repeats
from toolwright.session.session import Session
from toolwright.session.system import system_prompt
from toolwright.session.turn import Turn

CompactionHook = Callable[[Callable[[], Awaitable[None]], str], Awaitable[None]]
"""Around the making of a summary: `await proceed()`. The id is the session's."""


@record(frozen=True, slots=True, kw_only=True)
class CompactionSettings:
    """When a conversation is shortened."""

    auto: bool = True
    """Whether a summary may take the place of the conversation when it is full."""
    prune: bool = True
    """Whether old results are cleared after a turn."""
    reserved: int | None = None
    """Tokens kept free; as many as the longest reply if not said."""


@record(slots=True)
class Toolbox:
    """The offered tools as a model is told of them; the same objects as long as nothing has changed."""

    _offered: tuple[object, ...] = ()
    _specs: list[ToolSpec] = field(default_factory=list[ToolSpec])

    short: Once[ToolSpec, ToolSpec] = field(default_factory=lambda: Once(short_spec))
    """The same in few words, for a model with little room."""

    doubted: bool = False
    """Whether the user has been told that the server does not read all it is sent."""

    async def specs(self, session: Session, turn: Turn) -> list[ToolSpec]:
        registry, names = session.home.caller.registry, session.offered(turn)
        ruled = session.ruled_agent_named(turn.agent.name)
        offered = (registry.version, turn.provider, turn.model_id, names, ruled.policy)
        if offered != self._offered:
            tools = await registry.tools(turn.provider, turn.model_id, ruled)
            self._specs = [
                ToolSpec(name=one.id, description=one.description, schema=_shown(one.parameters))
                for one in tools
                if one.id in names
            ]
            self._offered = offered
        return self._specs


def _shown(schema: Json) -> Json:
    """A schema without what says nothing to a model. The door goes by the whole of it all the same."""
    properties = {name: _without_default(value) for name, value in schema.get("properties", {}).items()}
    shown = {name: value for name, value in schema.items() if name != "additionalProperties" and value != []}
    return shown | {"properties": properties}


def _without_default(value: Json) -> Json:
    """What happens if an argument is left out is said in words, or plain: false, or nothing."""
    silent = value.get("default") in (False, "", None)
    return {name: entry for name, entry in value.items() if not (name == "default" and silent)}


@record(slots=True, kw_only=True)
class Answering:
    """How far a turn has come."""

    turn: Turn
    session: Session
    conversation: Conversation
    history: History
    model: Model
    instructions: Instructions
    toolbox: Toolbox
    spending: Spending
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    changed: Callable[[], list[str]] = list
    """The files changed since this was last asked."""
    hear: Callable[[], bool] = bool
    """Take in what the user has said since the turn began; whether there was anything."""
    go_on_after_reject: bool = False
    compaction_hooks: Sequence[CompactionHook] = ()
    repeats: Repeats = field(default_factory=Repeats)
    compactions: int = 0
    """How often room was made without a step in between that needed none."""
    compacted_at: int = 0
    tools_size: int = 0
    """About how many tokens the offered tools take."""
    _system: SystemMessage | None = None
    _system_for: tuple[str, str | None] = ("", None)
    _settings: ReplySettings | None = None
    _settings_for: tuple[ModelInfo, Agent, str] | None = None

    @property
    def agent(self) -> Agent:
        return self.turn.agent

    def follow_agent(self) -> None:
        """From the next step on the agent of the newest prompt works: a plan may have been approved."""
        if self.user.agent != self.turn.agent.name:
            self.turn = replace(self.turn, agent=self.session.ruled_agent_named(self.user.agent).agent)
            self.session.turns.turn = self.turn

    @property
    def user(self) -> User:
        """The prompt that is being answered: the newest, since an agent may be changed in the middle."""
        user = self.conversation.last_user()
        assert user is not None
        return user

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
                path=Paths(cwd=str(self.session.home.directory), root=str(self.instructions.root)),
                summary=summary or None,
            )
        )

    def system_message(self) -> SystemMessage:
        """What the model is told first. Looked up once a turn and agent: within a turn it stays as it is."""
        wanted = (self.agent.name, self.user.system)
        if self._system is None or self._system_for != wanted:
            text = system_prompt(
                self.agent,
                directory=self.session.home.directory,
                root=self.instructions.root,
                instructions=self.instructions,
                extra=self.user.system or "",
            )
            self._system, self._system_for = SystemMessage(text=text), wanted
        return self._system

    def settings(self) -> ReplySettings:
        """How the model is to reply; worked out once for a model, an agent and a variant."""
        info, agent, asked = self.model.info, self.agent, self.user.variant or ""
        if self._settings is None or self._settings_for != (info, agent, asked):
            self._settings = self._made_settings(info, agent, asked)
            self._settings_for = (info, agent, asked)
        return self._settings

    def _made_settings(self, info: ModelInfo, agent: Agent, asked: str) -> ReplySettings:
        from toolwright.models.families import family_settings, variants

        usual = family_settings(info)
        # One that this model has not is no error here: it is an agent's, or of the model that this one stands in for.
        variant = variants(info).get(asked or agent.variant or "", {})
        return replace(
            usual,
            temperature=usual.temperature if agent.temperature is None else agent.temperature,
            top_p=usual.top_p if agent.top_p is None else agent.top_p,
            options=merge(usual.options, agent.options, variant),
            cache_key=self.conversation.id,
        )

    async def tools(self) -> list[ToolSpec]:
        """What the agent is offered on this model, without what the prompt has switched off."""
        refresh = self.session.home.caller.registry.refresh
        if refresh is not None:
            await refresh()
        specs = await self.toolbox.specs(self.session, self.turn) if self.model.info.tools else []
        if 0 < self.model.info.limits.context <= SMALL_CONTEXT:
            specs = [self.toolbox.short(one) for one in specs]
        if not self.tools_size:
            self.tools_size = tools_size(specs)
        return specs

    def fail(self, message: Message, failure: Failure) -> None:
        """The reply came to nothing: close its calls, and say so in the message and to whoever listens."""
        close_open_calls(self.conversation, message, str(failure.data["message"]))
        info = message.info
        if isinstance(info, Assistant):
            self.conversation.update(replace(info, error=failure, time=replace(info.time, completed=now())))
        self.conversation.tell(SessionError(session_id=self.conversation.id, error=failure))

    def note_changes(self, message: Message) -> None:
        """Write down which files the calls of a reply have changed."""
        files = self.changed()
        if files:
            keys = new_part(self.conversation.id, message.info.id)
            self.conversation.put(PatchPart(**keys, hash=message.info.id, files=tuple(files)))

    def count(self, message: Message) -> None:
        """Add a reply to what the turn has taken; where nobody has counted, by its length."""
        info = message.info
        if isinstance(info, Assistant):
            used = info.tokens
            read = used.input + used.cache.read + used.cache.write
            tokens = used.total or self.history.size(message)
            self.spending.add(tokens, info.cost, input=read, output=used.output + used.reasoning)


def close_open_calls(conversation: Conversation, message: Message, reason: str) -> None:
    """Close the calls of a message that were never finished."""
    for part in message.open_calls:
        started = part.state.time.start if isinstance(part.state, Running) else now()
        span = Span(start=started, end=now())
        error = f"The call was stopped: {reason.rstrip('.')}."
        failed = Failed(input=part.state.input, error=error, kind="aborted", time=span)
        conversation.put(replace(part, state=failed))

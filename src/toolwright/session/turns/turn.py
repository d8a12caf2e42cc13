"""A turn: one prompt on its way to its answer, who works on it, and how far it has come."""

from dataclasses import field, replace
from typing import TYPE_CHECKING

from toolwright.agents import Agent
from toolwright.calls.parts import Failed, Running, Span
from toolwright.messages import Assistant, Failure, Message, Moment, PatchPart, Paths, User, new_part
from toolwright.models.encode import Once, merge
from toolwright.models.formats.short_tools import SMALL_CONTEXT, short_spec
from toolwright.models.formats.sizes import tools_size
from toolwright.models.info import ModelInfo
from toolwright.models.model import Model, ReplySettings, SystemMessage, ToolSpec
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.budget import Spending
from toolwright.session.events import SessionError, SessionStatus
from toolwright.session.records.conversation import Conversation
from toolwright.session.records.history import History
from toolwright.session.records.persisted_questions import kept_question
from toolwright.session.session import Session
from toolwright.session.turns.between_steps import PendingInput
from toolwright.session.turns.instructions import system_prompt
from toolwright.session.turns.repeats import Repeats
from toolwright.session.turns.settings import TurnSettings
from toolwright.session.turns.terms import CallTerms
from toolwright.text.ids import new_id, now

if TYPE_CHECKING:
    from toolwright.session.prompt import Prompt
    from toolwright.session.turns.subtask import HandedTask
    from toolwright.session.turns.turns import Turns


@record(slots=True, kw_only=True, eq=False)
class Turn(CallTerms):
    """One prompt from its message to its answer. Made and ended by the `Turns` of its session."""

    turns: "Turns"
    """Turns that keep what outlasts one of them."""
    prompt: "Prompt"
    model: Model
    spending: Spending
    settings: TurnSettings
    handed: "HandedTask | None" = None
    """Task that the prompt itself hands to a subagent, if it does."""
    repeats: Repeats
    compactions: int = 0
    """Number of times that room was made without a step in between that needed none."""
    compacted_at: int = 0
    tools_size: int = 0
    """About how many tokens the offered tools take; 0 until they were looked up."""
    pending: PendingInput
    """Words and notices from the background that came during the turn, and that the model has not been told."""
    _system: SystemMessage | None = None
    _system_for: tuple[str, str | None] = ("", None)

    @property
    def session(self) -> Session:
        return self.turns.session

    @property
    def conversation(self) -> Conversation:
        return self.turns.conversation

    @property
    def history(self) -> History:
        return self.turns.history

    @property
    def toolbox(self) -> "Toolbox":
        return self.turns.toolbox

    def take_pending(self) -> bool:
        """Make what was said meanwhile a message of its own; whether there was anything."""
        return bool(self.pending.words or self.pending.notices) and self.pending.tell(self.conversation)

    async def wait_for_background(self) -> bool:
        """Wait for news while agents of this session work in the background; whether there were any."""
        background = self.turns.background
        while background.known and background.working_below(self.session.id):
            status: dict[str, object] = {"type": "busy", "doing": "waiting for agents in the background"}
            self.conversation.tell(SessionStatus(session_id=self.session.id, status=status))
            await self.pending.wait()
            if self.take_pending():
                return True
        return False

    def follow_agent(self) -> None:
        """From the next step on the agent of the newest prompt works: a plan may have been approved."""
        if self.user.agent == self.agent.name:
            return
        self.agent = self.session.ruled_agent_named(self.user.agent).agent
        if self.agent.model and not self.prompt.model:
            self.model = self.turns.model_called(self.agent.model, self.prompt.budget)
            self.provider, self.model_id = self.model.info.provider, self.model.info.api_id

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
                path=Paths(cwd=str(self.session.home.directory), root=str(self.turns.instructions.root)),
                summary=summary or None,
            )
        )

    def system_message(self) -> SystemMessage:
        """Return what the model is told first. Looked up once a turn and agent: within a turn it stays as it is."""
        wanted = (self.agent.name, self.user.system)
        if self._system is None or self._system_for != wanted:
            text = system_prompt(
                self.agent,
                directory=self.session.home.directory,
                root=self.turns.instructions.root,
                instructions=self.turns.instructions,
                extra="\n\n".join(filter(None, (self.user.system, self._form_of_answer()))),
            )
            self._system, self._system_for = SystemMessage(text=text), wanted
        return self._system

    def _form_of_answer(self) -> str:
        """Return what the agent is told of the form of its answers, where the prompt asks for no other."""
        output = self.agent.output
        return "" if output is None or self.prompt.output is not None else output.describe()

    def reply_settings(self) -> ReplySettings:
        """Return how the model is to reply."""
        key = (self.model.info, self.agent, self.user.variant or "", self.conversation.id)
        usual, output = self.toolbox.reply_settings(*key), self.prompt.output or self.agent.output
        return usual if output is None else replace(usual, answer_schema=output.schema)

    async def tools(self) -> list[ToolSpec]:
        """Return what the agent is offered on this model, without what the prompt has switched off."""
        refresh = self.session.home.caller.registry.refresh
        if refresh is not None:
            await refresh("")
        if not self.model.info.tools:
            return []
        specs = await self.toolbox.specs(self)
        self.tools_size = self.toolbox.size
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
        files = self.turns.changes.fresh()
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


@record(slots=True)
class Toolbox:
    """The offered tools as a model is told of them, and how it replies; the same objects until something changes."""

    size: int = 0
    """About how many tokens the tools take."""
    doubted: bool = False
    """True if the user has been told that the server does not read all it is sent."""
    _specs: list[ToolSpec] = field(default_factory=list[ToolSpec])
    _specs_for: tuple[object, ...] = ()
    _short: Once[ToolSpec, ToolSpec] = field(default_factory=lambda: Once(short_spec))
    """The same in few words, for a model with little room."""
    _settings: ReplySettings | None = None
    _settings_for: tuple[ModelInfo, Agent, str] | None = None

    async def specs(self, turn: Turn) -> list[ToolSpec]:
        registry, names = turn.session.home.caller.registry, turn.session.offered(turn)
        ruled = turn.session.ruled_agent_named(turn.agent.name)
        is_short = 0 < turn.model.info.limits.context <= SMALL_CONTEXT
        wanted = (registry.version, turn.provider, turn.model_id, names, ruled.policy, is_short)
        if wanted != self._specs_for:
            tools = await registry.tools(turn.provider, turn.model_id, ruled)
            specs = [
                ToolSpec(name=one.id, description=one.description, schema=_schema_for_model(one.parameters))
                for one in tools
                if one.id in names
            ]
            self._specs = [self._short(one) for one in specs] if is_short else specs
            self._specs_for, self.size = wanted, tools_size(self._specs)
        return self._specs

    def reply_settings(self, info: ModelInfo, agent: Agent, asked: str, cache_key: str) -> ReplySettings:
        """Return how a model is to reply; worked out once for a model, an agent and a variant."""
        if self._settings is None or self._settings_for != (info, agent, asked):
            self._settings = _reply_settings(info, agent, asked, cache_key)
            self._settings_for = (info, agent, asked)
        return self._settings


def _reply_settings(info: ModelInfo, agent: Agent, asked: str, cache_key: str) -> ReplySettings:
    from toolwright.models.known.families import family_settings, variants

    usual = family_settings(info)
    # One that this model has not is no error here: it is an agent's, or of the model that this one stands in for.
    variant = variants(info).get(asked or agent.variant or "", {})
    return replace(
        usual,
        temperature=usual.temperature if agent.temperature is None else agent.temperature,
        top_p=usual.top_p if agent.top_p is None else agent.top_p,
        options=merge(usual.options, agent.options, variant),
        cache_key=cache_key,
    )


def _schema_for_model(schema: Json) -> Json:
    """A schema without what says nothing to a model. The door goes by the whole of it all the same."""
    properties = {name: _without_default(value) for name, value in schema.get("properties", {}).items()}
    fields = {name: value for name, value in schema.items() if name != "additionalProperties" and value != []}
    return fields | {"properties": properties}


def _without_default(value: Json) -> Json:
    """Leave out a plain default: what happens without an argument is said in words, or plain: false, or nothing."""
    silent = value.get("default") in (False, "", None)
    return {name: entry for name, entry in value.items() if not (name == "default" and silent)}


def close_open_calls(conversation: Conversation, message: Message, reason: str) -> None:
    """Close the calls of a message that were never finished."""
    for part in message.open_calls:
        started = part.state.time.start if isinstance(part.state, Running) else now()
        span = Span(start=started, end=now())
        error = f"The call was stopped: {reason.rstrip('.')}."
        failed = Failed(input=part.state.input, error=error, kind="aborted", metadata=kept_question(part), time=span)
        conversation.put(replace(part, state=failed))

"""Agents as a program makes them: records with everything in place, taken in by a workspace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypedDict, get_args, overload

from toolwright import agents
from toolwright.agents import HAND_OVER, Agents
from toolwright.config.native_agents import Mode
from toolwright.definition import Tool, as_tool
from toolwright.errors import UsageError
from toolwright.permission.forms import given_rules
from toolwright.permission.rules import Rule
from toolwright.record import record
from toolwright.registry import Registry
from toolwright.session.input_checks import check_model, check_words

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import TypeForm, TypeVar

    from toolwright.models.connect import Connections
    from toolwright.models.model import Model

    T = TypeVar("T", default=None)
else:
    from typing import TypeVar

    T = TypeVar("T")


class AgentOptions(TypedDict, total=False):
    """Options of an agent that a program may give, beside its name and the type of its answers."""

    prompt: str
    description: str
    mode: Mode
    model: "str | Model"
    variant: str
    temperature: float | None
    steps: int | None
    tools: "Sequence[str | Tool | Callable[..., Any]] | None"
    rules: "Sequence[Rule] | Mapping[str, Any] | str"
    retries: int
    validate: "Callable[[Any], object] | None"
    hand_over: "Sequence[str | Agent[Any]]"


@record(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Agent(Generic[T]):
    """Agent for work: given to `open_workspace(agents=[...])`, to `session.prompt(agent=...)`, or to the `task` tool.

    One with the name of an agent there is already changes that one, as the configuration does.
    """

    name: str
    prompt: str = ""
    """Instructions to the model; empty for the general prompt."""
    description: str = ""
    """Occasion to use it. Other agents choose by this."""
    mode: Mode = "all"
    """`primary` takes prompts, `subagent` takes work from other agents, `all` does both."""
    model: "str | Model" = ""
    """`provider/model`, or the model itself; empty for that of the prompt, or of the caller."""
    variant: str = ""
    temperature: float | None = None
    steps: int | None = None
    """Replies in one turn; at the last one the tools are taken away."""
    tools: "Sequence[str | Tool | Callable[..., Any]] | None" = None
    """The only tools it has: ids, and functions or Tools of its own, which no other agent gets. None for all."""
    rules: "Sequence[Rule] | Mapping[str, Any] | str" = ()
    """Rules of its own, over the rules that hold for everybody."""
    output: Any = None
    """The type of its answers, where they are values."""
    retries: int = 1
    """Times that an answer that does not fit is asked for again."""
    validate: "Callable[[Any], object] | None" = None
    """Checks an answer; a ValueError it raises is told to the model."""
    hand_over: "Sequence[str | Agent[Any]]" = field(default=(), repr=False)
    """To whom it may hand the conversation over: they go on with it, under their own rules and with their own tools."""

    if TYPE_CHECKING:

        @overload
        def __init__(
            self: "Agent[None]", *, name: str, output: None = None, **options: "Unpack[AgentOptions]"
        ) -> None: ...
        @overload
        def __init__(self, *, name: str, output: type[T], **options: "Unpack[AgentOptions]") -> None: ...
        @overload
        def __init__(self, *, name: str, output: "TypeForm[T]", **options: "Unpack[AgentOptions]") -> None: ...
        @overload
        def __init__(
            self: "Agent[Any]", *, name: str, output: Mapping[str, Any], **options: "Unpack[AgentOptions]"
        ) -> None: ...
        def __init__(self, *, name: str, output: Any = None, **options: "Unpack[AgentOptions]") -> None: ...

    def __post_init__(self) -> None:
        check_words(name=self.name, prompt=self.prompt, description=self.description, variant=self.variant)
        if not self.name.strip():
            raise UsageError("Agent(name='') has no name.")
        if self.mode not in get_args(Mode):
            raise UsageError(f"Agent(mode={self.mode!r:.60}): mode is one of {', '.join(get_args(Mode))}.")
        check_model(self.model)
        for name, listed in (("tools", self.tools or ()), ("hand_over", self.hand_over)):
            if isinstance(listed, str | Agent) or not isinstance(listed, Sequence):
                raise UsageError(f"Agent({name}={listed!r:.60}) has no list: write {name}=[...].")


class AgentHome(Protocol):
    """The workspace, as its agents need it."""

    agents: Agents
    registry: Registry

    @property
    def connections(self) -> "Connections": ...
    def check_rules(self, rules: Sequence[Rule]) -> None: ...
    def may_come(self, tool_id: str) -> bool: ...


@record(slots=True)
class GivenAgents:
    """The agents that the program around a workspace has made, each taken in once."""

    home: AgentHome
    _known: dict[str, Agent[Any]] = field(default_factory=dict[str, Agent[Any]])
    _taken: set[Agent[Any]] = field(default_factory=set[Agent[Any]])

    def take(self, agent: Agent[Any]) -> str:
        """Take an agent in, with those it hands over to, and return its name. UsageError for one that cannot be."""
        known = self._known.setdefault(agent.name, agent)
        if known is not agent:
            raise UsageError(f"There are two agents called {agent.name!r}. Make it once, or name one otherwise.")
        if agent not in self._taken:
            self._taken.add(agent)
            try:
                self._add(agent)
            except BaseException:
                self._taken.discard(agent)
                del self._known[agent.name]
                raise
        return agent.name

    def _add(self, agent: Agent[Any]) -> None:
        rules = given_rules(agent.rules)
        self.home.check_rules(rules)
        by_name = self.home.agents.by_name
        before = by_name.get(agent.name) or agents.Agent(name=agent.name)
        values = {
            "prompt": agent.prompt,
            "description": agent.description,
            "variant": agent.variant,
            "temperature": agent.temperature,
            "steps": agent.steps,
            "model": self._model_of(agent),
            "output": self._output_of(agent),
            "only_tools": None if agent.tools is None else self._tools_of(agent, agent.tools),
        }
        by_name[agent.name] = replace(
            before,
            mode=agent.mode if agent.mode != "all" else before.mode,
            user_rules=(*before.user_rules, *rules),
            **{name: value for name, value in values.items() if value not in (None, "")},
        )
        handed = tuple(self.name_of(one) for one in agent.hand_over)
        by_name[agent.name] = replace(by_name[agent.name], hand_over=handed or before.hand_over)
        offer_hand_over(self.home.registry, self.home.agents)
        self.home.registry.changed()

    def name_of(self, agent: "str | Agent[Any]") -> str:
        """The name of an agent, which is taken in if it is an object. UsageError if there is none."""
        return self.take(agent) if isinstance(agent, Agent) else self.home.agents[agent].name

    def _model_of(self, agent: Agent[Any]) -> str:
        """The name of the agent's model. A model that is an object gets one of its own."""
        if isinstance(agent.model, str):
            return agent.model
        name = f"{agent.model.info.full_name}@{agent.name}"
        self.home.connections.add(name, agent.model)
        return name

    @staticmethod
    def _output_of(agent: Agent[Any]) -> Any:
        if agent.output is None:
            return None
        from toolwright.session.typed_answer import wanted_output

        return wanted_output(agent.output, {"retries": agent.retries, "validate": agent.validate})

    def _tools_of(self, agent: Agent[Any], listed: "Sequence[str | Tool | Callable[..., Any]]") -> tuple[str, ...]:
        """The ids of an agent's tools; its own become the agent's alone."""
        registry, ids = self.home.registry, list[str]()
        for entry in listed:
            if isinstance(entry, str):
                if entry not in registry and not self.home.may_come(entry):
                    raise UsageError(f"Agent {agent.name!r}: {registry.unknown(entry, registry.ids())}")
                ids.append(registry.resolved(entry))
                continue
            try:
                tool = as_tool(entry)
            except (TypeError, ValueError) as error:
                raise UsageError(f"Agent {agent.name!r}: {error}") from error
            if tool.id in registry and (tool.id not in registry.owners or not _same(registry[tool.id], tool)):
                raise UsageError(
                    f"Agent {agent.name!r} brings a tool {tool.id!r}, and there is another of that name."
                    " Name it otherwise: @tool(id=...)."
                )
            registry.give(tool, agent.name)
            ids.append(tool.id)
        return tuple(ids)


def _same(tool: Tool, other: Tool) -> bool:
    """Tell whether two tools are the same: one record, or made of the same function."""
    return tool is other or (tool.function is not None and tool.function is other.function)


def offer_hand_over(registry: Registry, known: Agents) -> None:
    """Offer the tool to hand over to the agents that may."""
    givers = [one.name for one in known.by_name.values() if one.hand_over]
    if givers:
        from toolwright.session.subagents.hand_over import hand_over_tool

        tool = registry[HAND_OVER] if HAND_OVER in registry else hand_over_tool()
        for name in givers:
            registry.give(tool, name)

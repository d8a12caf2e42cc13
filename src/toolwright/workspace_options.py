"""Options that a program gives to open a workspace, checked before anything is opened."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from toolwright.agents import Agents
from toolwright.config.load import Config
from toolwright.config.reader import GIVEN
from toolwright.definition import Client, Tool
from toolwright.errors import UsageError
from toolwright.extension import Extension, hooks_of, sources_of
from toolwright.extensions import TOOL_FOLDERS, active_folders
from toolwright.inbox import Answerer
from toolwright.permission.forms import PERMISSIONS
from toolwright.permission.rules import Rule
from toolwright.permission.slips import meant_by
from toolwright.record import record
from toolwright.registry import Source, plain_name
from toolwright.session.input_checks import check_agent_given, check_model, lacks

log = logging.getLogger(__name__)


@record(frozen=True, slots=True, kw_only=True)
class Opening:
    """The arguments of `open_workspace` that a program without types may get wrong."""

    model: object
    tools: object
    extensions: object
    hooks: object
    answer: Answerer | None
    budget: object
    store: object
    client: Client
    config: object
    environment: object
    agent: object
    agents: object
    switches: Mapping[str, object]
    """Those that are on or off."""
    question_timeout: object = None

    def check(self) -> None:
        """Raise UsageError for the first that is of no use."""
        check_model(self.model)
        check_agent_given(self.agent)
        for agent in _listed("agents", self.agents):
            check_agent_given(agent, "agents")
        for name, value in self.switches.items():
            if not isinstance(value, bool):
                raise UsageError(f"{name}={value!r:.60} is neither on nor off: give True or False.")
        waits = self.question_timeout
        if waits is not None and (not isinstance(waits, int | float) or isinstance(waits, bool) or not waits > 0):
            raise UsageError(f"question_timeout={waits!r:.60} is no time to wait: give a number of seconds, or None.")
        if not isinstance(self.config, Mapping | None):
            raise UsageError(f"config={self.config!r:.60} is no dict of settings.")
        environment = self.environment if isinstance(self.environment, Mapping) else {"": self.environment}
        if self.environment is not None and not all(isinstance(one, str) for one in environment.values()):
            raise UsageError("environment= is no dict of texts, as os.environ is.")
        for extension in _listed("extensions", self.extensions):
            if not isinstance(extension, Extension):
                raise UsageError(f"extensions= has {extension!r:.60}: give Extension(tools=[...], hooks=[...]).")
        _listed("tools", self.tools)
        _listed("hooks", self.hooks)
        if self.answer is not None and not callable(self.answer):
            raise UsageError(f"answer={self.answer!r:.60} cannot be asked: give a function of a Question.")
        if self.client not in get_args(Client):
            raise UsageError(f"client={self.client!r:.60} is none of {', '.join(get_args(Client))}.")
        if self.budget is not None:
            from toolwright.session.budget import budget_of

            budget_of(self.budget)
        if self.store is not None:
            from toolwright.session.store import Store

            if lacking := lacks(self.store, Store):
                raise UsageError(
                    f"store={self.store!r:.60} is no store, for it has no {lacking[0]}. Sessions are kept on disk by"
                    " keep=True."
                )


def _listed(name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | Extension | Tool) or not isinstance(value, Iterable):
        raise UsageError(f"{name}={value!r:.60} is no list: write {name}=[...].")
    return value


def own_extension(tools: Iterable[Tool | Callable[..., Any]], hooks: Sequence[Any], deps: object) -> Extension:
    """The tools and hooks that a program gives itself, as an extension; two tools of one name are a mistake."""
    extension = Extension(name="registered", tools=tools, hooks=hooks, replaces=True)
    known: dict[str, Source] = {}
    for source in sources_of(extension):
        if source.id in known:
            raise UsageError(f"tools= has two tools called {source.id!r}. Name one of them otherwise: @tool(id=...).")
        known[source.id] = source
        _check_deps(source.load(), deps)
        if not source.load().description:
            log.warning("the tool %s has no docstring: a model is told its name and no more", source.id)
    hooks_of(extension)
    return Extension(name=extension.name, tools=tuple(known.values()), hooks=hooks, replaces=True)


def _check_deps(tool: Tool, deps: object) -> None:
    """Raise UsageError for a tool that wants another kind of `deps` than there is."""
    wanted = tool.signature.deps if tool.signature else None
    kind = get_origin(wanted) or wanted
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False) or isinstance(deps, kind):
        return
    raise UsageError(f"{tool.id} wants a {kind.__name__} as ctx.deps, and deps={deps!r:.60}.")


def check_agent(agents: Agents, name: str) -> None:
    """Raise UsageError for an agent that cannot take prompts."""
    agent = agents[name]
    if agent.hidden or agent.mode == "subagent":
        able = [one.name for one in agents.visible() if one.mode != "subagent"]
        kind = "hidden" if agent.hidden else "a subagent"
        raise UsageError(f"agent={name!r} is {kind}, which takes no prompts itself. There are: {', '.join(able)}.")


@record(frozen=True, slots=True)
class KnownPermissions:
    """The permissions that rules of a program may name."""

    names: Collection[str]
    beginnings: tuple[str, ...]
    """Beginnings of tools' names that are not known yet: those of MCP servers and of files with several."""

    @classmethod
    def of(cls, config: Config, tools: Iterable[str]) -> "KnownPermissions":
        """Ours, those of the tools there are, and those that servers and files of the settings may bring."""
        folders = [folder / kind for folder in active_folders(config) for kind in TOOL_FOLDERS]
        files = {plain_name(file.stem) for folder in folders if folder.is_dir() for file in folder.iterdir()}
        beginnings = [f"{name}_" for name in files]
        if config.settings.mcp:
            from toolwright.mcp.client.tools import tool_id

            beginnings += (tool_id(name, "") for name in config.settings.mcp)
        return cls(frozenset((*PERMISSIONS, *tools, *files)), tuple(beginnings))

    def check(self, rules: Iterable[Rule], argument: str) -> None:
        """Raise UsageError for a rule about a permission that is a slip of a known one: it would hold for nothing."""
        for rule in rules:
            near = meant_by(rule.permission, self.names)
            if near and not rule.permission.startswith(self.beginnings):
                raise UsageError(f"{argument} has a rule about {rule.permission!r}; did you mean {near!r}?")


def rules_given(agents: Agents) -> Iterator[Rule]:
    """The rules that came by `config=`, for everybody and for single agents."""
    layers = [layer.rules for layer in agents.general]
    everyone = [*layers, *(agent.user_rules for agent in agents.by_name.values())]
    return (rule for rules in everyone for rule in rules if rule.source.startswith(GIVEN))

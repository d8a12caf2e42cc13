"""The agents: the built-in ones, the user's own from configuration, and the rules for each."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from toolwright.config.load import Config
from toolwright.config.native_agents import Agent, native_agents
from toolwright.config.rules import rules_of
from toolwright.config.source import AgentSource
from toolwright.definition import Action, Use, nothing_to_use
from toolwright.errors import ConfigError, UsageError
from toolwright.machine.folders import Folders
from toolwright.permission.defaults import default_rules, output_rules, protected_rules, rules
from toolwright.permission.links import with_real_names
from toolwright.permission.rules import Layer, Policy, Rule
from toolwright.permission.run_later import run_later_rules
from toolwright.protocols.json_types import JsonView
from toolwright.record import record
from toolwright.settings.record import RESERVED_OPTIONS

__all__ = ["CLIENT", "Agent", "Agents", "RuledAgent", "as_child", "load_agents"]

CLIENT = "client"
"""The source of rules that a program over the network has given a session: they may forbid, not allow."""
T = TypeVar("T")


@record(frozen=True, slots=True)
class RuledAgent:
    """An agent under the rules that hold for it now, as tools and the registry see it."""

    agent: Agent
    policy: Policy
    services: Use = nothing_to_use

    @property
    def name(self) -> str:
        return self.agent.name

    def decide(self, permission: str, pattern: str) -> Action:
        return self.policy.decide(permission, pattern).action

    def hides(self, permission: str) -> bool:
        return self.policy.hides(permission)

    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        return self.policy.about(permission)

    def use(self, kind: type[T]) -> T:
        return self.services(kind)


@record(frozen=True, slots=True, kw_only=True)
class Agents:
    """All agents of a workspace, and the layers of rules they share."""

    by_name: dict[str, Agent]
    defaults: Layer
    general: tuple[Layer, ...]
    """Permissions for every agent, from the configuration."""
    output: Layer
    output_folder: tuple[str, ...]
    """The patterns for the long outputs of all projects, by which a rule may deny them to this one as well."""
    protected: Layer
    """Our own files and those of git."""
    run_later: Layer = Layer("run later", (), tightens_only=True)
    """Files that other programs run by themselves."""
    managed: tuple[Layer, ...] = ()
    """The administrator's rules."""
    default_name: str = ""
    trusted: bool = False
    bases: tuple[Path, ...] = ()
    """The root of the project and the folder opened, from which patterns of rules start."""
    use: Use = nothing_to_use

    def find(self, name: str) -> Agent | None:
        """The agent by its name or by the path of its file."""
        others = (agent for agent in self.by_name.values() if name and agent.other_name == name)
        return self.by_name.get(name) or next(others, None)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def __getitem__(self, name: str) -> Agent:
        if (known := self.find(name)) is not None:
            return known
        from difflib import get_close_matches

        visible = [agent.name for agent in self.visible()]
        near = get_close_matches(name, self.by_name, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(visible)}."
        raise UsageError(f"There is no agent {name!r}. {hint}")

    def visible(self) -> list[Agent]:
        return [agent for agent in self.by_name.values() if not agent.hidden]

    def mentionable(self) -> tuple[str, ...]:
        """The names by which a prompt can call a subagent."""
        called = [agent for agent in self.visible() if agent.mode != "primary"]
        return tuple(name for agent in called for name in (agent.name, agent.other_name) if name)

    def default(self) -> Agent:
        """The agent that takes a prompt when none is named."""
        if self.default_name:
            return self._chosen_default()
        for agent in self.visible():
            if agent.mode != "subagent":
                return agent
        raise UsageError("No agent can take a prompt: all are subagents, hidden or disabled. Enable build or plan.")

    def _chosen_default(self) -> Agent:
        agent = self[self.default_name]
        if agent.hidden or agent.mode == "subagent":
            reason = "hidden" if agent.hidden else "a subagent"
            raise ConfigError(f"default_agent is {agent.name!r}, which is {reason}. Name one that can take a prompt.")
        return agent

    def ruled(self, agent: Agent, session: Sequence[Rule] = (), parent: Policy | None = None) -> RuledAgent:
        """The agent under all rules that hold for it, and under its caller's if it has one."""
        layers = (
            self.defaults,
            Layer("agent", agent.rules),
            *self.general,
            Layer("agent (user)", agent.user_rules),
            Layer("agent (project)", agent.project_rules, tightens_only=not self.trusted),
            Layer("agent (tools)", agent.narrowing, tightens_only=True),
            self._output_for(agent),
            Layer("session", tuple(rule for rule in session if rule.source != CLIENT)),
            Layer("session", tuple(rule for rule in session if rule.source == CLIENT), tightens_only=True),
            self.protected,
            self.run_later,
            *self.managed,
            Layer("managed", agent.managed_rules, tightens_only=True),
        )
        real = tuple(with_real_names(layer, self.bases) for layer in layers if layer.rules)
        policy = Policy(agent.name, real, parent)
        return RuledAgent(agent, policy, self.use)

    def _output_for(self, agent: Agent) -> Layer:
        """Every agent may read what was too long to show, unless just that folder is denied by name."""
        patterns = {rule.pattern for rule in self.output.rules} | set(self.output_folder)
        all_rules = [rule for layer in self.general for rule in layer.rules] + [*agent.user_rules, *agent.project_rules]
        if any(rule.action == "deny" and rule.pattern in patterns for rule in all_rules):
            return Layer("output folder", ())
        return self.output


def load_agents(config: Config, folders: Folders, *, trusted: bool, use: Use = nothing_to_use) -> Agents:
    """The built-in agents with what the configuration makes of them, and the configuration's own."""
    by_name = {agent.name: agent for agent in native_agents(folders)}
    for source in config.agents:
        before = by_name.get(source.name) or Agent(name=source.name)
        by_name[source.name] = _overlaid(before, source, folders.home)
    return Agents(
        by_name={name: agent for name, agent in by_name.items() if not agent.disabled},
        defaults=Layer("defaults", default_rules(folders)),
        general=tuple(layer for layer in config.layers if layer.name != "managed"),
        protected=Layer("protected", protected_rules(folders, config.root), tightens_only=True),
        run_later=Layer("run later", run_later_rules(config.settings.run_later, config.root), tightens_only=True),
        managed=tuple(layer for layer in config.layers if layer.name == "managed"),
        output_folder=tuple(str(folders.outputs_of(config.root)) + end for end in ("", "/*")),
        output=Layer("output folder", output_rules(folders)),
        default_name=config.settings.default_agent,
        trusted=trusted,
        bases=tuple(dict.fromkeys((config.root.resolve(), config.directory.resolve()))),
        use=use,
    )


def added_agent(name: str, value: Any, origin: str, home: Path) -> Agent:
    """An agent that a program brings; its rules take away and never grant. ConfigError if it says what none can say."""
    from toolwright.config.reader import checked_agent
    from toolwright.config.source import SettingsSource

    source = checked_agent(SettingsSource(origin, "user", value))
    return _overlaid(Agent(name=name), AgentSource(name, source.value, source, narrows=True), home)


_COPIED = {
    "description": "description",
    "mode": "mode",
    "model": "model",
    "variant": "variant",
    "prompt": "prompt",
    "temperature": "temperature",
    "top_p": "top_p",
    "steps": "steps",
    "maxSteps": "steps",
    "hidden": "hidden",
    "copy": "copy",
    "color": "color",
    "disable": "disabled",
}
_OTHER = {"permission", "tools", "options", "name", "output", "hand_over"}
HAND_OVER = "hand_over"
"""The tool by which an agent hands the conversation over."""


def _overlaid(agent: Agent, source: AgentSource, home: Path) -> Agent:
    """The agent with one source's settings over it. Keys we do not know are meant for the provider."""
    value = source.value
    changes: dict[str, Any] = {"other_name": source.other_name} if source.other_name else {}
    changes |= {ours: value[theirs] for theirs, ours in _COPIED.items() if theirs in value}
    extra = {key: entry for key, entry in value.items() if key not in _COPIED and key not in _OTHER}
    level = "foreign" if source.narrows else source.source.level
    kind = {"project": "project_rules", "managed": "managed_rules", "foreign": "narrowing"}.get(level, "user_rules")
    changes[kind] = (*getattr(agent, kind), *rules_of(value, source.source, source.path, home))
    changes |= _shape_of(agent, value, narrows=source.source.level == "project")
    options = {key: entry for key, entry in (value.get("options", {}) | extra).items() if key not in RESERVED_OPTIONS}
    return replace(agent, options=agent.options | options, **changes)


def _shape_of(agent: Agent, value: JsonView, *, narrows: bool) -> dict[str, Any]:
    """The tools of an agent, the form of its answers and to whom it may hand over, as far as a source says so."""
    changes: dict[str, Any] = {}
    if "hand_over" in value:
        changes["hand_over"] = tuple(value["hand_over"])
    if isinstance(listed := value.get("tools"), list):
        before = agent.only_tools if narrows else None
        changes["only_tools"] = tuple(name for name in listed if before is None or name in before)
    if value.get("output"):
        from toolwright.structured import output_of

        changes["output"] = output_of(value["output"])
    return changes


def as_child(agent: Agent) -> Agent:
    """The agent as one that was called by another: it keeps no todo list, and delegates only if it is meant to."""
    own_rules = (*agent.rules, *agent.user_rules, *agent.project_rules)
    delegates = any(rule.permission == "task" for rule in own_rules)
    denied = ("todowrite", "todoread") if delegates else ("todowrite", "todoread", "task")
    return replace(agent, rules=(*agent.rules, *rules(*(f"{name}: deny" for name in denied), source="subagent")))

"""The agents: the built-in ones as data, the user's own from configuration, and the rules each stands under."""

from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from toolwright.config.load import Config
from toolwright.config.rules import rules_of
from toolwright.config.source import AgentSource
from toolwright.definition import Action, Use, nothing_to_use
from toolwright.errors import ConfigError, UsageError
from toolwright.folders import Folders
from toolwright.jsontypes import Json
from toolwright.permission.defaults import SECRET_FILES, default_rules, output_rules, protected_rules, rules
from toolwright.permission.rules import Layer, Policy, Rule
from toolwright.record import record
from toolwright.settings.record import RESERVED_OPTIONS

CLIENT = "client"
"""The source of rules that a program over the network has given a session: they may forbid, not allow."""
T = TypeVar("T")
Mode = Literal["primary", "subagent", "all"]


@record(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who works: a name, a prompt, a model, and what it may do."""

    name: str
    mode: Mode = "all"
    description: str = ""
    native: bool = False
    hidden: bool = False
    disabled: bool = False
    """Said by one source; if a later one enables the agent again, its rules are still in force."""
    prompt: str = ""
    """What the model is told to be; empty for the general prompt."""
    model: str = ""
    """`provider/model`; empty for the session's own."""
    variant: str = ""
    temperature: float | None = None
    top_p: float | None = None
    steps: int | None = None
    color: str = ""
    options: Json = field(default_factory=dict[str, Any])
    """Handed on to the provider as they are."""
    rules: tuple[Rule, ...] = ()
    """The agent's own; a deny among them is not undone by a general setting."""
    user_rules: tuple[Rule, ...] = ()
    project_rules: tuple[Rule, ...] = ()
    managed_rules: tuple[Rule, ...] = ()
    narrowing: tuple[Rule, ...] = ()
    """What another program's file leaves it of its tools; they take away and never grant."""


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

    def use(self, kind: type[T]) -> T:
        return self.services(kind)


@record(frozen=True, slots=True, kw_only=True)
class Agents:
    """All agents of a workspace, and the layers of rules they share."""

    by_name: dict[str, Agent]
    defaults: Layer
    general: tuple[Layer, ...]
    """What the configuration says of permissions for every agent."""
    output: Layer
    protected: Layer
    """Our own files and those of git."""
    managed: tuple[Layer, ...] = ()
    """The administrator's rules."""
    default_name: str = ""
    trusted: bool = False
    use: Use = nothing_to_use

    def __getitem__(self, name: str) -> Agent:
        if name in self.by_name:
            return self.by_name[name]
        from difflib import get_close_matches

        visible = [agent.name for agent in self.visible()]
        near = get_close_matches(name, self.by_name, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(visible)}."
        raise UsageError(f"There is no agent {name!r}. {hint}")

    def visible(self) -> list[Agent]:
        return [agent for agent in self.by_name.values() if not agent.hidden]

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
            *self.managed,
            Layer("managed", agent.managed_rules, tightens_only=True),
        )
        policy = Policy(agent.name, tuple(layer for layer in layers if layer.rules), parent)
        return RuledAgent(agent, policy, self.use)

    def _output_for(self, agent: Agent) -> Layer:
        """Every agent may read what was too long to show, unless just that folder is denied by name."""
        patterns = {rule.pattern for rule in self.output.rules}
        said = [rule for layer in self.general for rule in layer.rules] + [*agent.user_rules, *agent.project_rules]
        if any(rule.action == "deny" and rule.pattern in patterns for rule in said):
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
        protected=Layer("protected", protected_rules(folders), tightens_only=True),
        managed=tuple(layer for layer in config.layers if layer.name == "managed"),
        output=Layer("output folder", output_rules(folders)),
        default_name=config.settings.default_agent,
        trusted=trusted,
        use=use,
    )


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
    "color": "color",
    "disable": "disabled",
}
_OTHER = {"permission", "tools", "options", "name"}


def _overlaid(agent: Agent, source: AgentSource, home: Path) -> Agent:
    """The agent with one source's settings over it. Keys we do not know are meant for the provider."""
    value = source.value
    changes: dict[str, Any] = {ours: value[theirs] for theirs, ours in _COPIED.items() if theirs in value}
    extra = {key: entry for key, entry in value.items() if key not in _COPIED and key not in _OTHER}
    level = "foreign" if source.narrows else source.source.level
    kind = {"project": "project_rules", "managed": "managed_rules", "foreign": "narrowing"}.get(level, "user_rules")
    changes[kind] = (*getattr(agent, kind), *rules_of(value, source.source, source.path, home))
    options = {key: entry for key, entry in (value.get("options", {}) | extra).items() if key not in RESERVED_OPTIONS}
    return replace(agent, options=agent.options | options, **changes)


def as_child(agent: Agent) -> Agent:
    """The agent as one that was called by another: it keeps no todo list, and delegates only if it is meant to."""
    said = (*agent.rules, *agent.user_rules, *agent.project_rules)
    delegates = any(rule.permission == "task" for rule in said)
    denied = ("todowrite", "todoread") if delegates else ("todowrite", "todoread", "task")
    return replace(agent, rules=(*agent.rules, *rules(*(f"{name}: deny" for name in denied), source="subagent")))


def native_agents(folders: Folders) -> list[Agent]:
    """The agents that are always there, in the order they are listed."""
    return [
        Agent(
            name="build",
            mode="primary",
            description="Does the work: reads, edits, runs. The agent you talk to unless you choose another.",
            native=True,
            rules=rules("question: allow", "plan_enter: allow"),
        ),
        Agent(
            name="plan",
            mode="primary",
            description="Looks and thinks, writes nothing but its plan.",
            native=True,
            rules=rules(
                "question: allow",
                "plan_exit: allow",
                f"external_directory {folders.plans}/*: allow",
                "edit: deny",
                "edit .toolwright/plans/*.md: allow",
                "edit .opencode/plans/*.md: allow",
                f"edit {folders.plans}/*.md: allow",
            ),
        ),
        Agent(
            name="general",
            mode="subagent",
            description="Carries out a task of several steps on its own. Several can work side by side.",
            native=True,
            rules=rules("todoread: deny", "todowrite: deny"),
        ),
        Agent(
            name="explore",
            mode="subagent",
            description=(
                "Finds its way around a code base: files by name, code by content, how things hang together."
                " Changes nothing. Say how thorough it should be: quick, medium or very thorough."
            ),
            native=True,
            prompt=_EXPLORE,
            rules=rules(
                "*: deny",
                *(f"{name}: allow" for name in _LOOKING),
                *SECRET_FILES,
                f"external_directory {folders.tool_output}: allow",
                f"external_directory {folders.tool_output}/*: allow",
            ),
        ),
        Agent(name="compaction", mode="primary", hidden=True, native=True, prompt=_COMPACTION, rules=rules("*: deny")),
        Agent(
            name="title",
            mode="primary",
            hidden=True,
            native=True,
            temperature=0.5,
            prompt=_TITLE,
            rules=rules("*: deny"),
        ),
        Agent(name="summary", mode="primary", hidden=True, native=True, prompt=_SUMMARY, rules=rules("*: deny")),
    ]


_LOOKING = ("grep", "glob", "list", "bash", "webfetch", "websearch", "codesearch", "read")

_EXPLORE = """\
You find things in a code base and report them; you change nothing.

- Start broad with glob and grep, then read only what matters. Search for several spellings of a name.
- Use bash only to look: git log, git show, ls. Never to write, move or install.
- Match the effort to the thoroughness you were asked for.
- Answer with absolute paths and line numbers, what you found there, and what you looked for without finding it.
- No preamble and no advice beyond the question."""

_COMPACTION = """\
You write the hand-over of a conversation that has grown too long, for the one who goes on with it and sees \
nothing else.

Say in full: what the user wants and has decided, what was done and in which files, what was found out, what is still \
open, and what comes next. Keep names, paths, commands and numbers exactly as they were. Leave out what no longer \
matters."""

_TITLE = """\
You are a title generator. You name a conversation by what its first message asks for.

Write one line of at most 50 characters, in the language of the message, without quotes and without a full stop. Name \
the thing and the task. Never answer the message, whatever it says."""

_SUMMARY = """\
You describe finished work as the author of a pull request would: in the first person, two or three sentences, what \
changed and why. No list, no heading, no praise, and nothing that was only talked about."""

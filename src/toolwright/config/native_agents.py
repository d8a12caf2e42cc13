"""The record of an agent, and the agents that are always there, as data."""

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from toolwright.machine.folders import Folders
from toolwright.permission.defaults import SECRET_FILES, output_rules, rules
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.structured import Output

Mode = Literal["primary", "subagent", "all"]


@record(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent: a name, a prompt, a model, and what it may do."""

    name: str
    other_name: str = ""
    """The path of its file, where that says another name."""
    mode: Mode = "all"
    description: str = ""
    native: bool = False
    hidden: bool = False
    copy: bool = False
    """True if it works in a copy of the project, where others hand work to it."""
    disabled: bool = False
    """Said by one source; if a later one enables the agent again, its rules are still in force."""
    prompt: str = ""
    """System prompt of the model; empty for the general one."""
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
    only_tools: tuple[str, ...] | None = None
    """The ids of the only tools it is offered; None for all that its rules leave it."""
    output: "Output | None" = None
    """The form of its answers, where they are values."""
    hand_over: tuple[str, ...] = ()
    """The agents to which it may hand the conversation over."""
    narrowing: tuple[Rule, ...] = ()
    """Rules by which another program's file takes tools away; they never grant."""


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
                "act changes: deny",
                "act final: deny",
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
            rules=(
                *rules("*: deny", *(f"{name}: allow" for name in _LOOKING), *SECRET_FILES),
                *output_rules(folders),
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

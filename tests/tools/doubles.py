"""A session whose todo list, user, other agents and modes are doubles, to run the tools of a conversation on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolwright.definition import Call, Result, Tool, ToolContext
from toolwright.errors import PermissionRejected
from toolwright.inbox import Choice
from toolwright.permission.rules import Rule
from toolwright.services import Delegation, OtherAgent, Report, Todo
from toolwright.session.session import Session
from toolwright.skills import Skills, skill_folders
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.text.ids import new_id
from toolwright.tools.batch import BatchLimits


@dataclass
class TodoLists:
    """Implements Todos in memory."""

    lists: dict[str, list[Todo]] = field(default_factory=dict)

    async def of(self, session_id: str) -> list[Todo]:
        return self.lists.get(session_id, [])

    def replace(self, session_id: str, todos: Sequence[Todo]) -> None:
        self.lists[session_id] = list(todos)

    def forget(self, session_id: str) -> None:
        self.lists.pop(session_id, None)


@dataclass
class User:
    """Implements Questions: gives the answers written down, and declines where there are none."""

    answers: list[list[str]] | None = None
    asked: list[Choice] = field(default_factory=list)

    @property
    def attended(self) -> bool:
        return True

    async def ask(self, ctx: ToolContext, questions: Sequence[Choice]) -> list[list[str]]:
        self.asked += questions
        if self.answers is None:
            raise PermissionRejected("The user declined to answer.")
        return self.answers


@dataclass
class ScriptedSubagents:
    """Implements OtherAgents and Subagents: everybody answers with the report written down."""

    other_agents: list[OtherAgent] = field(default_factory=list)
    report: Report = field(default_factory=lambda: Report(session_id="ses_child", text="all done"))
    tasks: list[Delegation] = field(default_factory=list)

    def known(self, agent: str) -> list[OtherAgent]:
        return self.other_agents

    def name_of(self, named: str) -> str:
        return named

    async def attend(self, ctx: ToolContext, session_id: str, text: str, *, stop: bool) -> str | None:
        return None

    async def run(self, ctx: ToolContext, task: Delegation) -> Report:
        self.tasks.append(task)
        return self.report


@dataclass
class RecordedModes:
    """Implements Modes: writes down who was switched to."""

    switched: list[tuple[str, str]] = field(default_factory=list)

    def plan_file(self, session_id: str) -> str:
        return ".toolwright/plans/one.md"

    def switch(self, ctx: ToolContext, agent: str, text: str) -> None:
        self.switched.append((agent, text))


@dataclass(kw_only=True)
class Doubles:
    """The session and everybody in it."""

    session: Session
    todos: TodoLists
    user: User
    subagents: ScriptedSubagents
    modes: RecordedModes
    permissions: ScriptedUser
    another: Callable[[], Session]
    """A further session of the same workspace."""

    async def run(self, tool: str, /, **arguments: Any) -> Result:
        return await run(self.session, tool, **arguments)

    async def shown(self, tool: Tool) -> Tool:
        """The tool as this session's agent is offered it."""
        return await tool.for_agent(self.session.ruled_agent)


def _limits(limits: BatchLimits | None, usual: BatchLimits) -> BatchLimits:
    """The limits of a test; what it does not say of tools that stand alone is as usual."""
    if limits is None:
        return usual
    return limits if limits.alone("hello") else replace(limits, alone=usual.alone)


async def run(session: Session, tool: str, /, **arguments: Any) -> Result:
    """One call, through the door."""
    return await session.run_call(Call(id=new_id("call"), tool=tool, arguments=arguments))


def make_doubles(
    project: Path,
    *tools: Tool,
    agent: str = "",
    rules: Sequence[Rule] = (),
    replies: Sequence[str] = (),
    limits: BatchLimits | None = None,
    environment: Mapping[str, str] | None = None,
) -> Doubles:
    permissions = ScriptedUser.saying(*replies)
    workspace = make_workspace(project, tools=tools, user=permissions, environment=environment)
    config, folders = workspace.config, workspace.folders
    todos, user, subagents, modes = TodoLists(), User(), ScriptedSubagents(), RecordedModes()
    skills = skill_folders(
        home=folders.home,
        root=config.root,
        directory=config.directory,
        config_folders=[folder.path for folder in config.folders],
    )
    offered = {
        "todos": todos,
        "questions": user,
        "other_agents": subagents,
        "subagents": subagents,
        "modes": modes,
        "skills": Skills(skills),
        "batch_limits": _limits(limits, workspace.batch_limits),
    }
    for name, service in offered.items():
        setattr(workspace, name, service)
    return Doubles(
        session=workspace.session(agent, rules=rules),
        todos=todos,
        user=user,
        subagents=subagents,
        modes=modes,
        permissions=permissions,
        another=lambda: workspace.session(agent, rules=rules),
    )

"""A project whose commands really run: a workspace with scopes, sandbox and jobs, and the bash tool."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolwright.definition import Call, Result
from toolwright.machine.own_files import Ours
from toolwright.permission.rules import Rule
from toolwright.process.jobs.jobs import Jobs, ShellSettings
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.text.ids import new_id
from toolwright.tools.bash import bash
from toolwright.workspace import Workspace

EVERYTHING_ALLOWED = (Rule("*", "*", "allow"),)


@dataclass(kw_only=True)
class ShellSession:
    """A workspace and one session in it."""

    workspace: Workspace
    session: Session
    user: ScriptedUser
    scopes: Scopes
    sandbox: Sandbox
    jobs: Jobs

    async def bash(self, command: str = "", /, **arguments: Any) -> Result:
        return await run(self.session, command, **arguments)

    def another(self, agent: str = "", rules: Sequence[Rule] = ()) -> Session:
        return self.workspace.session(agent, rules=rules)


async def run(session: Session, command: str = "", /, **arguments: Any) -> Result:
    """One call of bash, through the door."""
    given = {"command": command} if command else {}
    return await session.run_call(Call(id=new_id("call"), tool="bash", arguments=given | arguments))


@asynccontextmanager
async def open_shell(
    project: Path,
    *,
    agent: str = "",
    rules: Sequence[Rule] = (),
    replies: Sequence[str] = (),
    sandbox: SandboxSettings = SandboxSettings(mode="off"),  # noqa: B008 - frozen
    shell: ShellSettings = ShellSettings(),  # noqa: B008 - frozen
    environment: Mapping[str, str] = os.environ,
    processes: int = 4096,
) -> AsyncIterator[ShellSession]:
    user = ScriptedUser.saying(*replies)
    workspace = make_workspace(project, user=user)
    if "bash" not in workspace.registry:
        workspace.registry.register(bash)
    scopes = Scopes(processes=processes)
    root = workspace.config.root.resolve()
    box = Sandbox(
        sandbox,
        directory=project.resolve(),
        root=root,
        ours=Ours.of(environment, workspace.folders),
        scopes=scopes,
        environment=environment,
    )
    jobs = Jobs(
        scopes, box, shell, environment=environment, lookup=workspace.lookup, new_file=workspace.truncator.new_file
    )
    for name, service in {"scopes": scopes, "sandbox": box, "jobs": jobs}.items():
        setattr(workspace, name, service)
    session = workspace.session(agent, rules=rules)
    try:
        yield ShellSession(workspace=workspace, session=session, user=user, scopes=scopes, sandbox=box, jobs=jobs)
    finally:
        await jobs.close()
        await scopes.close()
        box.close()
        await workspace.close()

"""Work handed to an agent in a copy of the project, in a session under the caller's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from toolwright.copies.life import drop_copy, inside, make_copy
from toolwright.copies.store import Copy
from toolwright.services import Delegation
from toolwright.session.session import Session
from toolwright.session.subagents import ElsewhereSession
from toolwright.workspace import Workspace

_NAMED = 5
"""Files that are named in a report."""


@asynccontextmanager
async def work_in_copy(workspace: Workspace, parent: Session, task: Delegation) -> AsyncIterator[ElsewhereSession]:
    """Make a copy and a session in it, for as long as the work takes. A copy without changes goes again."""
    copy = await make_copy(workspace, task.prompt)
    try:
        there = Workspace(
            inside(copy, workspace),
            answer=workspace.inbox.answer,
            model=workspace.model,
            store=workspace.store,
            trust=workspace.trusted,
            client="cli",
            environment=workspace.environment,
        )
        async with there:
            there.work_for(workspace)
            there.bus.subscribe(workspace.bus.publish)
            child = there.sessions.create(title=f"{task.description} (@{task.agent} subagent)", parent=parent)
            workspace.sessions_open[child.id] = child
            try:
                yield ElsewhereSession(session=child, outcome=partial(_outcome, copy))
            finally:
                workspace.sessions_open.pop(child.id, None)
    finally:
        if not await copy.changed():
            await drop_copy(workspace, copy)


async def _outcome(copy: Copy) -> str:
    """Return what has become of the copy, for whoever has handed the work down."""
    paths = await copy.changed()
    if not paths:
        return "It worked in a copy of the project and changed nothing."
    named = ", ".join(paths[:_NAMED]) + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")
    return (
        f"Its work is in the copy {copy.name} and not in the project: {named}. The user looks at it with"
        f" `tw copy diff {copy.name}` and brings it back with `tw merge {copy.name}`."
    )

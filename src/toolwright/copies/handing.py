"""Work handed to an agent in a copy of the project, in a session under the caller's, and brought back at its end."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from functools import partial
from typing import Any

from toolwright.copies.applying import write_merge
from toolwright.copies.joining import names_of
from toolwright.copies.life import drop_copy, inside, make_copy
from toolwright.copies.merging import MergedCopy
from toolwright.copies.project import MergeOutcome, merge
from toolwright.copies.store import Copies, Copy
from toolwright.definition import ToolContext
from toolwright.errors import ToolError, ToolwrightError
from toolwright.record import record
from toolwright.services import Delegation
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.session.subagents.subagents import ElsewhereSession
from toolwright.workspace import Workspace

TRIES = 3
"""Merges that are tried where the files change meanwhile."""
_NAMED = 5
"""Files that are named in a report, and conflicts that are shown in full."""
_BY_HAND = "The user looks at it with `tw copy diff {name}` and brings it back with `tw merge {name}`."


@record(slots=True)
class CopyWork:
    """The work that a workspace has done in copies of its project. One of them is brought back at a time."""

    workspace: Workspace
    _merging: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def begin(self, parent: Session, task: Delegation) -> AsyncIterator[ElsewhereSession]:
        """Make a copy and a session in it, for as long as the work takes. A copy without work of its own goes again."""
        workspace = self.workspace
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
                    yield ElsewhereSession(session=child, outcome=partial(self._settle, copy))
                finally:
                    workspace.sessions_open.pop(child.id, None)
        finally:
            # Somebody else may have dropped it, and what was merged is noted with it.
            left = [one for one in Copies.of(workspace.folders).found() if one.name == copy.name]
            if left and not await left[0].has_unmerged_work():
                await drop_copy(workspace, left[0])

    async def _settle(self, copy: Copy, ctx: ToolContext, result: TurnResult[Any]) -> str:
        """Bring the work back; return what has become of it, for whoever has handed it down."""
        paths = await copy.changed()
        if not paths:
            return "It worked in a copy of the project and changed nothing."
        settings = self.workspace.settings.copies
        if result.error is not None or settings.merge == "by_hand":
            return _left(copy, paths)
        try:
            async with self._merging:
                outcome = await self._merged(copy, ctx, settings.check)
        except ToolwrightError as error:
            return f"{_left(copy, paths)}\n\nIt could not be merged: {error}"
        [part] = outcome.parts
        if not part.whole:
            return f"{_left(copy, paths)}\n\n{_against(part)}"
        await Copies.of(self.workspace.folders).note_merged(copy, whole=True)
        checked = f"`{settings.check}` holds with it." if settings.check else "No check was run (copies.check)."
        return f"It worked in a copy, and its work is in the project now: {_named(paths)}. {checked}"

    async def _merged(self, copy: Copy, ctx: ToolContext, check: str) -> MergeOutcome:
        for _ in range(TRIES - 1):
            try:
                return await merge(self.workspace, partial(write_merge, ctx), [copy], check=check)
            except ToolError as error:
                if error.kind != "stale":
                    raise
        return await merge(self.workspace, partial(write_merge, ctx), [copy], check=check)


def _against(part: MergedCopy) -> str:
    """Return why a copy was not merged: for each file what either side wanted."""
    if part.clashes:
        passages = ["It was not merged, for the project has meanwhile become something else in the same places."]
        for clash in part.clashes[:_NAMED]:
            passages.append(f"{clash.path}: {clash.reason}\nThe agent wanted:\n{clash.theirs}")
            passages.append(f"The project has made of it:\n{clash.ours}")
        if more := part.clashes[_NAMED:]:
            passages.append(f"So it is with {names_of(more)}.")
        return "\n".join([*passages, "Make what it wanted anew on top of that, or leave it to the user."])
    guilty = f" because of {_named(part.guilty)}" if part.guilty else ""
    return f"It was not merged, for the check fails with it{guilty}. {part.reason}"


def _left(copy: Copy, paths: Sequence[str]) -> str:
    by_hand = _BY_HAND.format(name=copy.name)
    return f"Its work is in the copy {copy.name} and not in the project: {_named(paths)}. {by_hand}"


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_NAMED]) + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")

"""A copy from its beginning to its end, as the project's settings say: what is left out, set up, and taken down."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from toolwright.copies.store import Copies, Copy
from toolwright.errors import UsageError
from toolwright.workspace import Workspace

_SHOWN = 1500
"""Letters of what a command printed that are shown."""
SECONDS = 600.0
"""Longest time that a command of `setup` or `teardown` may take."""


async def make_copy(workspace: Workspace, purpose: str = "", held: ExitStack | None = None) -> Copy:
    """Copy the project of a workspace, and set the copy up; where that fails, nothing of it stays.

    While `held` is open, others can tell that it is in use. What a killed program has left of a merge goes first.
    """
    settings, everything = workspace.settings.copies, Copies.of(workspace.folders)
    root = workspace.files.tree.root
    for left in everything.left_trials(root):
        await drop_copy(workspace, left)
    copy = await everything.create(
        root, purpose=purpose, leave_out=settings.leave_out, variables=settings.variables, held=held
    )
    if problem := await _run_all(workspace, copy, settings.setup):
        await drop_copy(workspace, copy)
        raise UsageError(f"The copy could not be set up (copies.setup): {problem}")
    return copy


async def drop_copy(workspace: Workspace, copy: Copy) -> str:
    """Take down what was set up for a copy, and remove it; return what went wrong with the first."""
    problem = await _run_all(workspace, copy, workspace.settings.copies.teardown)
    Copies.of(workspace.folders).drop(copy)
    return problem


async def _run_all(workspace: Workspace, copy: Copy, commands: Sequence[str]) -> str:
    """Run commands in a copy, in its box and with its variables; return what went wrong, or nothing."""
    if not commands:
        return ""
    trust = workspace.trusted and copy.project == workspace.files.tree.root
    async with Workspace(copy.folder, environment=workspace.environment, trust=trust) as there:
        for command in commands:
            ran = await there.run(command, seconds=SECONDS)
            if ran.exit_code != 0:
                return f"`{command}` ended with {ran.exit_code}:\n{ran.output.strip()[-_SHOWN:]}"
    return ""


def inside(copy: Copy, workspace: Workspace) -> Path:
    """Return the folder of a copy that is the one opened by a workspace."""
    return copy.folder / workspace.directory.relative_to(workspace.files.tree.root)

"""The tools `changes` and `revert`: what was changed over a connection, and undoing it."""

from typing import Annotated

from toolwright.app.undoing import undo_asked
from toolwright.definition import Result, Tool, ToolContext, tool
from toolwright.errors import ToolError, UsageError
from toolwright.inbox import WrongAnswer
from toolwright.session.undo.changes import Changes
from toolwright.session.undo.file_back import Selection
from toolwright.text.diff import unified
from toolwright.workspace import Workspace


def undo_tools(workspace: Workspace) -> list[Tool]:
    """The two tools, for the sessions of one workspace."""

    @tool(asks=True, reads="*")
    async def changes(ctx: ToolContext) -> Result:
        """Shows what the calls over this connection have changed in files so far, as differences."""
        await ctx.ask("changes", "*")
        changed = Changes(workspace.files.journal, workspace.files.hides)
        changed.follow(ctx.session_id)
        files = [one for one in changed.sum_up() if one.before != one.after]
        diffs = [unified(one.file, one.before, one.after).rstrip() for one in files]
        return Result("\n\n".join(diffs) or "Nothing is changed.", title=f"{len(files)} files changed")

    @tool(asks=True, writes="*")
    async def revert(
        ctx: ToolContext, file_path: Annotated[str, "The file to undo; all files if it is left out"] = ""
    ) -> Result:
        """Undoes what the calls over this connection have changed: of one file, or of all.

        A file that somebody else has changed since is left alone, and then nothing is undone.
        """
        try:
            plans = await undo_asked(ctx, workspace, Selection(file=file_path))
        except WrongAnswer:
            raise
        except UsageError as error:
            raise ToolError(str(error), "not_found") from error
        lines = [f"{plan.kind} {plan.path}" for plan in plans]
        return Result("\n".join(lines), title=f"{len(plans)} files undone")

    return [changes, revert]

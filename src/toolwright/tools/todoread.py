"""The todoread tool: the todo list of the session."""

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.services import Todos
from toolwright.tools._todo_list import shown_todos


@tool(
    text="todoread.md", known_as=("TodoRead",), unseen_changes=False, look=Look(verb="Plan", kind="think", quiet=True)
)
async def todoread(ctx: ToolContext) -> Result:
    """Show the list."""
    return shown_todos(await ctx.use(Todos).of(ctx.session_id))

"""The todoread tool: the todo list of the session."""

from toolwright.definition import Result, ToolContext, tool
from toolwright.services import Todos
from toolwright.tools._todo_list import shown_todos


@tool(text="todoread.md")
async def todoread(ctx: ToolContext) -> Result:
    """Show the list."""
    return shown_todos(await ctx.use(Todos).of(ctx.session_id))

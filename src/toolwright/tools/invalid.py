"""invalid: takes the place of a call that could not be made, and tells the model why."""

from typing import Annotated

from toolwright.tool import Result, ToolContext, tool


@tool(text="invalid.md", asks=True)
async def invalid(
    ctx: ToolContext,
    tool: Annotated[str, "The name that was called"],
    error: Annotated[str, "What was wrong with the call"],
    kind: Annotated[str, "The class of the failure"] = "schema",
) -> Result:
    """Pass the reason on; a bad call is an answer to learn from, not the end of the turn."""
    return Result(f"The call of {tool!r} could not be made. {error}", title="Invalid call", metadata={"kind": kind})

"""invalid: takes the place of a call that could not be made, and tells the model why."""

from collections.abc import Mapping
from typing import Annotated

from toolwright.definition import Result, ToolContext, tool
from toolwright.errors import Kind, ToolError


@tool(text="invalid.md", unseen_changes=False, asks=True, offered=lambda _: False, alone="It is not a tool to call.")
async def invalid(
    ctx: ToolContext,
    tool: Annotated[str, "The name that was called"],
    error: Annotated[str, "What was wrong with the call"],
    kind: Annotated[str, "The class of the failure"] = "schema",
) -> Result:
    """Pass the reason on; a bad call is an answer to learn from, not the end of the turn."""
    failure = ToolError(f"The call of {tool!r} could not be made. {error}", _kind(kind))
    return Result(str(failure), title="Invalid call", error=failure)


_REASONS: Mapping[str, Kind] = {"unknown_tool": "unknown_tool", "timeout": "timeout", "missing": "missing"}
"""Why a call is not made, where it is not its arguments: no such tool, or a server that does not answer or is gone."""


def _kind(kind: str) -> Kind:
    return _REASONS.get(kind, "schema")

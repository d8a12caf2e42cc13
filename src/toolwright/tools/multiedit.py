"""The multiedit tool: several edits of one file, all or none."""

from typing import Annotated, TypedDict

from toolwright.signature import Field
from toolwright.tool import Result, ToolContext, tool


class _Required(TypedDict):
    oldString: Annotated[str, "The text to replace, as the edits before have left it"]
    newString: Annotated[str, "What takes its place"]


class _Optional(TypedDict, total=False):
    replaceAll: Annotated[bool, "Replace every occurrence instead of the only one"]


class Item(_Required, _Optional):
    """One edit as the model writes it."""


@tool(text="multiedit.md", asks=True, permission="edit")
async def multiedit(
    ctx: ToolContext,
    file_path: Annotated[str, Field("The file to change", schema={"minLength": 1})],
    edits: Annotated[list[Item], Field("The edits, in order", schema={"minItems": 1})],
) -> Result:
    """Replace several texts in a file."""
    from toolwright.tools._revision import Edit, revise

    wanted = [
        Edit(old=item["oldString"], new=item["newString"], everywhere=item.get("replaceAll", False)) for item in edits
    ]
    return await revise(ctx, file_path, wanted)

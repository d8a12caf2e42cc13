"""The edit tool: one text for another in a file."""

from typing import Annotated

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.functions.signature import Field


@tool(
    text="edit.md",
    known_as=("Edit", "NotebookEdit"),
    in_a_word=("filePath", {"oldString": "", "newString": "x"}),
    unseen_changes=False,
    asks=True,
    permission="edit",
    writes="filePath",
    offered=lambda offer: not offer.wants_patches,
    look=Look(verb="Edit", kind="edit", subject="filePath", place="filePath", act="change {a file}"),
)
async def edit(
    ctx: ToolContext,
    file_path: Annotated[str, Field(schema={"minLength": 1})],
    old_string: str,
    new_string: str,
    replace_all: bool = False,
) -> Result:
    """Replace a text in a file."""
    from toolwright.tools.changes.revision import Edit, revise

    return await revise(ctx, file_path, [Edit(old=old_string, new=new_string, everywhere=replace_all)])

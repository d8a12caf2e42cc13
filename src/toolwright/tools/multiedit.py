"""The multiedit tool: several edits of one file, all or none."""

from typing import Annotated, TypedDict

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.functions.signature import Field


class _Required(TypedDict):
    oldString: str
    newString: str


class _Optional(TypedDict, total=False):
    replaceAll: bool


class Item(_Required, _Optional):
    """One edit as the model writes it."""


@tool(
    text="multiedit.md",
    known_as=("MultiEdit",),
    in_a_word=("filePath", {"edits": [{"oldString": "", "newString": "x"}]}),
    unseen_changes=False,
    asks=True,
    look=Look(verb="Edit", kind="edit", subject="filePath", place="filePath", act="change {a file}"),
    permission="edit",
    writes="filePath",
    offered=lambda offer: not offer.wants_patches,
)
async def multiedit(
    ctx: ToolContext,
    file_path: Annotated[str, Field(schema={"minLength": 1})],
    edits: Annotated[list[Item], Field(schema={"minItems": 1})],
) -> Result:
    """Replace several texts in a file."""
    from toolwright.tools.changes.revision import Edit, revise

    wanted = [
        Edit(old=item["oldString"], new=item["newString"], everywhere=item.get("replaceAll", False)) for item in edits
    ]
    return await revise(ctx, file_path, wanted)

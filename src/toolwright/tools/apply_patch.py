"""The apply_patch tool: changes of several files in the patch format, all or none."""

from typing import Annotated

from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.signature import Field
from toolwright.tools._patch_look import LOOK


@tool(
    text="apply_patch.md",
    known_as=("apply_patch", "Edit", "Write"),
    unseen_changes=False,
    look=LOOK,
    asks=True,
    permission="edit",
    writes=ANY,
    offered=lambda offer: offer.wants_patches,
    alone="A patch can hold any number of changes itself; call apply_patch directly.",
)
async def apply_patch(
    ctx: ToolContext,
    patch_text: Annotated[str, Field("The whole patch, from Begin Patch to End Patch", schema={"minLength": 1})],
) -> Result:
    """Apply a patch."""
    from toolwright.tools._patching import carry_out

    return await carry_out(ctx, patch_text)

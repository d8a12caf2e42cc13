"""The apply_patch tool: changes of several files in the patch format, all or none."""

import re
from typing import Annotated

from toolwright.calls.look import Arguments, Kind, Look
from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.functions.signature import Field

_SECTION = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|(Move) to): *(.+?) *$", re.MULTILINE)


def _sections(arguments: Arguments) -> list[tuple[str, str]]:
    """Return the acts of a patch, each with the file that it is done to."""
    patch = arguments.get("patchText")
    sections = _SECTION.finditer(patch) if isinstance(patch, str) else ()
    return [(one[1] or one[2], one[3]) for one in sections if "\0" not in one[3]]


def _kind(arguments: Arguments) -> Kind:
    words = {word for word, _ in _sections(arguments)}
    return "delete" if words == {"Delete"} else "move" if words == {"Update", "Move"} else "edit"


def _subject(arguments: Arguments) -> str:
    return ", ".join(path for _, path in _sections(arguments))


def _places(arguments: Arguments) -> list[str]:
    """The files that are there after it."""
    return list(dict.fromkeys(path for word, path in _sections(arguments) if word != "Delete"))


@tool(
    text="apply_patch.md",
    known_as=("apply_patch", "Edit", "Write"),
    unseen_changes=False,
    look=Look(verb="Patch", kind=_kind, subject=_subject, place=_places, act="change files"),
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
    from toolwright.tools.changes.patching import carry_out

    return await carry_out(ctx, patch_text)

"""The list tool: the files of a folder as a tree."""

import asyncio
from typing import Annotated

from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.files.folder import require_folder, shown_path
from toolwright.files.globs import Glob, GlobError, parse_glob
from toolwright.files.outline import LIMIT, Outline, outline
from toolwright.files.store import Files
from toolwright.tools._shown_names import ShownNames


@tool(
    id="list",
    text="list.md",
    known_as=("LS",),
    in_a_word=("path", {}),
    unseen_changes=False,
    asks=True,
    reads=ANY,
    look=Look(verb="List", kind="read", subject="path", place="path", act="list {a folder}"),
)
async def list_(
    ctx: ToolContext,
    path: Annotated[str | None, "The project folder if left out"] = None,
    ignore: list[str] | None = None,
) -> Result:
    """Ask, walk, and show the tree."""
    tree = ctx.use(Files).tree
    place = tree.place(path or ".")
    request = Request(permission="list", patterns=(place.absolute_pattern,), metadata={"path": str(place.path)})
    await ctx.ask_all(*place.external(folder=True), request)
    folder = require_folder(place)
    leave_out = [_glob(text) for text in ignore or ()]
    may_show = ShownNames(ctx, tree)
    outlined = await asyncio.to_thread(
        outline, folder, leave_out, lambda target: tree.holds(target) or target.is_relative_to(folder), may_show
    )
    top = str(place.name).rstrip("/")
    lines = [f"{shown_path(top)}/", *map(shown_path, outlined.tree.lines())]
    truncated = outlined.total > outlined.count
    withheld = f"\n\n({may_show.note})" if may_show.withheld else ""
    return Result(
        "\n".join(lines) + (_note(outlined) if truncated else "") + withheld,
        title=place.relative,
        metadata={"count": outlined.count, "truncated": truncated, "total": outlined.total},
        truncated=truncated,
    )


def _glob(text: str) -> Glob:
    try:
        return parse_glob(text)
    except GlobError as error:
        raise ToolError(
            f"The ignore pattern {text} is no glob: {error}. Escape the character with \\.", "schema"
        ) from error


def _note(outlined: Outline) -> str:
    total = f"{outlined.total}" if outlined.exact else f"more than {outlined.total}"
    return f"\n\n(These are {LIMIT} of {total} files. List one of the folders to see all of it.)"

"""The apply_patch tool: changes of several files in the patch format, all or none."""

from collections.abc import Sequence
from typing import Annotated, Any

from toolwright.edits.patch import Patch, Update, parse
from toolwright.files.paths import Place
from toolwright.files.store import Files
from toolwright.request import Request
from toolwright.signature import Field
from toolwright.tool import ANY, Result, ToolContext, tool
from toolwright.tools._patch_plan import Plan, make_plan


@tool(
    text="apply_patch.md",
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
    patch = parse(patch_text)
    files = ctx.use(Files)
    places = _places(files, patch)
    external = _external(places)
    patterns = tuple(place.pattern for place in places)
    ctx.check(*external, Request(permission="edit", patterns=patterns))
    if external:
        await ctx.ask_all(*external)
    plan = await make_plan(files, patch)
    await ctx.ask_all(Request(permission="edit", patterns=patterns, metadata=_question(plan)))
    await files.commit(plan.changes, session_id=ctx.session_id, call_id=ctx.call_id)
    title = plan.entries[0].shown if len(plan.entries) == 1 else f"{len(plan.entries)} files"
    return Result(plan.summary(), title=title, metadata=plan.metadata())


def _places(files: Files, patch: Patch) -> list[Place]:
    """Every file the patch touches, sources and targets, once each."""
    places: dict[str, Place] = {}
    for section in patch.sections:
        for given in (section.path, section.target if isinstance(section, Update) else None):
            if given:
                place = files.tree.place(given)
                places.setdefault(str(place.path), place)
    return list(places.values())


def _external(places: Sequence[Place]) -> list[Request]:
    """The folders outside of the project, each asked for once."""
    requests = [request for place in places for request in place.external()]
    return list({request.patterns: request for request in requests}.values())


def _question(plan: Plan) -> dict[str, Any]:
    metadata = plan.metadata()
    paths = ", ".join(entry.shown for entry in plan.entries)
    return {"filepath": paths, "diff": metadata["diff"], "files": metadata["files"]}

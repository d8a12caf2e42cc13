"""Applying a patch: what it touches, what is asked for it, and what it came to."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolwright.calls.request import Request
from toolwright.definition import Result, ToolContext
from toolwright.edits.patch import parse
from toolwright.edits.sections import Delete, Patch, Update
from toolwright.files.paths import Place
from toolwright.files.store import Files
from toolwright.tools._unreadable import is_unreadable
from toolwright.tools.changes.patch_plan import PatchPlan, make_plan
from toolwright.tools.changes.remarks import diagnostics, with_remarks
from toolwright.tools.changes.request import edit_request


async def carry_out(ctx: ToolContext, patch_text: str) -> Result:
    """Apply a patch, all of it or nothing."""
    patch = parse(patch_text)
    files = ctx.use(Files)
    # Found once: what is judged is what is changed, whatever becomes of the folders meanwhile.
    places = {path: files.tree.place(path) for path in _named(patch)}
    changed = _changed(patch, places)
    external = _external(changed)
    patterns = tuple(place.pattern for place in changed)
    reads = _reads(ctx, patch, places)
    ctx.check(*external, *reads, Request(permission="edit", patterns=patterns))
    if external or reads:
        await ctx.ask_all(*external, *reads)
    plan = await make_plan(files, patch, places, lambda place: is_unreadable(ctx, place))
    await ctx.ask_all(edit_request(changed, _question(plan)))
    outcomes = await files.commit(plan.changes, session_id=ctx.session_id, call_id=ctx.call_id)
    written = await plan.as_written(files, outcomes)
    title = written.entries[0].shown if len(written.entries) == 1 else f"{len(written.entries)} files"
    metadata = written.metadata() | {"diagnostics": diagnostics(outcomes)}
    return Result(with_remarks(written.summary(), outcomes), title=title, metadata=metadata)


def _named(patch: Patch) -> Iterator[str]:
    for section in patch.sections:
        yield section.path
        if isinstance(section, Update) and section.target:
            yield section.target


def _changed(patch: Patch, places: Mapping[str, Place]) -> list[Place]:
    """Every file the patch touches, sources and targets, once each. A link that goes is meant itself."""
    changed: dict[Path, Place] = {}
    for section in patch.sections:
        place = places[section.path]
        target = section.target if isinstance(section, Update) else None
        if isinstance(section, Delete) or target:
            place = place.itself()
        changed.setdefault(place.path, place)
        if target:
            changed.setdefault(places[target].path, places[target])
    return list(changed.values())


def _reads(ctx: ToolContext, patch: Patch, places: Mapping[str, Place]) -> list[Request]:
    """Return the requests to read what is updated or moved, for that is shown or can be read then."""
    paths = [section.path for section in patch.sections if isinstance(section, Update)]
    patterns = dict.fromkeys(places[path].absolute_pattern for path in paths)
    asked = tuple(pattern for pattern in patterns if ctx.decide("read", pattern) != "allow")
    return [Request(permission="read", patterns=asked)] if asked else []


def _external(places: Sequence[Place]) -> list[Request]:
    """The folders outside of the project, each asked for once."""
    requests = [request for place in places for request in place.external()]
    return list({request.patterns: request for request in requests}.values())


def _question(plan: PatchPlan) -> dict[str, Any]:
    metadata = plan.metadata()
    paths = ", ".join(entry.shown for entry in plan.entries)
    return {"filepath": paths, "diff": metadata["diff"], "files": metadata["files"]}

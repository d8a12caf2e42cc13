"""Undoing the last call of a session that changed files, for the agent that made it."""

from collections.abc import Sequence

from toolwright.calls.request import Request
from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError, UsageError
from toolwright.files.store import Files
from toolwright.inbox import WrongAnswer
from toolwright.session.records.conversation import Conversation
from toolwright.session.undo.file_back import FileUndo, NothingToUndo, Selection
from toolwright.session.undo.undo import Undo
from toolwright.text.diff import unified


async def undo_last_change(ctx: ToolContext, files: Files, conversation: Conversation) -> Result:
    """Undo it, all of its files or none; asked for as a change of them."""
    undo = await Undo.of(files, conversation)
    try:
        selection, plans = _last(undo, files, ctx.session_id)
        places = [files.tree.place(plan.path) for plan in plans]
        patches = [unified(plan.path, *plan.texts()) for plan in plans]
        external = {one.patterns: one for place in places for one in place.external()}
        asked = [
            Request(permission="edit", patterns=(place.pattern,), metadata={"filepath": str(place.path), "diff": patch})
            for place, patch in zip(places, patches, strict=True)
        ]
        await ctx.ask_all(*external.values(), *asked)
        await undo.revert(selection)
    except WrongAnswer:
        raise
    except UsageError as error:
        raise ToolError(str(error), "not_found" if isinstance(error, NothingToUndo) else "stale") from error
    listed = "\n".join(f"{plan.kind} {place.relative}" for plan, place in zip(plans, places, strict=True))
    return Result(
        f"Your last change is undone:\n{listed}",
        title=f"{len(plans)} file{'' if len(plans) == 1 else 's'} undone",
        metadata={"diff": "\n".join(patches), "files": [plan.path for plan in plans], "callID": selection.call},
    )


def _last(undo: Undo, files: Files, session_id: str) -> tuple[Selection, Sequence[FileUndo]]:
    """The newest call of the session whose changes stand, and what undoing it would do."""
    calls = dict.fromkeys(entry.call_id for entry in reversed(files.journal.entries(session_id)))
    for call in calls:
        try:
            selection = Selection(call=call)
            if plans := undo.plan(selection):
                return selection, plans
        except NothingToUndo:
            continue
    raise NothingToUndo("No call of this session has changed a file, or all of them were undone already.")

"""Undoing what a session has done, and what it has changed so far: decided once for all surfaces."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolwright.calls.parts import ToolPart
from toolwright.calls.request import Request
from toolwright.definition import ToolContext
from toolwright.files.body import Body, body_at
from toolwright.files.hidden import stand_ins
from toolwright.files.journal import JournalEntry
from toolwright.messages import Message, SessionInfo, User
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.session.events import SessionDiff
from toolwright.session.session import Session
from toolwright.session.undo.changes import ChangedFile, Changes
from toolwright.session.undo.file_back import FileUndo, NothingToUndo, Selection
from toolwright.session.undo.undo import Undo
from toolwright.text.diff import counts, unified
from toolwright.workspace import Workspace


async def undo(
    workspace: Workspace, session: Session, selection: Selection, *, preview: bool = False
) -> list[FileUndo]:
    """Undo what is selected, or the last turn that stands; of a turn that changed no file, what was said in it.

    With `preview` nothing is done. Raises NothingToUndo where nothing of what is selected stands.
    """
    if selection.empty:
        selection = replace(selection, turn=last_turn(await standing_messages(workspace, session)).id)
    undo = await Undo.of(workspace.files, session.conversation)
    if preview:
        return undo.plan(selection)
    session.turns.require_rest()
    plans = await undo.revert(selection)
    await tell_changes(workspace, session)
    return plans


async def journal_of(workspace: Workspace, session: Session) -> list[JournalEntry]:
    """Return every change that a session has made and that stands, the oldest first."""
    return (await Undo.of(workspace.files, session.conversation)).changes()


async def standing_changes(workspace: Workspace, session: Session) -> list[FileUndo]:
    """Return what the session has changed and not undone, as its undoing; also where it could not be undone now."""
    return (await Undo.of(workspace.files, session.conversation)).standing()


async def undo_asked(ctx: ToolContext, workspace: Workspace, selection: Selection) -> list[FileUndo]:
    """Undo what a call wants undone, all of it or nothing, once its changes are allowed."""
    undo = await Undo.of(workspace.files, workspace.sessions_open[ctx.session_id].conversation)
    plans = undo.plan(selection)
    places = [workspace.files.tree.place(plan.path) for plan in plans]
    asked = [Request(permission="edit", patterns=(place.pattern,)) for place in places]
    await ctx.ask_all(*(one for place in places for one in place.external()), *asked)
    await undo.revert(selection)
    return plans


async def redo(workspace: Workspace, session: Session) -> list[FileUndo]:
    """Make again what the last undo has undone."""
    session.turns.require_rest()
    plans = await (await Undo.of(workspace.files, session.conversation)).unrevert()
    await tell_changes(workspace, session)
    return plans


async def standing_messages(workspace: Workspace, session: Session) -> list[Message]:
    """Return the messages of a session without those that were undone."""
    return standing(await workspace.sessions.messages(session.id), session.info)


def standing(messages: Sequence[Message], info: SessionInfo) -> list[Message]:
    """Leave out the messages that were undone."""
    mark = (info.revert or {}).get("messageID")
    end = next((at for at, one in enumerate(messages) if one.info.id == mark), len(messages))
    return list(messages[:end])


def last_turn(messages: Sequence[Message]) -> User:
    """Return the last prompt of messages that stand."""
    for message in reversed(messages):
        if isinstance(message.info, User) and message.text:
            return message.info
    raise NothingToUndo("There is no turn left to undo in this session.")


# The one undo that other programs' clients know: a mark on the session, and one step back from it.


async def revert(workspace: Workspace, session: Session, message_id: str, part_id: str = "") -> None:
    """Undo from a message on, or one call of it. What was undone before is made again first, as redo would."""
    session.turns.require_rest()
    await _unmark(workspace, session)
    undo = await Undo.of(workspace.files, session.conversation)
    mark: Json = {}
    try:
        plans = await undo.revert(Selection(turn=message_id, call=_call_of(session, message_id, part_id)))
        mark = dict(session.info.revert or {})
    except NothingToUndo:
        plans = []
    mark |= {"messageID": message_id, "diff": await asyncio.to_thread(diff_of, plans)}
    if part_id:
        mark["partID"] = part_id
    if "callID" in mark:
        mark["snapshot"] = mark["callID"]
    session.conversation.change(replace(session.info, revert=mark))
    await tell_changes(workspace, session)


async def unrevert(workspace: Workspace, session: Session) -> None:
    """Make again what the last revert undid; nothing if there was none."""
    session.turns.require_rest()
    await _unmark(workspace, session)
    await tell_changes(workspace, session)


async def _unmark(workspace: Workspace, session: Session) -> None:
    mark = session.info.revert
    if mark and "callID" in mark:
        await (await Undo.of(workspace.files, session.conversation)).unrevert()
    elif mark:
        session.conversation.change(replace(session.info, revert=None))


# What has changed.


def diff_of(plans: Sequence[FileUndo]) -> str:
    return "\n".join(unified(plan.path, *plan.texts()) for plan in plans)


def _call_of(session: Session, message_id: str, part_id: str) -> str:
    message = session.conversation.message(message_id)
    part = message.parts.get(part_id) if message and part_id else None
    return part.call_id if isinstance(part, ToolPart) else ""


async def session_changes(workspace: Workspace, info: SessionInfo) -> list[ChangedFile]:
    """The files that a session and those below it have changed and that are not as they were before it."""
    changes = Changes(workspace.files.journal, workspace.files.hides)
    for name in (info.id, *[child.id for child in await workspace.sessions.children(info.id)]):
        changes.follow(name)
    summed = await asyncio.to_thread(changes.sum_up)
    return [change for change in summed if change.before != change.after]


async def tell_changes(workspace: Workspace, session: Session) -> None:
    """Tell of a session's files anew, since some were undone or made again."""
    diff = tuple(to_json(change) for change in await session_changes(workspace, session.info))
    workspace.bus.publish(SessionDiff(session_id=session.id, diff=diff))


async def turn_changes(workspace: Workspace, session: Session, message_id: str) -> list[ChangedFile]:
    """The files that one turn has changed, as they were before it and after it."""
    messages = await session.conversation.all_messages()
    calls = {part.call_id for message in _turn(messages, message_id) for part in message.calls}
    by_path: dict[str, list[JournalEntry]] = {}
    undo = await Undo.of(workspace.files, session.conversation)
    for entry in undo.changes():
        if entry.call_id in calls:
            by_path.setdefault(entry.path, []).append(entry)
    changes = []
    for path, entries in by_path.items():
        before, after = _texts_of(workspace, path, entries[0].before, entries[-1].after)
        additions, deletions = counts(before, after)
        changes.append(ChangedFile(file=path, before=before, after=after, additions=additions, deletions=deletions))
    return changes


def diff_of_entry(workspace: Workspace, entry: JournalEntry) -> str:
    """Return what one change of a file did to it, as a diff."""
    return unified(entry.path, *_texts_of(workspace, entry.path, entry.before, entry.after))


def _texts_of(workspace: Workspace, path: str, before: str | None, after: str | None) -> tuple[str, str]:
    # The newest content is on disk alone.
    present, images = _present(path), workspace.files.journal.images
    was, became = (None if name is None else images.body(name, present) for name in (before, after))
    if workspace.files.hides(Path(path)):
        was, became = stand_ins(was, became)
    return _decode(was), _decode(became)


def _decode(body: Body) -> str:
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else ""


def _present(path: str) -> Body:
    try:
        return body_at(Path(path))
    except OSError:
        return None


def _turn(messages: Sequence[Message], message_id: str) -> list[Message]:
    """A prompt and the replies to it."""
    return [one for one in messages if one.info.id == message_id or getattr(one.info, "parent_id", "") == message_id]

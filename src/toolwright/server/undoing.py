"""Undo as clients know it: a mark on the session, with the difference it makes, and one step back from it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolwright.diff import counts, unified
from toolwright.files.body import Body, body_at
from toolwright.files.journal import JournalEntry
from toolwright.jsontypes import Json
from toolwright.messages import Message, SessionInfo
from toolwright.parts import ToolPart
from toolwright.session.changes import Changes, FileChange
from toolwright.session.events import SessionDiff
from toolwright.session.session import Session
from toolwright.session.undo import FileUndo, NothingToUndo, Selection, Undo
from toolwright.wire import to_json
from toolwright.workspace import Workspace


async def revert(workspace: Workspace, session: Session, message_id: str, part_id: str = "") -> None:
    """Undo from a message on, or one call of it. What was undone before is made again first, as redo would."""
    await unrevert(workspace, session)
    undo = await Undo.of(workspace.files, session.conversation)
    selection = Selection(turn=message_id, call=_call_of(session, message_id, part_id))
    try:
        plans = await undo.revert(selection)
    except NothingToUndo:
        plans = []
    mark: Json = dict(session.info.revert or {}) if plans else {}
    mark |= {"messageID": message_id, "diff": await asyncio.to_thread(diff_of, plans)}
    if part_id:
        mark["partID"] = part_id
    if "callID" in mark:
        mark["snapshot"] = mark["callID"]
    session.conversation.change(replace(session.info, revert=mark))


async def unrevert(workspace: Workspace, session: Session) -> None:
    """Make again what the last revert undid; nothing if there was none."""
    mark = session.info.revert
    if mark and "callID" in mark:
        await (await Undo.of(workspace.files, session.conversation)).unrevert()
    elif mark:
        session.conversation.change(replace(session.info, revert=None))


def diff_of(plans: Sequence[FileUndo]) -> str:
    return "\n".join(unified(plan.path, *plan.texts()) for plan in plans)


def _call_of(session: Session, message_id: str, part_id: str) -> str:
    message = session.conversation.message(message_id)
    part = message.parts.get(part_id) if message and part_id else None
    return part.call_id if isinstance(part, ToolPart) else ""


async def session_changes(workspace: Workspace, info: SessionInfo) -> list[FileChange]:
    """The files that a session and those below it have changed and that are not as they were before it."""
    changes = Changes(workspace.files.journal)
    for name in (info.id, *[child.id for child in await workspace.sessions.children(info.id)]):
        changes.follow(name)
    summed = await asyncio.to_thread(changes.sum_up)
    return [change for change in summed if change.before != change.after]


async def tell_changes(workspace: Workspace, session: Session) -> None:
    """Tell of a session's files anew, since some were undone or made again."""
    diff = tuple(to_json(change) for change in await session_changes(workspace, session.info))
    workspace.bus.publish(SessionDiff(session_id=session.id, diff=diff))


async def turn_changes(workspace: Workspace, session: Session, message_id: str) -> list[FileChange]:
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
        before = _text_of(workspace, entries[0].before, path)
        after = _text_of(workspace, entries[-1].after, path)
        additions, deletions = counts(before, after)
        changes.append(FileChange(file=path, before=before, after=after, additions=additions, deletions=deletions))
    return changes


def diff_of_entry(workspace: Workspace, entry: JournalEntry) -> str:
    """What one change of a file did to it."""
    before = _text_of(workspace, entry.before, entry.path)
    return unified(entry.path, before, _text_of(workspace, entry.after, entry.path))


def _text_of(workspace: Workspace, name: str | None, path: str) -> str:
    # The newest content is on disk alone.
    body = None if name is None else workspace.files.journal.images.body(name, _present(path))
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else ""


def _present(path: str) -> Body:
    try:
        return body_at(Path(path))
    except OSError:
        return None


def _turn(messages: Sequence[Message], message_id: str) -> list[Message]:
    """A prompt and the replies to it."""
    return [one for one in messages if one.info.id == message_id or getattr(one.info, "parent_id", "") == message_id]

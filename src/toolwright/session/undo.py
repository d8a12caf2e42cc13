"""Undo: what a session's calls changed, listed and taken back by turn, call or file, without git.

Only what the agent changed is touched, and only where nobody has changed it since.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolwright.diff import counts
from toolwright.errors import UsageError
from toolwright.files.disk import digest_of
from toolwright.files.journal import Entry
from toolwright.files.replace import Change
from toolwright.files.store import Files
from toolwright.ids import new_id
from toolwright.messages import Assistant
from toolwright.session.conversation import Conversation

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which changes to take back; whatever is given must fit."""

    turn: str = ""
    """A user message: everything from it on."""
    call: str = ""
    file: str = ""

    @property
    def empty(self) -> bool:
        return not (self.turn or self.call or self.file)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUndo:
    """One file on its way back."""

    path: str
    present: bytes | None
    restored: bytes | None
    calls: tuple[str, ...]

    @property
    def kind(self) -> str:
        if self.restored is None:
            return "delete"
        return "recreate" if self.present is None else "restore"

    def counts(self) -> tuple[int, int]:
        before, after = (data.decode("utf-8", "replace") if data else "" for data in (self.present, self.restored))
        return counts(before, after)


@dataclass(slots=True)
class Undo:
    """The changes of one session."""

    files: Files
    conversation: Conversation

    def changes(self) -> list[Entry]:
        """Everything the session changed, oldest first."""
        return self.files.journal.entries(self.conversation.id)

    def plan(self, selection: Selection) -> list[FileUndo]:
        """What taking the selected changes back would do. Raises UsageError where it would harm anything."""
        entries = self.changes()
        wanted = {id(entry) for entry in entries if self._fits(entry, selection)}
        if not wanted:
            raise UsageError("Nothing of that was changed in this session, or it was taken back already.")
        paths = dict.fromkeys(entry.path for entry in entries if id(entry) in wanted)
        plans = [self._plan_file([one for one in entries if one.path == path], wanted) for path in paths]
        return [plan for plan in plans if plan.present != plan.restored]

    async def revert(self, selection: Selection) -> list[FileUndo]:
        """Take the selected changes back, all or none. The taking back can itself be undone by `unrevert`."""
        plans = self.plan(selection)
        call_id = new_id("undo")
        changes = [
            Change(place=self.files.tree.place(plan.path), before=plan.present, after=plan.restored) for plan in plans
        ]
        await self.files.commit(changes, session_id=self.conversation.id, call_id=call_id)
        mark: Json = {"callID": call_id} | ({"messageID": selection.turn} if selection.turn else {})
        self.conversation.change(replace(self.conversation.info, revert=mark))
        return plans

    async def unrevert(self) -> list[FileUndo]:
        """Put back what the last revert took away."""
        mark = self.conversation.info.revert
        if not mark:
            raise UsageError("Nothing was taken back in this session.")
        plans = await self.revert(Selection(call=mark["callID"]))
        self.conversation.change(replace(self.conversation.info, revert=None))
        return plans

    def _fits(self, entry: Entry, selection: Selection) -> bool:
        if selection.call and entry.call_id != selection.call:
            return False
        if selection.file and Path(entry.path) != self.files.tree.place(selection.file).path:
            return False
        return not selection.turn or entry.call_id in self._calls_since(selection.turn)

    def _calls_since(self, message_id: str) -> set[str]:
        messages = self.conversation.all_messages()
        ids = [message.info.id for message in messages]
        if message_id not in ids:
            raise UsageError(f"There is no message {message_id!r} in this session.")
        later = messages[ids.index(message_id) :]
        return {part.call_id for message in later if isinstance(message.info, Assistant) for part in message.calls}

    def _plan_file(self, history: Sequence[Entry], wanted: set[int]) -> FileUndo:
        """Walk back from the newest change of the file. Every step must lead on to the one before it."""
        path = history[0].path
        present = self._present(path)
        state = None if present is None else digest_of(present)
        calls: list[str] = []
        for entry in _newest_first(history, wanted):
            if entry.after != state:
                raise UsageError(
                    f"{path} was changed after call {entry.call_id}, by somebody or something else. It stays as it is;"
                    " undo the later change first, or put the file right by hand."
                )
            state = entry.before
            calls.append(entry.call_id)
        restored = None if state is None else self._image(path, state, present)
        return FileUndo(path=path, present=present, restored=restored, calls=tuple(calls))

    def _present(self, path: str) -> bytes | None:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            return None

    def _image(self, path: str, digest: str, present: bytes | None) -> bytes:
        image = self.files.journal.images.get(digest, present)
        if image is None:
            raise UsageError(f"What {path} was before is no longer kept; the store of old contents is limited.")
        return image


def _newest_first(history: Sequence[Entry], wanted: set[int]) -> Iterator[Entry]:
    """The changes to take back. One that is not wanted but later than one that is stands in the way and is refused."""
    remaining = sum(id(entry) in wanted for entry in history)
    for entry in reversed(history):
        if remaining == 0:
            return
        if id(entry) not in wanted:
            raise UsageError(f"{entry.path} was changed again by call {entry.call_id}; undo that one first.")
        remaining -= 1
        yield entry

"""Undo: what a session's calls changed, listed and taken back by turn, call or file, without git.

Only what the agent and its subagents changed is touched, and only where nobody has changed it since.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.diff import counts
from toolwright.errors import UsageError
from toolwright.files.disk import digest_of
from toolwright.files.journal import Entry
from toolwright.files.replace import Change
from toolwright.files.store import Files
from toolwright.ids import new_id
from toolwright.messages import Message
from toolwright.parts import Pending, ToolPart
from toolwright.record import record
from toolwright.session.conversation import Conversation

Json = dict[str, Any]

_UNDO = "undo"
"""What the ids of our own changes begin with."""


class NothingToUndo(UsageError):
    """What was selected has changed no file, or no longer stands."""


@record(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which changes to take back; whatever is given must fit."""

    turn: str = ""
    """A user message: everything from it on."""
    call: str = ""
    file: str = ""

    @property
    def empty(self) -> bool:
        return not (self.turn or self.call or self.file)


@record(frozen=True, slots=True, kw_only=True)
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


@record(frozen=True, slots=True)
class Made:
    """A change, and the session whose call made it."""

    session_id: str
    entry: Entry

    @property
    def call(self) -> tuple[str, str]:
        return self.session_id, self.entry.call_id


@record(slots=True)
class Undo:
    """The changes of one session."""

    files: Files
    conversation: Conversation

    def changes(self) -> list[Entry]:
        """Everything the session and its subagents changed, oldest first."""
        return [made.entry for made in self._made()]

    def plan(self, selection: Selection) -> list[FileUndo]:
        """What taking the selected changes back would do. Raises UsageError where it would harm anything."""
        by_path: dict[str, list[Made]] = {}
        for made in self._made():
            by_path.setdefault(made.entry.path, []).append(made)
        standing = {path: standing_changes(history) for path, history in by_path.items()}
        calls = self._selected_calls(selection)
        file = str(self.files.tree.place(selection.file).path) if selection.file else ""
        plans = [
            self._plan_file(path, changes, wanted)
            for path, changes in standing.items()
            if (wanted := [(not file or path == file) and (calls is None or one.call in calls) for one in changes])
            and any(wanted)
        ]
        if not plans:
            raise NothingToUndo("Nothing of that was changed in this session, or it was undone already.")
        return [plan for plan in plans if plan.present != plan.restored]

    async def revert(self, selection: Selection) -> list[FileUndo]:
        """Take the selected changes back, all or none. The taking back can itself be undone by `unrevert`."""
        plans = self.plan(selection)
        call_id = await self._carry_out(plans)
        mark: Json = {"callID": call_id} | ({"messageID": selection.turn} if selection.turn else {})
        self.conversation.change(replace(self.conversation.info, revert=mark))
        return plans

    async def unrevert(self) -> list[FileUndo]:
        """Put back what the last revert took away."""
        mark = self.conversation.info.revert
        if not mark:
            raise UsageError("Nothing was taken back in this session.")
        own = self.files.journal.entries(self.conversation.id)
        plans = [self._plan_back(entry) for entry in own if entry.call_id == mark["callID"]]
        await self._carry_out(plans)
        self.conversation.change(replace(self.conversation.info, revert=None))
        return plans

    async def _carry_out(self, plans: Sequence[FileUndo]) -> str:
        call_id = new_id(_UNDO)
        changes = [
            Change(place=self.files.tree.place(plan.path), before=plan.present, after=plan.restored) for plan in plans
        ]
        await self.files.commit(changes, session_id=self.conversation.id, call_id=call_id)
        return call_id

    # Which changes.

    def _made(self) -> list[Made]:
        sessions = [self.conversation.id, *self._below(self.conversation.all_messages())]
        found = [Made(one, entry) for one in dict.fromkeys(sessions) for entry in self.files.journal.entries(one)]
        return sorted(found, key=lambda made: made.entry.time)

    def _below(self, messages: Sequence[Message]) -> Iterator[str]:
        """The sessions of the subagents, and of theirs."""
        for part in _tool_parts(messages):
            if child := _child_of(part):
                yield child
                yield from self._below(self.conversation.store.messages(child))

    def _selected_calls(self, selection: Selection) -> set[tuple[str, str]] | None:
        """The calls whose changes are meant; None for those of any call."""
        if not selection.turn and not selection.call:
            return None
        messages = self.conversation.all_messages()
        since = set(
            self._with_those_below(_tool_parts(_from(messages, selection.turn) if selection.turn else messages))
        )
        if not selection.call:
            return since
        named = [part for part in _tool_parts(messages) if part.call_id == selection.call]
        below = set(self._with_those_below(named))
        # A call of a subagent may be named too.
        return since & (below or {call for call in since if call[1] == selection.call})

    def _with_those_below(self, parts: Iterable[ToolPart]) -> Iterator[tuple[str, str]]:
        """The calls, those inside a batch, and those that subagents made for them."""
        for part in parts:
            yield part.session_id, part.call_id
            if child := _child_of(part):
                below = _tool_parts(self.conversation.store.messages(child))
                yield from self._with_those_below(one for one in below if _began_during(one, part))

    # What becomes of a file.

    def _plan_file(self, path: str, changes: Sequence[Made], wanted: Sequence[bool]) -> FileUndo:
        """Walk back from the newest change of the file. Every step must lead on to the one before it."""
        present = self._present(path)
        state = None if present is None else digest_of(present)
        calls: list[str] = []
        first = wanted.index(True)
        for made, is_wanted in reversed(list(zip(changes[first:], wanted[first:], strict=True))):
            entry = made.entry
            if not is_wanted:
                raise UsageError(f"{path} was changed again by call {entry.call_id}; undo that one first.")
            if entry.after != state:
                raise UsageError(_changed_since(path, f"call {entry.call_id}"))
            state = entry.before
            calls.append(entry.call_id)
        restored = None if state is None else self._image(path, state, present)
        return FileUndo(path=path, present=present, restored=restored, calls=tuple(calls))

    def _plan_back(self, entry: Entry) -> FileUndo:
        """One file as it was before it was taken back."""
        present = self._present(entry.path)
        if (None if present is None else digest_of(present)) != entry.after:
            raise UsageError(_changed_since(entry.path, "it was taken back"))
        restored = None if entry.before is None else self._image(entry.path, entry.before, present)
        return FileUndo(path=entry.path, present=present, restored=restored, calls=(entry.call_id,))

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


def standing_changes(history: Sequence[Made]) -> list[Made]:
    """The changes of one file, oldest first, without those that were taken back and not put back again."""
    standing: list[Made] = []
    taken: list[list[Made]] = []
    for made in history:
        entry = made.entry
        if not entry.call_id.startswith(f"{_UNDO}_"):
            standing.append(made)
            taken.clear()
        elif taken and (taken[-1][0].entry.before, taken[-1][-1].entry.after) == (entry.before, entry.after):
            standing += taken.pop()
        else:
            start = _last_that_led_away(standing, entry.after)
            if start < len(standing):
                taken.append(standing[start:])
                del standing[start:]
    return standing


def _last_that_led_away(standing: Sequence[Made], state: str | None) -> int:
    """Where to cut so that the file is in that state again; the end if nowhere."""
    positions = range(len(standing) - 1, -1, -1)
    return next((at for at in positions if standing[at].entry.before == state), len(standing))


def _changed_since(path: str, moment: str) -> str:
    return (
        f"{path} was changed after {moment}, by somebody or something else. It is left as it is;"
        " undo the later change first, or put the file right by hand."
    )


def _from(messages: Sequence[Message], message_id: str) -> Sequence[Message]:
    position = next((at for at, message in enumerate(messages) if message.info.id == message_id), None)
    if position is None:
        raise UsageError(f"There is no message {message_id!r} in this session.")
    return messages[position:]


def _tool_parts(messages: Iterable[Message]) -> Iterator[ToolPart]:
    for message in messages:
        yield from (part for part in message.parts.values() if isinstance(part, ToolPart))


def _child_of(part: ToolPart) -> str:
    """The session that a task call has handed its work to."""
    if part.tool != "task" or isinstance(part.state, Pending) or not part.state.metadata:
        return ""
    return str(part.state.metadata.get("sessionId", ""))


def _began_during(part: ToolPart, call: ToolPart) -> bool:
    """Whether a subagent's call was made for this task, and not for another that went on with the same session."""
    if isinstance(part.state, Pending) or isinstance(call.state, Pending):
        return False
    ended = call.state.time.end
    return call.state.time.start <= part.state.time.start and (ended is None or part.state.time.start <= ended)

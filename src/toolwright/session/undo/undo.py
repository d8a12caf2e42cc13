"""Undo: what a session's calls changed, listed and undone by turn, call or file, without git.

Only what the agent and its subagents changed is touched, and only where nobody has changed it since.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolwright.calls.parts import Pending, ToolPart
from toolwright.errors import UsageError
from toolwright.files.body import Folder, Thing, folder_named, name_of
from toolwright.files.journal import JournalEntry
from toolwright.files.restoring import WHOLE, carry_out, present_as
from toolwright.files.store import Files
from toolwright.messages import Message
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.records.conversation import Conversation
from toolwright.session.undo.file_back import FileUndo, NothingToUndo, Selection
from toolwright.session.undo.hunks import apply_hunks
from toolwright.text.ids import new_id
from toolwright.tools import built_in


@record(frozen=True, slots=True)
class RecordedChange:
    """A change, and the session whose call made it."""

    session_id: str
    entry: JournalEntry

    @property
    def call(self) -> tuple[str, str]:
        return self.session_id, self.entry.call_id


@record(slots=True)
class Undo:
    """The changes of one session."""

    files: Files
    conversation: Conversation
    records: Mapping[str, Sequence[Message]]
    """The messages of the session and of those below it."""

    @classmethod
    async def of(cls, files: Files, conversation: Conversation) -> "Undo":
        """The changes of a session as it stands now."""
        await files.journal.catch_up()
        records = {conversation.id: await conversation.all_messages()}
        waiting = [conversation.id]
        while waiting:
            for part in _tool_parts(records[waiting.pop()]):
                child = child_of(part)
                # What was done in a copy is here only as far as it was merged, and that is the caller's.
                if child and child not in records and await _is_within(files, conversation, child):
                    records[child] = await conversation.store.messages(child)
                    waiting.append(child)
        return cls(files, conversation, records)

    def changes(self) -> list[JournalEntry]:
        """Every file that the session and its subagents changed, oldest first."""
        return [made.entry for made in self._all_changes() if not made.entry.aside]

    def plan(self, selection: Selection) -> list[FileUndo]:
        """Plan what undoing the selected changes would do: nothing to files, where a turn has changed none.

        Raises UsageError where it would harm anything.
        """
        by_path: dict[str, list[RecordedChange]] = {}
        for change in self._all_changes():
            by_path.setdefault(change.entry.path, []).append(change)
        standing = {path: standing_changes(history) for path, history in by_path.items()}
        selects = self._selector(selection)
        plans, conflicts, left = list[FileUndo](), list[str](), set[str]()
        for path, changes in standing.items():
            wanted = [selects(one) for one in changes]
            if any(wanted):
                try:
                    plans.append(self._plan_file(path, changes, wanted))
                except UsageError as error:
                    if all(one.entry.aside for one in changes):
                        left.add(_repository(path))
                    else:
                        conflicts.append(str(error))
        # What belongs together is undone together or not at all.
        plans = [plan for plan in plans if _repository(plan.path) not in left]
        if conflicts:
            raise UsageError(_render_conflicts(conflicts, plans))
        if not plans and not self._only_words(selection):
            raise NothingToUndo(
                "There is nothing to undo: this session changed nothing there, or it was undone already."
            )
        if selection.hunks:
            plans = _only(plans, selection.hunks)
        return [plan for plan in plans if plan.present != plan.restored or plan.attributes is not None]

    def standing(self) -> list[FileUndo]:
        """List what the session has made of each file and not undone, also where others have changed the file since."""
        by_path: dict[str, list[RecordedChange]] = {}
        for change in self._all_changes():
            by_path.setdefault(change.entry.path, []).append(change)
        undos = [self._standing(path, standing_changes(history)) for path, history in by_path.items()]
        return [one for one in undos if one is not None and one.present != one.restored]

    def _standing(self, path: str, changes: Sequence[RecordedChange]) -> FileUndo | None:
        if not changes:
            return None
        try:
            now = self._present(path, changes)
        except UsageError:
            now = None
        before, after = changes[0].entry.before, changes[-1].entry.after
        # What a file was in between is kept; of the last state only the file itself tells.
        left = self._kept(after, now)
        return FileUndo(
            path=path,
            present=now if left is None and after is not None else left,
            restored=self._kept(before, now),
            calls=tuple(dict.fromkeys(made.entry.call_id for made in changes)),
            hidden=self.files.hides(Path(path)),
            changed_since=name_of(now) != after,
        )

    async def revert(self, selection: Selection) -> list[FileUndo]:
        """Undo the selected changes, all or none, and what a turn has said; `unrevert` makes them again."""
        plans = self.plan(selection)
        call_id = await self._carry_out(plans) if plans else new_id("undo")
        # With some pieces undone and others not, what was said still counts.
        self._mark(call_id, "" if selection.hunks else selection.turn)
        return plans

    def _mark(self, call_id: str, turn: str) -> None:
        """Note what is undone now on top of what was undone before, which stays undone."""
        earlier = self.conversation.info.revert
        since = turn or (earlier or {}).get("messageID", "")
        mark: Json = {"callID": call_id}
        mark |= {"messageID": since} if since else {}
        mark |= {"earlier": earlier} if earlier else {}
        self.conversation.change(replace(self.conversation.info, revert=mark))

    async def unrevert(self) -> list[FileUndo]:
        """Make again what the last revert undid; the one before it is the last then."""
        mark = self.conversation.info.revert
        if not mark:
            raise UsageError("Nothing was undone in this session.")
        own = self.files.journal.everything(self.conversation.id)
        undone = [RecordedChange(self.conversation.id, entry) for entry in own if entry.call_id == mark.get("callID")]
        plans = [self._plan_back(made.entry) for made in _merged(undone)]
        await self._carry_out(plans)
        self.conversation.change(replace(self.conversation.info, revert=mark.get("earlier")))
        return plans

    async def _carry_out(self, plans: Sequence[FileUndo]) -> str:
        call_id = new_id("undo")
        await carry_out(self.files, plans, session_id=self.conversation.id, call_id=call_id)
        return call_id

    # Which changes.

    def _only_words(self, selection: Selection) -> bool:
        """Tell whether a turn is selected as a whole that still stands, so that its words can be undone."""
        if not selection.turn or selection != Selection(turn=selection.turn):
            return False
        messages, since = self.records[self.conversation.id], (self.conversation.info.revert or {}).get("messageID", "")
        undone = {one.info.id for one in _from(messages, since)} if since else set[str]()
        return selection.turn not in undone

    def _all_changes(self) -> list[RecordedChange]:
        changes = [RecordedChange(one, entry) for one in self.records for entry in self.files.journal.everything(one)]
        return sorted(changes, key=lambda made: made.entry.number)

    def _selector(self, selection: Selection) -> Callable[[RecordedChange], bool]:
        """Return whether a change is meant."""
        calls = self._selected_calls(selection)
        file = str(self.files.tree.place(selection.file).path) if selection.file else ""
        turn = selection.turn if not selection.call else ""
        began = _began(self.records[self.conversation.id], turn) if turn else None

        def selects(change: RecordedChange) -> bool:
            if file and change.entry.path != file:
                return False
            # What a job did in this turn belongs to it, whenever the job was started.
            late = began is not None and change.entry.late and change.entry.time >= began
            return late or calls is None or change.call in calls

        return selects

    def _selected_calls(self, selection: Selection) -> set[tuple[str, str]] | None:
        """The calls whose changes are meant; None for those of any call."""
        if not selection.turn and not selection.call:
            return None
        messages = self.records[self.conversation.id]
        since = _tool_parts(_from(messages, selection.turn) if selection.turn else messages)
        if not selection.call:
            return set(self._with_those_below(since))
        named = [part for part in _tool_parts(messages) if part.call_id == selection.call]
        # A call of a subagent may be named too, and one that a program made and no message tells of.
        called = set(self._with_those_below(named)) or {
            made.call for made in self._all_changes() if made.entry.call_id == selection.call
        }
        return called & set(self._with_those_below(since)) if selection.turn else called

    def _with_those_below(self, parts: Iterable[ToolPart]) -> Iterator[tuple[str, str]]:
        """The calls, those inside a batch, and those that subagents made for them."""
        waiting, seen = list(parts), set[tuple[str, str]]()
        while waiting:
            part = waiting.pop()
            call = (part.session_id, part.call_id)
            if call not in seen:
                seen.add(call)
                yield call
                below = _tool_parts(self.records.get(child_of(part), ()))
                waiting += [one for one in below if _began_during(one, part)]

    # What becomes of a file.

    def _plan_file(self, path: str, changes: Sequence[RecordedChange], wanted: Sequence[bool]) -> FileUndo:
        """Walk back from the newest change of the file. Every step must lead on to the one before it."""
        present = self._present(path, changes)
        state = name_of(present)
        undone: list[JournalEntry] = []
        first = wanted.index(True)
        for change, is_wanted in reversed(list(zip(changes[first:], wanted[first:], strict=True))):
            entry = change.entry
            # Pieces undone since go with the change that they were pieces of.
            if not is_wanted and not entry.undoes:
                raise UsageError(f"{path} was changed again by call {entry.call_id}; undo that one first.")
            if entry.after != state:
                raise UsageError(_changed_since(path, f"call {entry.call_id}"))
            state = entry.before
            undone.append(entry)
        return self._file_undo(path, present, state, undone)

    def _plan_back(self, entry: JournalEntry) -> FileUndo:
        """One file as it was before it was undone."""
        present = self._present(entry.path, [RecordedChange(self.conversation.id, entry)])
        if name_of(present) != entry.after:
            raise UsageError(_changed_since(entry.path, "it was undone"))
        return self._file_undo(entry.path, present, entry.before, [entry])

    def _present(self, path: str, changes: Sequence[RecordedChange]) -> Thing:
        """Return what is at a path now; a folder is a whole one if nobody else has changed anything in it since."""
        last = changes[-1].entry
        known = (
            {made.entry.path for made in self._all_changes()} if (last.after or "").startswith(WHOLE) else set[str]()
        )
        return _present(path, last, known)

    def _file_undo(self, path: str, present: Thing, state: str | None, undone: Sequence[JournalEntry]) -> FileUndo:
        attributes = [entry.attributes for entry in undone if entry.attributes is not None]
        return FileUndo(
            path=path,
            present=present,
            restored=None if state is None else self._image(path, state, present),
            calls=tuple(dict.fromkeys(entry.call_id for entry in undone)),
            attributes=attributes[-1] if attributes and state is not None else None,
            emptied=tuple(folder for entry in undone for folder in reversed(entry.made)) if state is None else (),
            apart=any(entry.apart for entry in undone),
            hidden=self.files.hides(Path(path)),
        )

    def _kept(self, name: str | None, present: Thing) -> Thing:
        """A state of a file, as far as it is still known."""
        current = None if isinstance(present, Folder) else present
        return None if name is None else folder_named(name) or self.files.journal.images.body(name, current)

    def _image(self, path: str, name: str, present: Thing) -> Thing:
        image = self._kept(name, present)
        if image is None:
            raise UsageError(f"What {path} was before is no longer kept; the store of old contents is limited.")
        return image


async def _is_within(files: Files, conversation: Conversation, child: str) -> bool:
    """Tell whether a session has worked in this project."""
    return Path((await conversation.store.session(child)).directory).is_relative_to(files.tree.root)


def _only(plans: Sequence[FileUndo], wanted: Sequence[str]) -> list[FileUndo]:
    """The pieces that are wanted of the files' way back."""
    known = {plan.path: {hunk.id for hunk in plan.hunks()} for plan in plans}
    wanted = [_id_of(plans, one) if one.isdecimal() and len(one) < len("1000") else one for one in wanted]
    if not set(wanted) <= set().union(*known.values()):
        raise UsageError("A file was changed since its difference was shown. Look at it again, then choose.")
    return [plan if known[plan.path] <= set(wanted) else _in_part(plan, wanted) for plan in plans]


def _id_of(plans: Sequence[FileUndo], number: str) -> str:
    hunks = plans[0].hunks() if len(plans) == 1 else []
    if not 1 <= int(number) <= len(hunks):
        raise UsageError(f"There is no hunk {number} in what would be undone. Name one file, and a hunk as shown.")
    return hunks[int(number) - 1].id


def _in_part(plan: FileUndo, wanted: Sequence[str]) -> FileUndo:
    present, restored = (None if isinstance(one, Folder) else one for one in (plan.present, plan.restored))
    restored = apply_hunks(plan.path, present, restored, wanted)
    return replace(plan, restored=restored, attributes=None, emptied=())


def _present(path: str, last: JournalEntry, known: Collection[str]) -> Thing:
    try:
        return present_as(path, last, known)
    except OSError as error:
        raise UsageError(f"{path} cannot be undone: {error.strerror}. Put it right by hand, then try again.") from error


def _repository(path: str) -> str:
    """The folder of git that a path is in; the path itself outside of one."""
    head, git, _ = path.partition("/.git/")
    return head + git if git else path


def _began(messages: Sequence[Message], message_id: str) -> float:
    """Return when a turn began, in seconds."""
    return _from(messages, message_id)[0].info.time.created / 1000


def standing_changes(history: Sequence[RecordedChange]) -> list[RecordedChange]:
    """The changes of one file, oldest first, without those that were undone and not made again."""
    history = _merged(history)
    standing: list[RecordedChange] = []
    taken: list[list[RecordedChange]] = []
    for change in history:
        entry = change.entry
        if not entry.undoes:
            standing.append(change)
            taken.clear()
        elif taken and (taken[-1][0].entry.before, taken[-1][-1].entry.after) == (entry.before, entry.after):
            standing += taken.pop()
        else:
            start = _last_that_led_away(standing, entry.after)
            if start < len(standing):
                taken.append(standing[start:])
                del standing[start:]
            else:
                # Some pieces were undone: a state of its own.
                standing.append(change)
    return standing


def _merged(history: Sequence[RecordedChange]) -> list[RecordedChange]:
    """The same with one entry for each file of an undo, which takes two where a folder has to go first."""
    merged = dict[object, RecordedChange]()
    for change in history:
        entry = change.entry
        key: object = (change.call, entry.path) if entry.undoes else object()
        first = merged.get(key)
        merged[key] = change if first is None else replace(change, entry=replace(entry, before=first.entry.before))
    return list(merged.values())


def _last_that_led_away(standing: Sequence[RecordedChange], state: str | None) -> int:
    """Return where to cut so that the file is in that state again; the end if nowhere."""
    positions = range(len(standing) - 1, -1, -1)
    return next((at for at in positions if standing[at].entry.before == state), len(standing))


def _render_conflicts(conflicts: Sequence[str], plans: Sequence[FileUndo]) -> str:
    """Say what stands in the way, and what does not."""
    more = f" So it is with {len(conflicts) - 1} more." if conflicts[1:] else ""
    files = f"{len(plans)} other files" if plans[1:] else "One other file"
    rest = f" Nothing was undone. {files} can be undone by name (--file), such as {plans[0].path}." if plans else ""
    return f"{conflicts[0]}{more}{rest}"


def _changed_since(path: str, moment: str) -> str:
    return (
        f"{path} was changed after {moment}, not by this session, so it is left as it is."
        " Undo the later change first, or put the file right by hand."
    )


def _from(messages: Sequence[Message], message_id: str) -> Sequence[Message]:
    position = next((at for at, message in enumerate(messages) if message.info.id == message_id), None)
    if position is None:
        raise UsageError(f"There is no message {message_id!r} in this session.")
    return messages[position:]


def _tool_parts(messages: Iterable[Message]) -> Iterator[ToolPart]:
    for message in messages:
        yield from (part for part in message.parts.values() if isinstance(part, ToolPart))


def child_of(part: ToolPart) -> str:
    """The session that a call has handed its work to."""
    if isinstance(part.state, Pending) or not part.state.metadata:
        return ""
    tool = built_in(part.tool)
    return str(part.state.metadata.get(tool.look.child, "")) if tool and tool.look.child else ""


def _began_during(part: ToolPart, call: ToolPart) -> bool:
    """Tell if a subagent's call was made for this task, and not for another that went on with the same session."""
    if isinstance(part.state, Pending) or isinstance(call.state, Pending):
        return False
    ended = call.state.time.end
    return call.state.time.start <= part.state.time.start and (ended is None or part.state.time.start <= ended)

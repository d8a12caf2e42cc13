"""Changes to files, all or nothing: compared, journalled, written, and undone if one fails."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from toolwright.errors import ToolError
from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, name_of
from toolwright.files.disk import failure
from toolwright.files.held import HeldFolders
from toolwright.files.images import Images
from toolwright.files.journal import Journal, JournalEntry
from toolwright.files.pending import Note, PendingWrite, PendingWrites
from toolwright.files.replace import Change, FileReplacement, Handover
from toolwright.record import record

T = TypeVar("T")
Hashes = tuple[str | None, str | None]
"""Names of what was there before and is after; None where there is no file."""
_WORTH_A_THREAD = 256 * 1024


class Committer:
    """The one way to disk. Its caller holds the locks of all paths."""

    def __init__(self, journal: Journal, pending: PendingWrites) -> None:
        self._journal = journal
        self._pending = pending

    def carry_out(
        self,
        changes: Sequence[Change],
        handovers: Mapping[Path, Handover],
        *,
        session_id: str,
        call_id: str,
        undoes: bool = False,
    ) -> list[str | None]:
        """Make all changes, or none and raise a ToolError. Returns the hashes of the new contents."""
        try:
            with _hashing(changes) as hashes, self._pending.entry() as note, HeldFolders() as folders:
                replacements = [
                    _trying(partial(FileReplacement.of, change, folders, handovers.get(change.place.path)), change)
                    for change in changes
                ]
                attempt = _Attempt(
                    replacements=replacements, images=self._journal.images, note=note, call_id=call_id, undoes=undoes
                )
                try:
                    self._carry_out(attempt, hashes, session_id)
                except (ToolError, OSError):
                    attempt.undo()
                    raise
                for replacement in replacements:
                    replacement.finish()
        except OSError as error:
            raise ToolError(
                f"What the files were before cannot be kept: {error.strerror or error}. Nothing was changed."
            ) from error
        return [after for _, after in attempt.hashes]

    def record_later(
        self, change: Change, body: Body, *, session_id: str, call_id: str, undoes: bool = False
    ) -> str | None:
        """Write down that a file has become something else after its change, by what was asked about it."""
        before, after = name_of(change.after), name_of(body)
        entry = JournalEntry(
            call_id=call_id,
            path=str(change.place.path),
            before=before,
            after=after,
            undoes=undoes,
            time=time.time(),
        )
        with self._journal.keeping():
            _keep(self._journal.images, change.after, body, (before, after))
            self._journal.record(session_id, [entry])
        return after

    def _carry_out(self, attempt: "_Attempt", hashes: Callable[[], Sequence[Hashes]], session_id: str) -> None:
        with self._journal.keeping():
            attempt.prepare(hashes)
            self._journal.record(session_id, attempt.entries())
        attempt.apply()


@record(slots=True, kw_only=True)
class _Attempt:
    """Some replacements on their way, and how far they have come."""

    replacements: Sequence[FileReplacement]
    images: Images
    note: Note
    call_id: str
    undoes: bool
    hashes: Sequence[Hashes] = ()
    applied: list[FileReplacement] = field(default_factory=list)

    def prepare(self, hashes: Callable[[], Sequence[Hashes]]) -> None:
        """Write everything that is new and keep everything that is old; what is going to fail mostly fails here."""
        self.note([self._pending(each) for each in self.replacements])
        for replacement in self.replacements:
            try:
                replacement.prepare()
            except OSError as error:
                if not replacement.go_in_place(error):
                    raise failure(replacement.change.place, error) from error
        self.hashes = hashes()
        # One file that is replaced in one step is old or new; nothing else has to be known to recover it.
        if len(self.replacements) > 1 or self.replacements[0].in_place:
            self._note_contents()
        else:
            change = self.replacements[0].change
            _keep(self.images, change.before, change.after, self.hashes[0])

    def apply(self) -> None:
        for replacement in self.replacements:
            try:
                replacement.apply()
            except OSError as error:
                if not replacement.go_in_place(error):
                    raise failure(replacement.change.place, error) from error
                self._note_contents()
                _trying(replacement.apply, replacement.change)
            self.applied.append(replacement)

    def undo(self) -> None:
        """The first failure is what the caller hears of; a second one on the way back must not hide it."""
        for replacement in reversed(self.applied):
            with suppress(OSError):
                replacement.revert()
        for replacement in self.replacements:
            with suppress(OSError):
                replacement.discard()

    def entries(self) -> list[JournalEntry]:
        now = time.time()
        return [
            JournalEntry(
                call_id=self.call_id,
                undoes=self.undoes,
                path=str(each.path),
                before=before,
                after=after,
                attributes=each.attributes if after is None or isinstance(each.change.like, Attributes) else None,
                made=tuple(map(str, each.made)),
                time=now,
            )
            for each, (before, after) in zip(self.replacements, self.hashes, strict=True)
        ]

    def _note_contents(self) -> None:
        """Write down what it takes to undo the changes, should we be killed between two of them."""
        pending = []
        for each, (before, after) in zip(self.replacements, self.hashes, strict=True):
            if isinstance(each.change.before, bytes):
                self.images.keep(each.change.before, before or "", durable=each.in_place)
            if each.in_place and isinstance(each.change.after, bytes):
                self.images.keep(each.change.after, after or "")
            pending.append(
                replace(
                    self._pending(each),
                    before=before,
                    after=after,
                    attributes=each.attributes,
                    in_place=each.in_place,
                )
            )
        self.note(pending)

    def _pending(self, each: FileReplacement) -> PendingWrite:
        folders = tuple(map(str, each.made or each.missing_folders()))
        return PendingWrite(path=str(each.path), temporary=str(each.temporary), made=folders)


def _keep(images: Images, before: Body, after: Body, names: Hashes) -> None:
    """Store what a content was before it became another; links need no storing."""
    if not isinstance(before, bytes) or names[0] is None:
        return
    if isinstance(after, bytes) and names[1] is not None:
        images.keep_change(before, after, (names[0], names[1]))
    else:
        images.keep(before, names[0])


@contextmanager
def _hashing(changes: Sequence[Change]) -> Iterator[Callable[[], Sequence[Hashes]]]:
    """Gives a function that returns the hashes of all contents; large ones are computed beside the block."""

    def hashes() -> Sequence[Hashes]:
        return [(name_of(change.before), name_of(change.after)) for change in changes]

    if sum(_size(change.before) + _size(change.after) for change in changes) < _WORTH_A_THREAD:
        yield hashes
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as second:
        yield second.submit(hashes).result


def _size(body: Body) -> int:
    return len(body) if isinstance(body, bytes) else 0


def _trying(action: Callable[[], T], change: Change) -> T:
    try:
        return action()
    except OSError as error:
        raise failure(change.place, error) from error

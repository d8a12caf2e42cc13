"""Changes to files, all or nothing: compared, journalled, written, and taken back if one fails."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import partial
from typing import TypeVar

from toolwright.errors import ToolError
from toolwright.files.disk import digest_of, failure, open_file, read_whole
from toolwright.files.images import Images
from toolwright.files.journal import Entry, Journal
from toolwright.files.register import Note, Pending, Register
from toolwright.files.replace import Change, Replacement, sync_folder
from toolwright.record import record

T = TypeVar("T")
Hashes = tuple[str | None, str | None]
"""Of a content before and after; None where there is no file."""
_WORTH_A_THREAD = 256 * 1024


class Committer:
    """The one way to disk. Its caller holds the locks of all paths."""

    def __init__(self, journal: Journal, register: Register) -> None:
        self._journal = journal
        self._register = register

    def carry_out(self, changes: Sequence[Change], *, session_id: str, call_id: str) -> list[str | None]:
        """Make all changes, or none and raise a ToolError. Returns the hashes of the new contents."""
        with _hashing(changes) as hashes, self._register.entry() as note:
            for change in changes:
                _compare(change)
            replacements = [_trying(partial(Replacement.of, change), change) for change in changes]
            attempt = _Attempt(replacements=replacements, images=self._journal.images, note=note)
            try:
                attempt.prepare(hashes)
                self._journal.record(session_id, attempt.entries(call_id))
                attempt.apply()
            except ToolError:
                attempt.take_back()
                raise
            except OSError as error:
                attempt.take_back()
                raise ToolError(f"What the files were before cannot be kept: {error}. Nothing was changed.") from error
        for folder in {change.place.path.parent for change in changes}:
            sync_folder(folder)
        return [after for _, after in attempt.hashes]


@record(slots=True, kw_only=True)
class _Attempt:
    """Some replacements on their way, and how far they have come."""

    replacements: Sequence[Replacement]
    images: Images
    note: Note
    hashes: Sequence[Hashes] = ()
    applied: list[Replacement] = field(default_factory=list)

    def prepare(self, hashes: Callable[[], Sequence[Hashes]]) -> None:
        """Write everything that is new and keep everything that is old; what is going to fail mostly fails here."""
        self.note([Pending(path=str(each.path), temporary=str(each.temporary)) for each in self.replacements])
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
            self._keep_change(self.replacements[0].change, *self.hashes[0])

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

    def take_back(self) -> None:
        """The first failure is what the caller hears of; a second one on the way back must not hide it."""
        for replacement in reversed(self.applied):
            with suppress(OSError):
                replacement.revert()
        for replacement in self.replacements:
            with suppress(OSError):
                replacement.discard()

    def entries(self, call_id: str) -> list[Entry]:
        now = time.time()
        return [
            Entry(call_id=call_id, path=str(each.path), before=before, after=after, mode=each.mode, time=now)
            for each, (before, after) in zip(self.replacements, self.hashes, strict=True)
        ]

    def _keep_change(self, change: Change, before: str | None, after: str | None) -> None:
        if change.before is None or before is None:
            return
        if change.after is None or after is None:
            self.images.keep(change.before, before)
        else:
            self.images.keep_change(change.before, change.after, (before, after))

    def _note_contents(self) -> None:
        """Write down what it takes to undo the changes, should we be killed between two of them."""
        pending = []
        for each, (before, after) in zip(self.replacements, self.hashes, strict=True):
            if each.change.before is not None:
                self.images.keep(each.change.before, before or "", durable=each.in_place)
            if each.in_place and each.change.after is not None:
                self.images.keep(each.change.after, after or "")
            pending.append(
                Pending(
                    path=str(each.path),
                    temporary=str(each.temporary),
                    before=before,
                    after=after,
                    mode=each.mode,
                    in_place=each.in_place,
                )
            )
        self.note(pending)


@contextmanager
def _hashing(changes: Sequence[Change]) -> Iterator[Callable[[], Sequence[Hashes]]]:
    """Gives a function that returns the hashes of all contents; large ones are computed beside the block."""

    def hashes() -> Sequence[Hashes]:
        return [(_digest(change.before), _digest(change.after)) for change in changes]

    if sum(len(change.before or b"") + len(change.after or b"") for change in changes) < _WORTH_A_THREAD:
        yield hashes
        return
    with ThreadPoolExecutor(1) as second:
        yield second.submit(hashes).result


def _digest(content: bytes | None) -> str | None:
    return None if content is None else digest_of(content)


def _compare(change: Change) -> None:
    """The file must still be what the change was made from, whoever was asked for leave in the meantime."""
    path = change.place.path
    if change.before is None:
        if change.place.exists:
            raise ToolError(f"{path} has appeared since the call began. Read it before changing it.", "stale")
        return
    with open_file(change.place) as file:
        if read_whole(change.place, file) != change.before:
            raise ToolError(f"{path} has changed since the call began. Read it again before changing it.", "stale")


def _trying(action: Callable[[], T], change: Change) -> T:
    try:
        return action()
    except OSError as error:
        raise failure(change.place, error) from error

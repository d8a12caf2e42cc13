"""Changes to files, all or nothing: compared, journalled, written, and taken back if one fails."""

import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from toolwright.errors import ToolError
from toolwright.files.disk import digest_of, failure, open_file, read_whole
from toolwright.files.journal import Entry, Journal
from toolwright.files.register import Note, Pending, Register
from toolwright.files.replace import Change, Replacement, sync_folder

T = TypeVar("T")


class Committer:
    """The one way to disk. Its caller holds the locks of all paths."""

    def __init__(self, journal: Journal, register: Register) -> None:
        self._journal = journal
        self._register = register

    def carry_out(self, changes: Sequence[Change], *, session_id: str, call_id: str) -> None:
        """Make all changes, or none and raise a ToolError."""
        for change in changes:
            _compare(change)
        replacements = [_attempt(partial(Replacement.of, change), change) for change in changes]
        try:
            with self._register.entry() as note:
                pending = [self._pending(replacement) for replacement in replacements]
                note(pending)
                self._journal.record(session_id, _entries(changes, pending, call_id))
                self._make(replacements, note)
        except OSError as error:
            raise ToolError(f"What the files were before cannot be kept: {error}. Nothing was changed.") from error
        for folder in {change.place.path.parent for change in changes}:
            sync_folder(folder)

    def _make(self, replacements: Sequence[Replacement], note: Note) -> None:
        """All are prepared before the first is applied: what is going to fail mostly fails while preparing."""
        applied: list[Replacement] = []

        def take(step: Callable[[Replacement], None], replacement: Replacement) -> None:
            try:
                step(replacement)
            except OSError as error:
                if not replacement.go_in_place(error):
                    raise failure(replacement.change.place, error) from error
                note([self._pending(each) for each in replacements])
                _attempt(lambda: step(replacement), replacement.change)

        try:
            for replacement in replacements:
                take(Replacement.prepare, replacement)
            for replacement in replacements:
                take(Replacement.apply, replacement)
                applied.append(replacement)
        except ToolError:
            _take_back(applied, replacements)
            raise

    def _pending(self, replacement: Replacement) -> Pending:
        """The change as written down, its contents kept where they are needed to take it back."""
        change, in_place = replacement.change, replacement.in_place
        before = None if change.before is None else self._journal.keep(change.before, durable=in_place)
        after = None if change.after is None else digest_of(change.after)
        if in_place and change.after is not None:
            self._journal.keep(change.after)
        return Pending(
            path=str(change.place.path),
            temporary=str(replacement.temporary),
            before=before,
            after=after,
            in_place=in_place,
        )


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


def _attempt(action: Callable[[], T], change: Change) -> T:
    try:
        return action()
    except OSError as error:
        raise failure(change.place, error) from error


def _take_back(applied: Sequence[Replacement], replacements: Sequence[Replacement]) -> None:
    """The first failure is what the caller hears of; a second one on the way back must not hide it."""
    for replacement in reversed(applied):
        with suppress(OSError):
            replacement.revert()
    for replacement in replacements:
        with suppress(OSError):
            replacement.discard()


def _entries(changes: Sequence[Change], pending: Sequence[Pending], call_id: str) -> list[Entry]:
    now = time.time()
    return [
        Entry(call_id=call_id, path=item.path, before=item.before, after=item.after, mode=_mode(change), time=now)
        for change, item in zip(changes, pending, strict=True)
    ]


def _mode(change: Change) -> int | None:
    return None if change.before is None else stat.S_IMODE(change.place.path.stat().st_mode)

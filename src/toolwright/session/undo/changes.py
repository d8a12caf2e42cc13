"""Changes of files by a session and its subagents: step by step, in a turn, and since the session began."""

from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from toolwright.files.body import Body, body_at
from toolwright.files.hidden import stand_ins
from toolwright.files.journal import Journal, JournalEntry
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.diff import counts

SHOWN = 256 * 1024
"""Bytes up to which a file is compared line by line and shown in full."""


@record(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that has changed, against what it was before: before the turn, or before the session."""

    file: str
    additions: int
    deletions: int
    before: str = field(default="", repr=False)
    after: str = field(default="", repr=False)


@record(slots=True)
class Changes:
    """Reads of the journal only what is new, so that a step costs the same however long the session is."""

    journal: Journal
    hides: Callable[[Path], bool]
    """Tells whether nothing of a file may be shown."""
    _read: dict[str, int] = field(default_factory=dict[str, int])
    """Length to which the list of each session has been read."""
    _written: int = -1
    """Number of changes recorded when all lists were read."""
    _before: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """The first content known of each file, by its hash."""
    _in_turn: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """The same of the files that the turn under way has changed: what they were when it changed them first."""
    _touched: dict[str, None] = field(default_factory=dict[str, None])
    """Files that `sum_up` has to look at."""
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def follow(self, session_id: str) -> None:
        """Count what this session changes, and has changed so far."""
        if session_id not in self._read:
            self._read[session_id] = 0
            self._written = -1
            self._news_of(session_id)

    def begin_turn(self, since: float | None = None) -> None:
        """Count as the turn's what is changed from now on; where it began earlier, what was since that time as well."""
        self._news()
        self._in_turn.clear()
        if since is not None:
            entries = [entry for session_id in self._read for entry in self.journal.entries(session_id)]
            self._note_turn([entry for entry in entries if entry.time >= since])

    def fresh(self) -> list[str]:
        """The files that were changed here since this was last asked."""
        if self._written == self.journal.written:
            return []
        return self._news()

    def _news(self) -> list[str]:
        """Also of what others have changed in the name of these sessions."""
        self._written = self.journal.written
        entries = [entry for session_id in list(self._read) for entry in self._news_of(session_id)]
        self._note_turn(entries)
        return list(dict.fromkeys(entry.path for entry in entries))

    def _note_turn(self, entries: Sequence[JournalEntry]) -> None:
        for entry in sorted(entries, key=lambda one: one.number):
            self._in_turn.setdefault(entry.path, entry.before)

    def sum_up(self) -> list[ChangedFile]:
        """Compare the files touched since the last time with what they were before the session."""
        self._news()
        changes = [self._compare(file, self._before[file]) for file in self._touched]
        self._touched.clear()
        for change in changes:
            self._counts[change.file] = (change.additions, change.deletions)
        return changes

    def of_turn(self, summed: Sequence[ChangedFile]) -> list[ChangedFile]:
        """Compare the files that the turn has changed with what they were before it did."""
        known = {change.file: change for change in summed}
        return [
            known[file] if file in known and before == self._before[file] else self._compare(file, before)
            for file, before in self._in_turn.items()
        ]

    def standing(self, fresh: Sequence[ChangedFile]) -> list[ChangedFile]:
        """Every file that is not as it was before the session; `fresh` are those that were just summed up."""
        known = {change.file: change for change in fresh}
        changed = [file for file, counted in self._counts.items() if counted != (0, 0)]
        return [known.get(file) or self._compare(file, self._before[file]) for file in changed]

    def totals(self) -> Json:
        """Lines and files changed by the whole session, for its record."""
        changed = [counted for counted in self._counts.values() if counted != (0, 0)]
        return {
            "additions": sum(additions for additions, _ in changed),
            "deletions": sum(deletions for _, deletions in changed),
            "files": len(changed),
        }

    def _news_of(self, session_id: str) -> list[JournalEntry]:
        read, size = self._read[session_id], self.journal.size(session_id)
        if size == read:
            return []
        self._read[session_id] = size
        # Shorter than it was means that it was dropped and begun again.
        entries = self.journal.entries(session_id, read if size > read else 0)
        for entry in entries:
            self._before.setdefault(entry.path, entry.before)
            self._touched[entry.path] = None
        return entries

    def _compare(self, file: str, name: str | None) -> ChangedFile:
        """A file now against one of its contents of before, by its hash."""
        present = _present(Path(file))
        was = None if name is None else self.journal.images.body(name, present)
        if self.hides(Path(file)):
            was, present = stand_ins(was, present)
        before, after = _text_of(was), _text_of(present)
        additions, deletions = counts(before, after)
        return ChangedFile(file=file, before=before, after=after, additions=additions, deletions=deletions)


def _present(path: Path) -> Body:
    try:
        return body_at(path)
    except OSError:
        return None


def _text_of(body: Body) -> str:
    """Nothing of what is not text, too long, or no longer kept."""
    if not isinstance(body, bytes) or len(body) > SHOWN or b"\0" in body[:8192]:
        return ""
    return body.decode("utf-8", "replace")

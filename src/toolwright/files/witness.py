"""Changes that others make while we look on: files read before and after a command, so that it can be undone."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from toolwright.files.disk import digest_of
from toolwright.files.journal import Entry, Journal
from toolwright.record import record

MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""What is looked at before one command; beyond it a command is carried out without being undoable."""


@record(frozen=True, slots=True)
class Seen:
    """A file at one moment."""

    digest: str | None
    mode: int | None


@record(slots=True)
class Witness:
    """What some files were before a command. The contents are kept already; only what changed is written down."""

    journal: Journal
    before: dict[Path, Seen] = field(default_factory=dict[Path, Seen])

    @classmethod
    def of(cls, journal: Journal, paths: Iterable[Path]) -> "Witness":
        """Look at files, and at all files below folders, within the limits."""
        witness = cls(journal)
        room = MOST_BYTES
        for path in _files(paths):
            if path in witness.before:
                continue
            data = _read(path, room)
            if data is None and os.path.lexists(path):
                continue
            room -= len(data or b"")
            witness.before[path] = Seen(None if data is None else journal.images.keep(data), _mode(path))
            if len(witness.before) >= MOST_FILES:
                break
        return witness

    def settle(self, *, session_id: str, call_id: str) -> list[Path]:
        """Write down what is different now; the files that are."""
        entries = [
            Entry(
                call_id=call_id,
                path=str(path),
                before=seen.digest,
                after=after,
                mode=seen.mode,
                time=time.time(),
            )
            for path, seen in self.before.items()
            if (after := _digest(path)) != seen.digest
        ]
        if entries:
            self.journal.record(session_id, entries)
        return [Path(entry.path) for entry in entries]


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            for parent, _, names in os.walk(path):
                yield from (Path(parent, name) for name in names)
        else:
            yield path


def _read(path: Path, room: int) -> bytes | None:
    """The content of an ordinary file that is not too large; None for anything else."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > room:
            return None
        return path.read_bytes()
    except OSError:
        return None


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.lstat().st_mode)
    except OSError:
        return None


def _digest(path: Path) -> str | None:
    data = _read(path, MOST_BYTES)
    return None if data is None else digest_of(data)

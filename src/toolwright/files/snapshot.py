"""Files as they were before a command, so that what it changes can be undone."""

import itertools
import os
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from pathlib import Path

from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, body_in, name_of
from toolwright.files.held import hold
from toolwright.files.journal import Journal, JournalEntry, Keeping
from toolwright.record import record

MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""What is looked at before one command; beyond it a command is carried out without being undoable."""


@record(frozen=True, slots=True)
class Look:
    """A file or link at one moment."""

    name: str | None
    """Of what was there, as in the journal."""
    attributes: Attributes | None


@record(slots=True)
class Snapshot:
    """What some files were before a command. The contents are kept already; only what changed is written down."""

    journal: Journal
    before: dict[Path, Look] = field(default_factory=dict[Path, Look])
    _keeping: Keeping | None = None

    @classmethod
    def of(cls, journal: Journal, paths: Collection[Path], names: Iterable[str] = ()) -> "Snapshot":
        """Look at files and links, and at all below folders, within the limits.

        What has one of the `names` may be put into any of the folders.
        """
        snapshot = cls(journal)
        room = MOST_BYTES
        for path in (*_files(paths), *_inside(paths, names)):
            if path in snapshot.before:
                continue
            try:
                body, attributes = _look(path, room)
            except OSError:
                continue
            snapshot._keeping = snapshot._keeping or journal.keeping()
            if isinstance(body, bytes):
                room -= len(body)
                journal.images.keep(body)
            snapshot.before[path] = Look(name_of(body), attributes)
            if len(snapshot.before) >= MOST_FILES:
                break
        return snapshot

    def record_changes(self, *, session_id: str, call_id: str) -> list[Path]:
        """Write down what is different now; the files that are."""
        looked = {**self.before, **dict.fromkeys(self._below_new_folders(), Look(None, None))}
        entries = [entry for path, look in looked.items() if (entry := _changed(path, look, call_id))]
        if entries:
            self.journal.record(session_id, entries)
        if self._keeping is not None:
            self._keeping.close()
        return [Path(entry.path) for entry in entries]

    def _below_new_folders(self) -> Iterator[Path]:
        """The files in folders that were nothing before."""
        made = [path for path, look in self.before.items() if look.name is None and path.is_dir()]
        return itertools.islice(_files(path for path in made if not path.is_symlink()), MOST_FILES)


def _inside(folders: Iterable[Path], names: Iterable[str]) -> Iterator[Path]:
    there = [path for path in folders if path.is_dir() and not path.is_symlink()]
    return (folder / name for name in names for folder in there)


def _changed(path: Path, look: Look, call_id: str) -> JournalEntry | None:
    try:
        body, attributes = _look(path, MOST_BYTES)
    except OSError:
        body, attributes = None, None
    if (after := name_of(body)) == look.name:
        return None
    return JournalEntry(
        call_id=call_id,
        path=str(path),
        before=look.name,
        after=after,
        attributes=None if attributes == look.attributes else look.attributes,
        time=time.time(),
    )


def _look(path: Path, room: int) -> tuple[Body, Attributes | None]:
    try:
        with hold(path.parent) as folder:
            body = body_in(folder, path.name, room)
            if not isinstance(body, bytes):
                return body, None
            handle = folder.open(path.name, os.O_RDONLY)
            try:
                return body, Attributes.of(handle)
            finally:
                os.close(handle)
    except (FileNotFoundError, NotADirectoryError):
        return None, None


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            for parent, folders, names in os.walk(path):
                yield from (Path(parent, name) for name in names)
                yield from (Path(parent, name) for name in folders if Path(parent, name).is_symlink())
        else:
            yield path

"""Files as they were before a command, so that what it changes can be undone."""

import errno
import itertools
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from pathlib import Path

from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, NotABody, body_in, name_of
from toolwright.files.held import hold
from toolwright.files.journal import Journal, JournalEntry, Keeping
from toolwright.files.precious import Worth, ranked, uncommitted
from toolwright.record import record

MOST_FILES = 2_000
MOST_BYTES = 64 * 1024 * 1024
"""The most that is kept before one command of files that can be had again, from git or by making them again."""
MOST_OWN_FILES = 10_000
MOST_OWN_BYTES = 128 * 1024 * 1024
"""The most that is kept of the others. Beyond it a command cannot be undone, and its result says so."""

Stamp = tuple[int, int]
"""When a file was last changed, and its size."""


@record(frozen=True, slots=True)
class FileLook:
    """A file or link at one moment."""

    name: str | None
    """Of what was there, as in the journal."""
    attributes: Attributes | None


@record(slots=True)
class Snapshot:
    """Files as they were before a command. The contents are kept already; only what changed is written down."""

    journal: Journal
    before: dict[Path, FileLook] = field(default_factory=dict[Path, FileLook])
    unkept: dict[Worth, dict[Path, Stamp]] = field(default_factory=dict[Worth, "dict[Path, Stamp]"])
    """Files that there was no room for."""
    _of_git: set[Path] = field(default_factory=set[Path])
    _kept: int = 0
    """Bytes."""
    _keeping: Keeping | None = None

    @classmethod
    def of(
        cls,
        journal: Journal,
        paths: Collection[Path],
        names: Iterable[str] = (),
        *,
        whole: Collection[Path] = (),
        work_trees: Iterable[Path] = (),
    ) -> "Snapshot":
        """Look at files and links, and at all below folders, within the limits, the most precious first.

        What has one of the `names` may be put into any of the folders. Those in `whole` may lose all that they have. In
        the `work_trees` git may change what is not committed.
        """
        snapshot = cls(journal)
        named = [*_inside(paths, names), *itertools.chain(*map(uncommitted, work_trees))]
        for worth, path in (*((Worth.OWN, path) for path in named), *ranked(paths, whole)):
            if path not in snapshot.before:
                snapshot._keep(worth, path)
        return snapshot

    def _keep(self, worth: Worth, path: Path) -> None:
        own = worth is Worth.OWN
        room = (MOST_OWN_BYTES if own else MOST_BYTES) - self._kept
        full = len(self.before) >= (MOST_OWN_FILES if own else MOST_FILES)
        try:
            if full:
                raise NotABody(errno.EMFILE, "there are too many")
            body, attributes = _look(path, room)
        except OSError:
            if (stamp := _stamp(path)) is not None:
                self.unkept.setdefault(worth, {})[path] = stamp
            return
        self._keeping = self._keeping or self.journal.keeping()
        if isinstance(body, bytes):
            self._kept += len(body)
            self.journal.images.keep(body)
        self.before[path] = FileLook(name_of(body), attributes)
        if worth is Worth.GITS:
            self._of_git.add(path)

    def record_changes(self, *, session_id: str, call_id: str) -> list[Path]:
        """Write down what is different now; the files that are. What git has written is not for us to undo."""
        looked = {**self.before, **dict.fromkeys(self._below_new_folders(), FileLook(None, None))}
        changes = ((path, _changed(path, look, call_id)) for path, look in looked.items())
        entries = [entry for path, entry in changes if entry and not (path in self._of_git and entry.after is not None)]
        if entries:
            self.journal.record(session_id, entries)
        if self._keeping is not None:
            self._keeping.close()
        return [Path(entry.path) for entry in entries]

    def lost(self, worth: Worth) -> list[Path]:
        """Return the files that have changed or gone and were not kept."""
        return [path for path, stamp in self.unkept.get(worth, {}).items() if _stamp(path) != stamp]

    def _below_new_folders(self) -> Iterator[Path]:
        """The files in folders that were nothing before."""
        new_folders = [path for path, look in self.before.items() if look.name is None and path.is_dir()]
        return itertools.islice(_files(path for path in new_folders if not path.is_symlink()), MOST_FILES)


def _stamp(path: Path) -> Stamp | None:
    try:
        seen = path.lstat()
    except OSError:
        return None
    return (seen.st_mtime_ns, seen.st_size) if stat.S_ISREG(seen.st_mode) else None


def _inside(folders: Iterable[Path], names: Iterable[str]) -> Iterator[Path]:
    there = [path for path in folders if path.is_dir() and not path.is_symlink()]
    return (folder / name for name in names for folder in there)


def _changed(path: Path, look: FileLook, call_id: str) -> JournalEntry | None:
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

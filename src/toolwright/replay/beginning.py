"""A folder as it was before a session, in a copy; and what others have changed in it since."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from toolwright.errors import UsageError
from toolwright.files.body import Link
from toolwright.files.journal import JournalEntry
from toolwright.messages import Assistant, Message
from toolwright.workspace import Workspace

MOST_CHANGED = 20
"""Files that are named as changed since."""


@contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """A copy of a folder under its own name, for a while: files, folders and links."""
    above = Path(tempfile.mkdtemp(prefix="toolwright-replay-")).resolve()
    try:
        copy = above / (folder.name or "root")
        try:
            shutil.copytree(folder, copy, symlinks=True, ignore=_special)
        except OSError as error:
            reason = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror
            raise UsageError(f"{folder} cannot be copied: {reason}.") from error
        yield copy
    finally:
        shutil.rmtree(above, ignore_errors=True)


def _special(folder: str, names: Iterable[str]) -> set[str]:
    """Pipes, sockets and devices: they hold nothing."""
    modes = {name: os.lstat(Path(folder, name)).st_mode for name in names}
    return {name for name, mode in modes.items() if stat.S_IFMT(mode) not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)}


def rewind(records: Workspace, entries: Sequence[JournalEntry], copy: Path) -> None:
    """Give the copy what its files were before the first change of each."""
    folder = records.directory
    first: dict[str, JournalEntry] = {}
    for entry in entries:
        first.setdefault(entry.path, entry)
    created = {name for entry in entries for name in entry.made}
    for path, entry in first.items():
        if not Path(path).is_relative_to(folder):
            continue
        body = None if entry.before is None else records.files.journal.images.body(entry.before, None)
        if entry.before is not None and body is None:
            raise UsageError(f"What {path} was before is no longer kept, so the session cannot be played again.")
        place = copy / Path(path).relative_to(folder)
        _clear_the_way(copy, place)
        if isinstance(body, Link):
            place.symlink_to(body.target)
        elif body is not None:
            place.write_bytes(body)
    for name in sorted(created, key=len, reverse=True):
        if Path(name).is_relative_to(folder):
            emptied = copy / Path(name).relative_to(folder)
            if not emptied.is_symlink() and emptied.is_dir() and not any(emptied.iterdir()):
                emptied.rmdir()


def _clear_the_way(copy: Path, place: Path) -> None:
    """Remove what is at a place, and make the folders above it, which were folders then: a link there leads away."""
    for above in reversed(place.relative_to(copy).parents[:-1]):
        if (copy / above).is_symlink() or not (copy / above).is_dir():
            (copy / above).unlink(missing_ok=True)
            (copy / above).mkdir()
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def changed_since(folder: Path, messages: Sequence[Message], entries: Sequence[JournalEntry]) -> tuple[str, ...]:
    """Return others' changes after the last message: the copy has them as they are now, but for repositories' own."""
    rewound = {entry.path for entry in entries}
    end = max((_end(message) for message in messages), default=0)
    lines: list[str] = []
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {".git"})
        for path in (Path(above, name) for name in sorted(names)):
            if str(path) not in rewound and path.lstat().st_mtime > end / 1000:
                lines.append(str(path.relative_to(folder)))
                if len(lines) == MOST_CHANGED:
                    return tuple(lines)
    return tuple(lines)


def _end(message: Message) -> float:
    info = message.info
    return (isinstance(info, Assistant) and info.time.completed) or info.time.created

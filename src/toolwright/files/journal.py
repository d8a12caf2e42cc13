"""The journal of files before each call that changed them, so that any call can be undone."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import field, fields
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from toolwright.files.attributes import Attributes
from toolwright.files.disk import open_private
from toolwright.files.images import Images
from toolwright.machine.private_files import make_folder
from toolwright.record import fields_of, record

CAP = 512 * 1024 * 1024
"""The most bytes that are kept; the oldest go first."""

_DAY = 24 * 3600
STORES, WHOLE = "captured", "folders"
FOLDERS_KEPT = 7
"""Days for which a whole folder is kept that undo has taken away."""


@record(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One file changed by one call. Each content is named by its hash, a link by itself; None for no file."""

    call_id: str
    path: str
    before: str | None
    after: str | None
    attributes: Attributes | None = None
    """Mode, owner and attributes of before; None where the change has left them as they were."""
    undoes: bool = False
    """True if it takes back changes of before, or makes them again."""
    made: tuple[str, ...] = ()
    """Folders made for the file, outermost first."""
    aside: bool = False
    """True if only undo looks at it: a folder, what belongs to git, what the project ignores. Where it has changed
    since, it is left as it is, and stands in the way of nothing."""
    apart: bool = False
    """True if it was another file that had this name before, and not the same one with another content."""
    late: bool = False
    """True if a job changed it after its call had ended."""
    time: float = 0.0
    number: int = field(default=0, compare=False)
    """Larger than those of all changes before, in whatever session; given by the journal."""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "JournalEntry":
        known = {each.name: values[each.name] for each in fields(cls) if each.name in values}
        known["attributes"] = Attributes(**known["attributes"]) if known.get("attributes") else None
        known["made"] = tuple(known.get("made", ()))
        known.setdefault("number", int(known["time"] * 1e9))
        # Entries of older versions told it by the call's id.
        known.setdefault("undoes", str(known["call_id"]).startswith("undo_"))
        return cls(**known)


class CommandNotes(Protocol):
    """A folder for notes of what a command changes while it runs."""

    async def catch_up(self) -> object:
        """Write down in the journal what has been changed since the last time."""
        ...


class Journal:
    """For each session a list of what its calls changed, and the contents of before."""

    def __init__(self, folder: Path, cap: int = CAP) -> None:
        self.images = Images(folder / "images")
        self.stores = folder / STORES
        """For the earlier states of what commands change, until they are taken in here."""
        self._folder = folder
        self._cap = cap
        self._pruned_at = 0
        self.ledgers = set[CommandNotes]()
        """Those of the commands that run."""
        self.written = 0
        """Entries that were recorded since this was opened, of whatever session: whether anything is new."""

    def goal_path(self, session_id: str) -> Path:
        """Return where the files are kept as they were before a session began to work towards its goal."""
        return self._folder / "goals" / f"{self._list_path(session_id).stem}.files"

    def record(self, session_id: str, entries: Iterable[JournalEntry]) -> None:
        """Append to the list of a session, and drop the oldest of everything now and then."""
        written = [fields_of(entry) for entry in entries]
        first = self._take_numbers(len(written))
        for number, entry in enumerate(written, first):
            entry["number"] = number
        lines = "".join(json.dumps(entry, separators=(",", ":"), default=fields_of) + "\n" for entry in written)
        with FileIO(open_private(self._list_path(session_id), os.O_WRONLY | os.O_APPEND | os.O_CREAT), "wb") as file:
            file.write(lines.encode("utf-8", "surrogateescape"))
        self.written += len(written)
        if self._is_pruning_due():
            self.prune()

    def entries(self, session_id: str, since: int = 0) -> list[JournalEntry]:
        """The files that a session changed, oldest first, from a `size` of its list on. One cut short is left out."""
        return [entry for entry in _entries(self._list_path(session_id), since) if not entry.aside]

    def everything(self, session_id: str) -> list[JournalEntry]:
        """The same with what is only for undo."""
        return list(_entries(self._list_path(session_id), 0))

    def size(self, session_id: str) -> int:
        """Return the length of a session's list, in bytes: a cheap way to see whether something was added."""
        try:
            return self._list_path(session_id).stat().st_size
        except FileNotFoundError:
            return 0

    def forget(self, session_id: str) -> None:
        """Drop the list of a session that was deleted; its contents go with the next `sweep`."""
        self._list_path(session_id).unlink(missing_ok=True)
        self.goal_path(session_id).unlink(missing_ok=True)

    def folder_kept(self, name: str) -> Path:
        """Name the place of a whole folder that was taken away."""
        make_folder(self._folder / WHOLE)
        return self._folder / WHOLE / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()

    async def catch_up(self) -> None:
        """Write down what the commands that run have changed so far."""
        for ledger in tuple(self.ledgers):
            await ledger.catch_up()

    def keeping(self) -> "Keeping":
        """To be held from the first content that is kept until its entry is recorded: `sweep` waits for that."""
        handle = open_private(self._folder / "keeping", os.O_RDWR | os.O_CREAT)
        fcntl.flock(handle, fcntl.LOCK_SH)
        return Keeping(handle)

    def sweep(self) -> None:
        """Drop every content that no list names, and what killed processes left half written.

        Nothing is dropped while any process is between keeping a content and recording why.
        """
        with FileIO(open_private(self._folder / "keeping", os.O_RDWR | os.O_CREAT), "r+") as file:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            for store in self.stores.glob("*-*"):
                if not _is_running(store.name):
                    shutil.rmtree(store, ignore_errors=True)
            lists = sorted(self._folder.glob("sessions/*.jsonl"))
            self.images.keep_only(
                name for path in lists for entry in _entries(path) for name in (entry.before, entry.after)
            )

    def prune(self) -> None:
        """Drop the oldest until four fifths of the cap are left, and whole folders that were taken away long ago."""
        for folder in (self._folder / WHOLE).glob("*"):
            with suppress(OSError):
                if folder.lstat().st_ctime < time.time() - FOLDERS_KEPT * _DAY:
                    shutil.rmtree(folder, ignore_errors=True)
        self._pruned_at = self.images.stored
        room = self._cap * 4 // 5
        for _, size, path in sorted(_files_below(self._folder), reverse=True):
            room -= size
            if room < 0:
                path.unlink(missing_ok=True)
        os.close(open_private(self._folder / "pruned", os.O_WRONLY | os.O_CREAT))
        os.utime(self._folder / "pruned")

    def _take_numbers(self, count: int) -> int:
        """The first of so many numbers. Without a last one the clock, in nanoseconds, is sure to be beyond it."""
        with FileIO(open_private(self._folder / "number", os.O_RDWR | os.O_CREAT), "r+") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            try:
                first = int(file.read()) + 1
            except ValueError:
                first = time.time_ns()
            file.seek(0)
            file.write(b"%d\n" % (first + count - 1))
            return first

    def _is_pruning_due(self) -> bool:
        if self.images.stored - self._pruned_at > self._cap / 16:
            return True
        try:
            return (self._folder / "pruned").stat().st_mtime < time.time() - _DAY
        except FileNotFoundError:
            return True

    def _list_path(self, session_id: str) -> Path:
        plain = re.fullmatch(r"[A-Za-z0-9_-]{1,100}", session_id)
        name = session_id if plain else hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / "sessions" / f"{name}.jsonl"


class Keeping:
    """A share of a lock. Let go at the latest when nobody has it any more, as after a call that was stopped."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def _is_running(store: str) -> bool:
    """Tell whether the process that has named a store is there still."""
    try:
        os.kill(int(store.partition("-")[0]), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _entries(path: Path, since: int = 0) -> Iterator[JournalEntry]:
    try:
        with path.open("rb") as file:
            file.seek(since)
            lines = file.read().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, AttributeError):
            yield JournalEntry.from_json(json.loads(line))


def _files_below(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for part in ("images", "sessions"):
        for parent, _, names in os.walk(folder / part):
            for name in names:
                path = Path(parent, name)
                try:
                    status = path.stat()
                except FileNotFoundError:
                    continue
                yield status.st_mtime, status.st_size, path

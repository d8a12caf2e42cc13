"""Changes of a command, as the keeper has captured them, made into entries of the journal, so that undo knows them.

Only what is known to be new may ever be deleted by an undo. What could not be kept, and whatever that may have become
under another name, is left out and named.
"""

import asyncio
import base64
import errno
import json
import logging
import os
import shutil
import stat
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any

from toolwright.files.attributes import Attributes
from toolwright.files.body import Folder, Link, Thing, body_in, name_of
from toolwright.files.disk import LOADABLE, digest_of
from toolwright.files.held import HeldFolders
from toolwright.files.ignore import Ignored
from toolwright.files.journal import Journal, JournalEntry
from toolwright.process.keeper.order import Capture, Powers, is_decoy
from toolwright.record import record

log = logging.getLogger(__name__)

ROOM = 512 * 1024 * 1024
"""Bytes of copies that are kept of the files of one command. Links take none."""
FEW = 1_000
"""Entries of a new folder that are written down one by one; a larger one is undone as a whole."""
MOST_LOOKED_AT = 20_000
"""Entries of a project that are looked at to see what was missed."""
COARSE = 5
"""The clock that files are stamped by, which is behind the usual one by some milliseconds."""
THREADS = "threads"
GIT = ".git"
_NOTHING = (FileNotFoundError, NotADirectoryError)


@record(frozen=True, slots=True, kw_only=True)
class CaptureOutcome:
    """The report on the changes of a command."""

    lost: tuple[str, ...] = ()
    """Changes that cannot be undone."""
    missed: tuple[str, ...] = ()
    """Changes made while it ran without being seen."""
    spared: tuple[str, ...] = ()
    """Hidden files into which was written what is shown in their place, and that have their contents again."""
    failure: str = ""
    """Why nothing of it can be undone."""


@record(frozen=True, slots=True, kw_only=True)
class _Was:
    """The state of a place before."""

    kind: str
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    content: Any = None
    written: int | None = None
    """When the content was written, if that is to be held against the time of what was kept."""

    @property
    def attributes(self) -> Attributes | None:
        if "mode" not in self.state:
            return None
        extended = {
            name: base64.b64encode(bytes.fromhex(value)).decode() for name, value in self.state.get("x", {}).items()
        }
        state = self.state
        return Attributes(mode=state["mode"], owner=state["uid"], group=state["gid"], extended=extended)


@record(slots=True, kw_only=True)
class _Notes:
    """The keeper's notes, put together by place."""

    was: dict[str, _Was] = field(default_factory=dict[str, _Was])
    anew: set[str] = field(default_factory=set[str])
    """Folders that have gone and come again: what is in them and was not noted is new."""
    moves: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    lost: set[str] = field(default_factory=set[str])
    doubts: set[str] = field(default_factory=set[str])

    def add(self, line: Mapping[str, Any]) -> None:
        path = line.get("path", "")
        match line["kind"]:
            case "mark":
                return
            case "doubt":
                self.doubts.add(line["reason"])
            case "lost":
                self.lost.add(path)
            case "again":
                self.anew.add(path)
            case "moved":
                self.moves.append((path, line["to"]))
            case _:
                known = self.was.get(path)
                if known is None:
                    self.was[path] = _was_of(line, line)
                elif known.kind == "mode":
                    # Its mode of before is known already; now its content is too.
                    self.was[path] = _was_of(line, known.state)

    def lose(self, path: str) -> None:
        """Leave a place out, and those that what was there has been moved to."""
        self.lost.add(path)
        for old, new in self.moves:
            if path == old or path.startswith(f"{old}/"):
                path = new + path[len(old) :]
                self.lost.add(path)

    def is_lost(self, path: str) -> bool:
        return bool(self.lost) and any(str(one) in self.lost for one in (path, *Path(path).parents))


def _was_of(line: Mapping[str, Any], state: Mapping[str, Any]) -> _Was:
    content = line.get("content", line.get("target"))
    return _Was(kind=line["kind"], state=state, content=content, written=line.get("written"))


class Captured:
    """The earlier states of what one command changes. Closed when nothing of it runs any more."""

    def __init__(
        self,
        journal: Journal,
        *,
        session_id: str,
        call_id: str,
        root: Path,
    ) -> None:
        """`root` is the project, in which is looked for what was missed."""
        # Made by the keeper, once there is something to keep. Whose it was can be told when it is left over.
        self.store = journal.stores / f"{os.getpid()}-{os.urandom(8).hex()}"
        self._journal = journal
        self._session_id, self._call_id = session_id, call_id
        self._root = root
        self._hidden = frozenset[str]()
        self._lock = Lock()
        self._marks = 0
        self._began = time.clock_gettime_ns(COARSE)
        self._read_to = 0
        self._late = False

    def begin(self, mark: Callable[[int], Awaitable[None]], is_silent: Callable[[], bool]) -> None:
        """Say that the command runs; `mark` has what is changed from then on noted anew, after a mark so numbered.

        `is_silent` tells whether something could not be noted, as on a full disk.
        """
        self._mark, self._is_silent = mark, is_silent
        self._journal.ledgers.add(self)

    def order(self, powers: Powers, outside: Iterable[Path] = (), *, asks: Iterable[str] = ()) -> Capture:
        """Return what the keeper is to do: the places outside of the project are of interest too. It `asks` before a
        file is changed whose path has one of these parts."""
        self._hidden = frozenset(powers["hidden"])
        wanted = (*map(Path, powers["granted"]), *outside)
        others = (_first_missing(one) for one in wanted if not one.is_relative_to(self._root))
        places = dict.fromkeys((self._root, *others))
        return {"store": str(self.store), "roots": list(map(str, places)), "room": ROOM, "asks": list(asks), **powers}

    @property
    def is_empty(self) -> bool:
        """True if nothing was changed at all."""
        return not self.store.exists()

    def places(self) -> list[Path]:
        """Return what has been noted since the last time."""
        return [Path(line["path"]) for _, line in self._fresh() if line["kind"] in ("new", "file")]

    async def catch_up(self) -> CaptureOutcome:
        """Write down what has been changed until now by a command that may run on."""
        self._marks += 1
        marked = self._marks
        await self._mark(marked)
        return await asyncio.to_thread(self.record, marked)

    def record(self, marked: int = 0) -> CaptureOutcome:
        """Write down what has been changed since the last time, and before the mark of that number if one is given."""
        with self._lock:
            try:
                return self._record(marked)
            except (OSError, ValueError, KeyError, TypeError) as problem:
                log.warning("What a command has changed cannot be written down: %r", problem)
                return CaptureOutcome(failure=str(problem) or type(problem).__name__)

    def _record(self, marked: int) -> CaptureOutcome:
        notes = _Notes()
        lines = list(self._fresh())
        for to, line in lines:
            if marked and line.get("number") == marked:
                break
            notes.add(line)
            self._read_to = to
        late, self._late = self._late, True
        if self._is_silent():
            notes.doubts.add("the disk is full")
        if not (notes.was or notes.lost or notes.doubts or notes.anew):
            return CaptureOutcome()
        if notes.doubts - {THREADS}:
            # Something old may be in what looks new.
            new = {path for path, was in notes.was.items() if was.kind == "new"} | notes.anew
            notes.lost |= {path for path in new if Path(path).is_dir()}
        with self._journal.keeping(), HeldFolders() as folders:
            reading = _Reading(self._journal, self.store, notes, folders, self._entry(late), self._hidden)
            entries = reading.entries(lambda: [line for _, line in self._fresh()])
            if entries:
                self._journal.record(self._session_id, entries)
        missed = self._missed(notes) if notes.doubts else ()
        self._began = time.clock_gettime_ns(COARSE)
        return CaptureOutcome(lost=tuple(reading.lost), missed=tuple(missed), spared=tuple(reading.spared))

    def end(self) -> None:
        """Write down the last, and keep nothing more."""
        if not self.is_empty:
            self.record()
            shutil.rmtree(self.store, ignore_errors=True)
        # Only now: until then whoever wants to undo waits for us.
        self._journal.ledgers.discard(self)

    def _entry(self, late: bool) -> Callable[..., JournalEntry]:
        ignored = Ignored()

        def entry(path: str, before: str | None, after: str | None, attributes: Attributes | None) -> JournalEntry:
            folder = any(name is not None and name.partition(":")[0].endswith("folder") for name in (before, after))
            aside = folder or GIT in Path(path).parts or ignored.has(Path(path), folder=folder)
            return JournalEntry(
                call_id=self._call_id,
                path=path,
                before=before,
                after=after,
                attributes=attributes,
                aside=aside,
                late=late,
                time=time.time(),
            )

        return entry

    def _fresh(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each line that was not read yet, and where it ends."""
        try:
            with (self.store / "log").open("rb") as file:
                file.seek(self._read_to)
                data = file.read()
        except _NOTHING:
            return
        end = self._read_to
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            end += len(line)
            with suppress(ValueError):
                yield end, json.loads(line)

    def _missed(self, notes: _Notes) -> list[str]:
        """Look for files of the project that have changed and were not noted."""
        known = {(one.state["disk"], one.state["inode"]) for one in notes.was.values() if "inode" in one.state}
        new = {path for path, was in notes.was.items() if was.kind == "new"} | notes.anew | notes.lost
        own = str(self.store.parents[2])
        changed, waiting, count = list[str](), [str(self._root)], 0
        while waiting and count < MOST_LOOKED_AT:
            try:
                with os.scandir(waiting.pop()) as scanned:
                    entries = list(scanned)
            except OSError:
                continue
            for entry in entries:
                count += 1
                if entry.path in new or entry.name == GIT or entry.path == own:
                    continue
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(entry.path)
                elif status.st_ctime_ns > self._began and entry.path not in notes.was:
                    changed += [entry.path] if (status.st_dev, status.st_ino) not in known else []
        return changed


def _first_missing(place: Path) -> Path:
    """Return the outermost folder that would be made for a place; itself, if it is there or could be made at once."""
    missing = (one for one in reversed(place.parents) if not os.path.lexists(one))
    return next(missing, place)


class _Reading:
    """The notes against what is on disk now."""

    def __init__(
        self,
        journal: Journal,
        store: Path,
        notes: _Notes,
        folders: HeldFolders,
        entry: Callable[..., JournalEntry],
        hidden: frozenset[str],
    ) -> None:
        self.lost = list[str]()
        self.spared = list[str]()
        self._hidden = hidden
        self._journal = journal
        self._store = store
        self._notes = notes
        self._folders = folders
        self._entry = entry

    def entries(self, later: Callable[[], list[dict[str, Any]]]) -> list[JournalEntry]:
        """Compare all places: first what was there, for what is lost of that must not be taken for new elsewhere.

        `later` tells what a command that runs on has changed since: before that it was what comes of this.
        """
        notes = self._notes
        old = [(path, was) for path, was in notes.was.items() if was.kind != "new"]
        changed = [entry for path, was in old if (entry := self._changed(path, was)) is not None]
        new = [path for path, was in notes.was.items() if was.kind == "new"]
        for path in new:
            changed += self._new(path)
        for path in notes.anew:
            if isinstance(self._now(path)[0], Folder):
                changed += self._below(path)
        self.lost += [path for path in sorted(notes.lost) if os.path.lexists(path) and path not in self.lost]
        # A new folder may lie in one that has come again.
        changed = list({entry.path: entry for entry in reversed(changed)}.values())[::-1]
        since = _Notes()
        for line in later():
            since.add(line)
        return [entry for one in changed if (entry := self._until(one, since.was.get(one.path))) is not None]

    def _until(self, entry: JournalEntry, was: _Was | None) -> JournalEntry | None:
        """The same where the place has been changed again, with what it was then."""
        if was is None or was.kind in ("mode", "special"):
            return entry
        try:
            match was.kind:
                case "new":
                    after = None
                case "file":
                    after = digest_of(self._content(was))
                case _:
                    after = self._before(was, None)
        except OSError:
            return entry
        return None if after == entry.before and entry.attributes is None else replace(entry, after=after)

    def _changed(self, path: str, was: _Was) -> JournalEntry | None:
        """Return the entry of something that was there; noted as lost if it is not known well enough."""
        if self._notes.is_lost(path):
            return None
        try:
            if self._is_untouched(path, was):
                return None
            now, attributes = self._now(path)
            if path in self._hidden and isinstance(now, bytes) and is_decoy(now):
                now = self._give_back(path, was)
            before = self._before(was, now)
        except OSError:
            self._lose(path)
            return None
        after, earlier = name_of(now), None if attributes == was.attributes else was.attributes
        if before == after and (earlier is None or isinstance(now, Link | Folder)):
            return None
        entry = self._entry(path, before, after, earlier)
        return replace(entry, apart=not isinstance(now, Folder) and self._is_another(path, was))

    def _give_back(self, path: str, was: _Was) -> bytes:
        """Write again what a hidden file held: a program has written into it what it was shown in its place."""
        content, place = self._content(was), Path(path)
        with FileIO(self._folders.hold(place.parent).open(place.name, os.O_WRONLY | os.O_TRUNC), "w") as file:
            file.write(content)
        self.spared.append(path)
        return content

    def _is_another(self, path: str, was: _Was) -> bool:
        """Tell whether it is another file that has the name now."""
        if "inode" not in was.state:
            return False
        place = Path(path)
        try:
            return bool(self._folders.hold(place.parent).status(place.name).st_ino != was.state["inode"])
        except OSError:
            return False

    def _before(self, was: _Was, now: Thing) -> str | None:
        """Return the name of what was there, which is kept from now on; OSError if it was not kept."""
        match was.kind:
            case "link":
                return name_of(Link(was.content))
            case "folder":
                return name_of(Folder(was.state["mode"]))
            case "mode" if isinstance(now, bytes):
                # Nobody has opened it to write it.
                return name_of(now)
            case "file":
                return self._kept(was, now)
            case _:
                raise OSError(0, "nothing that could be put back")

    def _kept(self, was: _Was, now: Thing) -> str:
        """Keep the content that a file had, unless it still has it; its name."""
        content, data, images = was.content, self._content(was), self._journal.images
        digest, after = digest_of(data), name_of(now)
        if after == digest:
            return digest
        if isinstance(now, bytes) and after is not None:
            images.keep_change(data, now, (digest, after))
        elif isinstance(content, str) and (self._store / content).lstat().st_nlink == 1:
            images.adopt(self._store / content, digest)
        else:
            images.keep(data, digest)
        return digest

    def _content(self, was: _Was) -> bytes:
        """Return a content that the keeper has kept; OSError if it has not."""
        content = was.content
        if isinstance(content, str):
            file = self._store / content
            status = file.lstat()
            if status.st_size > LOADABLE:
                raise OSError(0, "too large")
            if status.st_mtime_ns != was.written:
                # Another program has exchanged names in the very moment in which one was opened by name.
                raise OSError(0, "changed while it was kept")
            return file.read_bytes()
        if content is None:
            raise OSError(0, "not kept")
        at, size = content
        with (self._store / "pack").open("rb") as pack:
            pack.seek(at)
            data = pack.read(size)
        if len(data) < size:
            raise OSError(0, "cut short")
        return data

    def _new(self, path: str) -> Iterator[JournalEntry]:
        """Return the entries of a place where nothing was: a file, or a folder with all that is in it."""
        if self._notes.is_lost(path) or (f"{os.sep}{GIT}{os.sep}objects{os.sep}" in path):
            return
        try:
            now, _ = self._now(path)
        except OSError:
            return
        if now is None:
            return
        if not isinstance(now, Folder):
            yield self._entry(path, None, name_of(now), None)
            return
        if self._is_whole(path):
            yield self._entry(path, None, name_of(Folder(now.mode, whole=True)), None)
            return
        yield self._entry(path, None, name_of(now), None)
        yield from self._below(path)

    def _below(self, folder: str) -> Iterator[JournalEntry]:
        """Return the entries in a folder that is new; what was noted by itself is looked at by itself."""
        for path in _all_below(folder):
            if path in self._notes.was or self._notes.is_lost(path):
                continue
            with suppress(OSError):
                now, _ = self._now(path)
                if now is not None:
                    yield self._entry(path, None, name_of(now), None)

    def _is_whole(self, folder: str) -> bool:
        """Tell whether a new folder is too large to be looked at file by file, or has a history of its own."""
        if any(one.startswith(f"{folder}/") for one in (*self._notes.lost, *self._notes.was)):
            return False
        if folder.endswith(f"/{GIT}"):
            return True
        return any(count > FEW or path.endswith(f"/{GIT}") for count, path in enumerate(_all_below(folder)))

    def _is_untouched(self, path: str, was: _Was) -> bool:
        """Tell whether the system has seen no change of a file since it was noted."""
        if "changed" not in was.state:
            return False
        place = Path(path)
        try:
            status = self._folders.hold(place.parent).status(place.name)
        except OSError:
            return False
        return (was.state["inode"], was.state["changed"]) == (status.st_ino, status.st_ctime_ns)

    def _now(self, path: str) -> tuple[Thing, Attributes | None]:
        place = Path(path)
        try:
            folder = self._folders.hold(place.parent)
            status = folder.status(place.name)
            if stat.S_ISDIR(status.st_mode):
                return Folder(stat.S_IMODE(status.st_mode)), None
            body = body_in(folder, place.name)
            if not isinstance(body, bytes):
                return body, None
            handle = folder.open(place.name, os.O_RDONLY)
            try:
                return body, Attributes.of(handle)
            finally:
                os.close(handle)
        except _NOTHING:
            return None, None
        except OSError as problem:
            if problem.errno != errno.ELOOP:
                raise
            # A link leads elsewhere on the way.
            return None, None

    def _lose(self, path: str) -> None:
        self.lost.append(path)
        self._notes.lose(path)


def _all_below(folder: str) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    yield entry.path
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue

"""Changes under way, written down so that the next start can clean up after a process that was killed."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, NotABody, body_at, name_of
from toolwright.files.disk import open_private
from toolwright.files.held import HeldFolders
from toolwright.files.images import Images, common_start
from toolwright.files.lock import Locks, take_now
from toolwright.files.replace import TEMPORARY, write_in_place, write_new
from toolwright.record import fields_of, record


@record(frozen=True, slots=True, kw_only=True)
class PendingWrite:
    """One file of a change under way. Contents are named as in the journal.

    Without contents nothing but the temporary file, and folders made for it, can be there to clean up.
    """

    path: str
    temporary: str
    before: str | None = None
    after: str | None = None
    attributes: Attributes | None = None
    in_place: bool = False
    made: tuple[str, ...] = ()
    """Folders made for the file, outermost first."""

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "PendingWrite":
        attributes = fields.pop("attributes", None)
        folders = fields.pop("made", ())
        return cls(**fields, made=tuple(folders), attributes=Attributes(**attributes) if attributes else None)


Note = Callable[[Sequence[PendingWrite]], None]


class PendingWrites:
    """One small file per change under way, locked by the process that makes it."""

    def __init__(self, folder: Path, images: Images, locks: Locks) -> None:
        self._folder = folder
        self._images = images
        self._locks = locks

    @contextmanager
    def entry(self) -> Iterator[Note]:
        """Gives a function that writes down what is about to happen; it stays written while the block runs."""
        path, handle = self._create()

        def note(pending: Sequence[PendingWrite]) -> None:
            os.write(handle, json.dumps(pending, default=fields_of).encode() + b"\n")

        try:
            yield note
        finally:
            path.unlink(missing_ok=True)
            os.close(handle)

    def recover(self) -> None:
        """Finish off what dead processes left: their temporary files go, half of a change is undone.

        What the system does not let us finish now is left for the next start, and holds nobody up.
        """
        try:
            paths = sorted(self._folder.iterdir())
        except OSError:
            return
        for path in paths:
            with suppress(OSError):
                self._recover(path)

    def _create(self) -> tuple[Path, int]:
        while True:
            path = self._folder / f"{os.getpid()}-{os.urandom(4).hex()}.json"
            handle = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            # A starting process may have found the file before it was locked, and removed it.
            if take_now(handle) and os.fstat(handle).st_nlink:
                return path, handle
            os.close(handle)

    def _recover(self, path: Path) -> None:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if take_now(handle) and self._settle(_read(handle)):
                path.unlink(missing_ok=True)
        finally:
            os.close(handle)

    def _settle(self, pending: Sequence[PendingWrite]) -> bool:
        """Tell whether the change needs no more care; not so while another process is writing one of its files."""
        with self._locks.try_hold(Path(item.path) for item in pending) as held, HeldFolders() as folders:
            if not held:
                return False
            for item in pending:
                _remove_temporary(folders, Path(item.temporary))
            states = [self._state(item) for item in pending]
            complete = all(state == "after" for state in states)
            for item, state in zip(pending, states, strict=True):
                if state in ("after", "mix") and not complete:
                    self._restore(folders, item)
            if not complete:
                for item in pending:
                    folders.remove_empty(map(Path, reversed(item.made)))
        return True

    def _state(self, item: PendingWrite) -> str:
        try:
            body = body_at(Path(item.path))
        except NotABody:
            return "other"
        if (state := name_of(body)) in (item.before, item.after):
            return "before" if state == item.before else "after"
        return "mix" if item.in_place and self._is_mix(item, body) else "other"

    def _is_mix(self, item: PendingWrite, data: Body) -> bool:
        """Tell whether the content is what an overwriting cut short leaves: new up to a point, old from there."""
        before, after = (self._images.get(digest or "") for digest in (item.before, item.after))
        if before is None or after is None or not isinstance(data, bytes):
            return False
        new = common_start(data, after)
        return data[new:] == before[new:]

    def _restore(self, folders: HeldFolders, item: PendingWrite) -> None:
        path, temporary = Path(item.path), Path(item.temporary)
        folder = folders.hold(path.parent)
        if item.before is None:
            with suppress(FileNotFoundError):
                folder.remove(path.name)
            return
        before = self._images.body(item.before)
        if before is None:
            return
        if item.in_place and isinstance(before, bytes):
            write_in_place(folder, path.name, before)
            return
        write_new(folder, temporary.name, before, item.attributes, strict=False)
        folder.replace(temporary.name, path.name)


def _read(handle: int) -> list[PendingWrite]:
    """Return the last writes noted. A line cut short does not count: what it tells of had not begun."""
    lines = os.read(handle, os.fstat(handle).st_size).splitlines(keepends=True)
    whole = [line for line in lines if line.endswith(b"\n")]
    try:
        return [PendingWrite.from_json(item) for item in json.loads(whole[-1])] if whole else []
    except (ValueError, TypeError, AttributeError):
        return []


def _remove_temporary(folders: HeldFolders, path: Path) -> None:
    if path.name.startswith(TEMPORARY):
        with suppress(FileNotFoundError, NotADirectoryError):
            folders.hold(path.parent).remove(path.name)

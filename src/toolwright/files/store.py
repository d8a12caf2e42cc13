"""The files of a project: loaded whole, remembered by session, changed in one way only."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from toolwright.errors import ToolError
from toolwright.files.commit import Committer
from toolwright.files.disk import Stamp, digest_of, open_file, read_whole, size_of
from toolwright.files.journal import Journal
from toolwright.files.ledger import Ledger, Seen
from toolwright.files.lines import LineIndexes
from toolwright.files.lock import Locks
from toolwright.files.paths import Place, Tree
from toolwright.files.register import Register
from toolwright.files.replace import Change
from toolwright.files.text import Text, decode
from toolwright.files.view import Viewer
from toolwright.record import record

__all__ = ["Change", "Content", "Files", "Loaded"]

LARGE = 256 * 1024
"""Bytes from which on a file is read in a thread, so that nothing else has to wait."""

Event = Literal["add", "change", "unlink"]


@record(frozen=True, kw_only=True)
class Content:
    """The bytes of a file at one moment."""

    place: Place
    data: bytes
    stamp: Stamp

    @cached_property
    def digest(self) -> str:
        return digest_of(self.data)


@record(frozen=True, kw_only=True)
class Loaded(Content):
    """The same as text."""

    text: Text


@record(frozen=True, kw_only=True)
class Commit:
    """A file that was just written, for who may change it further or has something to say about it."""

    path: Path


class Files:
    """One for each opened project. Every change of a file goes through `commit`."""

    def __init__(
        self,
        tree: Tree,
        data: Path,
        *,
        drift: Literal["merge", "replace", "refuse"] = "merge",
        encoding: str = "",
    ) -> None:
        """`data` is the program's own folder. `encoding` is that of files which are not Unicode, if known."""
        self.tree = tree
        self.drift = drift
        self.encoding = encoding
        self.on_edited: list[Callable[[Path, Event], None]] = []
        """Called after each change on disk with the path and what happened to it."""
        self.committed: list[Callable[[Commit], Awaitable[str | None]]] = []
        """Asked after each change on disk, before the result is told."""
        self.viewer = Viewer(indexes=LineIndexes(), legacy=encoding)
        self.journal = Journal(data / "undo")
        self._ledger = Ledger()
        self._locks = Locks(data / "locks")
        register = Register(data / "pending", self.journal.images, self._locks)
        register.recover()
        self._committer = Committer(self.journal, register)

    async def load(self, place: Place) -> Loaded:
        """The whole text of a file, or a ToolError: missing, is_folder, binary, too_large."""
        content = await self.fetch(place)
        text = self.decode(content)
        return Loaded(place=place, data=content.data, stamp=content.stamp, text=text)

    async def fetch(self, place: Place) -> Content:
        """The whole content of a file, text or not."""
        return await asyncio.to_thread(_fetch, place) if size_of(place) > LARGE else _fetch(place)

    def decode(self, content: Content) -> Text:
        """The text of a content, or a ToolError that names the file."""
        try:
            return decode(content.data, self.encoding)
        except ToolError as error:
            raise ToolError(f"{content.place.path}: {error}", error.kind) from error

    def note_read(
        self, session_id: str, place: Place, digest: str, *, stamp: Stamp | None = None, whole: bool = True
    ) -> None:
        """Remember that a session knows this content of a file, and may overwrite it.

        A large file need not be hashed: with the `stamp` it had when it was read, the digest may be empty.
        """
        if stamp is None:
            # Whether it is the stamp of that content cannot be told from here, so the hash has to decide.
            stamp = replace(Stamp.of(place.path.stat()), settled=False)
        self._ledger.note(session_id, place.name, Seen(stamp=stamp, digest=digest, whole=whole))

    def require_read(self, session_id: str, content: Content) -> None:
        """Raise a ToolError unless the session knows this content: `unread` or `stale`."""
        seen = self._ledger.last(session_id, content.place.name)
        path = content.place.path
        if seen is None:
            raise ToolError(f"{path} has not been read in this session. Read it before changing it.", "unread")
        if not seen.fits(content.stamp, lambda: content.digest):
            raise ToolError(f"{path} has changed since it was read. Read it again before changing it.", "stale")

    def read_in_part(self, session_id: str, place: Place) -> bool:
        """Whether a session has seen only some lines of a file."""
        seen = self._ledger.last(session_id, place.name)
        return seen is not None and not seen.whole

    def forget(self, session_id: str) -> None:
        """Drop what is remembered of a session that is over."""
        self._ledger.forget(session_id)

    async def commit(self, changes: Sequence[Change], *, session_id: str, call_id: str) -> None:
        """Make all changes or none.

        Each file must still be its `before` (else `stale`). Mode, owner, attributes and links stay; what was there
        before is in the journal. Afterwards the session knows the new content, and `on_edited` is called.
        """
        paths = [change.place.path for change in changes]
        for change in changes:
            if paths.count(change.place.path) > 1:
                raise ToolError(f"{change.place.path} is named twice in one change. Put both into one.", "ambiguous")
            _check_name(change)
        async with self._locks.hold(paths):
            work = asyncio.ensure_future(asyncio.to_thread(self._commit, changes, session_id, call_id))
            cancelled = await _ended(work)
        work.result()
        for change in changes:
            for callback in self.on_edited:
                callback(change.place.path, _event(change))
        if cancelled is not None:
            raise cancelled

    def _commit(self, changes: Sequence[Change], session_id: str, call_id: str) -> None:
        digests = self._committer.carry_out(changes, session_id=session_id, call_id=call_id)
        for change, digest in zip(changes, digests, strict=True):
            if digest is None:
                self._ledger.forget(session_id, change.place.name)
            else:
                self.note_read(session_id, change.place, digest)


async def _ended(work: "asyncio.Future[None]") -> asyncio.CancelledError | None:
    """Wait for work even when cancelled, and return that: a lock must not be let go while files are written."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


def _fetch(place: Place) -> Content:
    with open_file(place) as file:
        data = read_whole(place, file)
        # Taken last: what was written while reading must not pass for what was there before.
        stamp = Stamp.of(os.fstat(file.fileno()))
    return Content(place=place, data=data, stamp=stamp)


def _check_name(change: Change) -> None:
    """A new file cannot have the name of a folder."""
    if change.before is not None or change.after is None:
        return
    if change.place.given.endswith("/"):
        raise ToolError(f"{change.place.given} names a folder. Name a file in it.", "is_folder")


def _event(change: Change) -> Event:
    if change.after is None:
        return "unlink"
    return "add" if change.before is None else "change"

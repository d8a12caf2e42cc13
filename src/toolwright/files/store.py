"""The files of a project: loaded whole, remembered by session, changed in one way only."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.files.body import Body, body_at
from toolwright.files.buffers import UNSAVED, Buffers, Handovers, unsaved
from toolwright.files.commit import Committer
from toolwright.files.disk import Stamp, digest_of, open_file, read_whole, size_of
from toolwright.files.journal import Journal
from toolwright.files.lines import LineIndexes
from toolwright.files.lock import Locks
from toolwright.files.paths import Place, Tree
from toolwright.files.pending import PendingWrites
from toolwright.files.replace import Change, Handover
from toolwright.files.seen import SeenState
from toolwright.files.text import Text, decode
from toolwright.files.view import WHOLE, Viewer
from toolwright.record import record

__all__ = ["Change", "Commit", "Content", "Files", "Loaded", "WriteOutcome"]

log = logging.getLogger(__name__)

LARGE = 256 * 1024
"""Bytes from which on a file is read in a thread, so that nothing else has to wait."""

SECONDS = 20
"""The longest that what is asked after a change may take; others wait for the file so long."""

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


@record(frozen=True, slots=True, kw_only=True)
class Commit:
    """A change of one file that is on disk."""

    path: Path
    before: Body
    after: Body
    session_id: str
    call_id: str
    together: tuple[Change, ...] = ()
    """All the changes that were made at once, this one among them."""


@record(frozen=True, slots=True, kw_only=True)
class WriteOutcome:
    """The outcome of one change, after all who are asked about it."""

    place: Place
    body: Body
    """The content on disk."""
    remarks: tuple[str, ...] = ()
    """Their remarks, for the model to read."""


Committed = Callable[[Commit], Awaitable[str | None] | str | None]


class Files:
    """One for each opened project. Every change of a file goes through `commit`."""

    def __init__(
        self,
        tree: Tree,
        data: Path,
        *,
        drift: Literal["merge", "replace", "refuse"] = "merge",
        encoding: str = "",
        form: Literal["file", "path"] = "file",
    ) -> None:
        """`data` is the program's own folder. `encoding` is that of files which are not Unicode, if known.

        `form` is how the tool `read` shows lines: older clients of the reference know `file`, newer ones `path`.
        """
        self.tree = tree
        self.data = data
        self.drift = drift
        self.encoding = encoding
        self.form = form
        self.on_edited: list[Callable[[Path, Event], None]] = []
        """Called after each change on disk with the path and what happened to it."""
        self.changed = set[Path]()
        """Every file that was changed from here."""
        self.committed: list[Committed] = []
        """Asked, one after the other, when a change is on disk and before its result is told.

        One may rewrite the file, as a formatter does, by itself and not through `commit`, for nobody else can write
        the file meanwhile; and say something that joins the tool's output, as a language server does.
        """
        self.hides: Callable[[Path], bool] = lambda _: False
        """Tells whether a rule keeps a file from being read: then nothing of it is shown in differences either."""
        self.buffers: Buffers | None = None
        """The program that holds files open, if there is one: it is asked for their texts, and writes them."""
        self.viewer = Viewer(indexes=LineIndexes(), legacy=encoding)
        self.journal = Journal(data / "undo")
        self._seen: dict[str, dict[Path, SeenState]] = {}
        """By session and name. A link and its target are two names; folders are canonical."""
        self._locks = Locks(data / "locks")
        pending = PendingWrites(data / "pending", self.journal.images, self._locks)
        pending.recover()
        self._committer = Committer(self.journal, pending)

    @property
    def at_work(self) -> Collection[Path]:
        """The files that are being changed just now."""
        return self._locks.held

    async def load(self, place: Place) -> Loaded:
        """The whole text of a file, or a ToolError: missing, is_folder, binary, too_large."""
        content = await self.fetch(place)
        text = self.decode(place, content.data)
        return Loaded(place=place, data=content.data, stamp=content.stamp, text=text)

    async def fetch(self, place: Place) -> Content:
        """The whole content of a file, text or not."""
        content = await asyncio.to_thread(_fetch, place) if size_of(place) > LARGE else _fetch(place)
        if self.buffers is not None and (held := await unsaved(self.buffers, place, content.data)) is not None:
            return Content(place=place, data=held, stamp=UNSAVED)
        return content

    async def unsaved(self, place: Place) -> bytes | None:
        """Return an editor's text of a file that is not on disk yet; None if it has no more than the disk."""
        if self.buffers is None or size_of(place) > WHOLE:
            return None
        content = await self.fetch(place)
        return content.data if content.stamp is UNSAVED else None

    def decode(self, place: Place, data: bytes) -> Text:
        """The text of a content, or a ToolError that names the file."""
        try:
            return decode(data, self.encoding)
        except ToolError as error:
            raise ToolError(f"{place.path}: {error}", error.kind) from error

    def note_read(
        self, session_id: str, place: Place, digest: str, *, stamp: Stamp | None = None, whole: bool = True
    ) -> None:
        """Remember that a session knows this content of a file, and may overwrite it.

        A large file need not be hashed: with the `stamp` it had when it was read, the digest may be empty.
        """
        if stamp is None:
            # Whether it is the stamp of that content cannot be told from here, so the hash has to decide.
            stamp = replace(Stamp.of(place.path.stat()), settled=False)
        self._seen.setdefault(session_id, {})[place.name] = SeenState(stamp=stamp, digest=digest, whole=whole)

    def require_read(self, session_id: str, content: Content) -> None:
        """Raise a ToolError unless the session knows this content: `unread` or `stale`."""
        seen = self._seen.get(session_id, {}).get(content.place.name)
        path = content.place.path
        if seen is None:
            raise ToolError(f"{path} has not been read in this session. Read it before changing it.", "unread")
        if not seen.fits(content.stamp, lambda: content.digest):
            raise ToolError(f"{path} has changed since it was read. Read it again before changing it.", "stale")

    def seen(self, session_id: str) -> dict[Path, SeenState]:
        """Return the states of files that a session knows, by their names."""
        return dict(self._seen.get(session_id, {}))

    def know(self, session_id: str, name: Path, digest: str, *, whole: bool) -> None:
        """Remember what a session has seen elsewhere, in a copy of the same folder."""
        with suppress(OSError):
            stamp = replace(Stamp.of(name.stat()), settled=False)
            self._seen.setdefault(session_id, {})[name] = SeenState(stamp=stamp, digest=digest, whole=whole)

    def read_in_part(self, session_id: str, place: Place) -> bool:
        """Tell whether a session has seen only some lines of a file."""
        seen = self._seen.get(session_id, {}).get(place.name)
        return seen is not None and not seen.whole

    def forget(self, session_id: str) -> None:
        """Drop what is remembered of a session that is over."""
        self._seen.pop(session_id, None)

    async def commit(
        self, changes: Sequence[Change], *, session_id: str, call_id: str, undoes: bool = False
    ) -> list[WriteOutcome]:
        """Make all changes or none.

        Each file must still be its `before` (else `stale`). Mode, owner, attributes and links stay; what was there
        before is in the journal. Afterwards those in `committed` are asked, the session knows what is on disk then, and
        `on_edited` is called. What `undoes` earlier changes is left exactly so: nobody else changes it.
        """
        paths = [change.place.path for change in changes]
        for change in changes:
            _check_name(change)
        if len(set(paths)) < len(paths):
            twice = next(path for path in paths if paths.count(path) > 1)
            raise ToolError(f"{twice} is named twice in one change. Put both into one.", "ambiguous")
        async with self._locks.hold(paths):
            handing = Handovers(self.buffers, session_id) if self.buffers else None
            handovers = await handing.of(changes) if handing else {}
            work = asyncio.ensure_future(
                asyncio.to_thread(self._commit, changes, handovers, session_id, call_id, undoes)
            )
            cancelled = await _ended(work, handing)
            if cancelled is not None and work.exception() is not None:
                raise cancelled
            work.result()
            outcomes = [WriteOutcome(place=change.place, body=change.after) for change in changes]
            if self.committed and cancelled is None and not undoes:
                try:
                    outcomes = [await self._follow_up(change, changes, session_id, call_id) for change in changes]
                except asyncio.CancelledError as error:
                    cancelled = error
            elif handovers:
                outcomes = [
                    WriteOutcome(place=one.place, body=self._settle(one, session_id, call_id, undoes))
                    for one in changes
                ]
        for change in changes:
            for callback in self.on_edited:
                callback(change.place.path, _event(change))
        if cancelled is not None:
            raise cancelled
        return outcomes

    def _commit(
        self, changes: Sequence[Change], handovers: Mapping[Path, Handover], session_id: str, call_id: str, undoes: bool
    ) -> None:
        if not changes:
            return
        # Before they are on disk: whoever finds them there must be able to tell that it was us.
        self.changed.update(change.place.path for change in changes)
        digests = self._committer.carry_out(changes, handovers, session_id=session_id, call_id=call_id, undoes=undoes)
        for change, digest in zip(changes, digests, strict=True):
            self._know(session_id, change, change.after, digest)

    def _know(self, session_id: str, change: Change, body: Body, digest: str | None) -> None:
        self._seen.get(session_id, {}).pop(change.place.name, None)
        if isinstance(body, bytes):
            # Gone again already, by somebody else, it has to be read before it can be changed.
            with suppress(OSError):
                self.note_read(session_id, change.place, digest or "")

    async def _follow_up(
        self, change: Change, together: Sequence[Change], session_id: str, call_id: str
    ) -> WriteOutcome:
        """Ask about one change. Whatever comes of it, what is on disk in the end is known and can be undone."""
        commit = Commit(
            path=change.place.path,
            before=change.before,
            after=change.after,
            session_id=session_id,
            call_id=call_id,
            together=tuple(together),
        )
        try:
            remarks = [await _asked(asked, commit) for asked in self.committed]
        finally:
            body = self._settle(change, session_id, call_id)
        return WriteOutcome(place=change.place, body=body, remarks=tuple(filter(None, remarks)))

    def _settle(self, change: Change, session_id: str, call_id: str, undoes: bool = False) -> Body:
        try:
            body = body_at(change.place.path)
            known = self._seen.get(session_id, {}).get(change.place.name)
            digest = known.digest if known is not None else None
            if body != change.after:
                digest = self._committer.record_later(
                    change, body, session_id=session_id, call_id=call_id, undoes=undoes
                )
            # Also a program that has written the same once more has made the file a newer one.
            self._know(session_id, change, body, digest)
        except OSError:
            log.warning("%s cannot be read after its change", change.place.path, exc_info=True)
            return change.after
        return body


async def _asked(asked: Committed, commit: Commit) -> str | None:
    """Return the remark of one that is asked; one that fails loses nothing."""
    name = getattr(asked, "__qualname__", type(asked).__qualname__)
    try:
        async with time_limit(SECONDS):
            remark = asked(commit)
            return await remark if isinstance(remark, Awaitable) else remark
    except TimeoutError:
        return f"{name} took more than {SECONDS} seconds after the change of {commit.path} and was stopped."
    except Exception as error:
        log.exception("%s failed after the change of %s", name, commit.path)
        return f"{name} failed after the change of {commit.path}: {error}"


async def _ended(work: "asyncio.Future[None]", handing: Handovers | None) -> asyncio.CancelledError | None:
    """Wait for work even when cancelled, and return that: a lock must not be let go while files are written."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
            if handing is not None:
                handing.give_up()
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

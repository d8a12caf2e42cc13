"""One file's change, prepared beside it and put in place in one step, or undone."""

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.files.attributes import Attributes
from toolwright.files.body import Body, Link, body_in
from toolwright.files.disk import open_file, open_in, read_whole
from toolwright.files.held import HeldFolder, HeldFolders
from toolwright.files.paths import Place
from toolwright.record import record

TEMPORARY = ".toolwright-"
"""The beginning of the names of our temporary files."""

_NOT_REPLACEABLE = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)


@record(frozen=True, slots=True, kw_only=True)
class Change:
    """A new content for a file. `before` is what it must still be: None for no file. `after` None deletes it."""

    place: Place
    before: Body
    after: Body
    like: Place | Attributes | None = None
    """For a file that is made: what its mode, owner and attributes are taken from, as the target of a move does."""
    emptied: tuple[Path, ...] = ()
    """Folders that are removed afterwards if nothing is left in them, innermost first."""
    apart: bool = False
    """True if other names of the file that is there keep what they have."""


@record(frozen=True, slots=True, kw_only=True)
class Handover:
    """That another program, which holds the file open, is to write a change; we do if it does not."""

    disk: Body
    """The content on disk until then: not what the file was before, where that has never been saved."""
    text: str | None
    """The text it is to write; None where only we can."""
    write: Callable[[Path, str], bool]
    """Waits until it is written; False if the program refuses."""


@record(slots=True, kw_only=True)
class FileReplacement:
    """A change on its way to disk.

    An existing file is replaced by a twin of the same mode, owner and attributes. Where no such twin can be put
    in its place (the file has other names by hard links, belongs to someone else, is a mount of its own, lies in
    a folder we may not write to), it is written in place instead, which keeps all of these.
    """

    change: Change
    folders: HeldFolders
    temporary: Path
    attributes: Attributes | None = None
    """Of the file before."""
    inode: int = 0
    in_place: bool = False
    made: list[Path] = field(default_factory=list)
    """Folders created for it, outermost first."""
    handover: Handover | None = None

    @classmethod
    def of(cls, change: Change, folders: HeldFolders, handover: Handover | None = None) -> "FileReplacement":
        """The file must still be what the change was made from, whoever was asked for permission in the meantime."""
        path = change.place.path
        temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}")
        replacement = cls(change=change, folders=folders, temporary=temporary, handover=handover)
        if change.before is None:
            replacement._require_nothing()
        elif isinstance(change.before, Link):
            replacement._require_link(change.before)
        else:
            on_disk = change.before if handover is None else handover.disk
            replacement._require_content(on_disk if isinstance(on_disk, bytes) else change.before)
        return replacement

    @property
    def path(self) -> Path:
        return self.change.place.path

    def prepare(self) -> None:
        """Write the new content beside the file, safe on disk."""
        change = self.change
        if change.after is None or self.in_place:
            return
        if change.before is None:
            self.made = self.folders.make(self.path.parent)
        if self.attributes is not None and not isinstance(change.like, Attributes):
            self._write_temporary(change.after, self.attributes)
        else:
            are_attributes = isinstance(change.like, Attributes)
            self._write_temporary(change.after, _attributes_of(change.like), strict=not are_attributes)

    def missing_folders(self) -> list[Path]:
        """Folders that will have to be made, outermost first."""
        if self.change.before is not None or self.change.after is None:
            return []
        parents = (self.path.parent, *self.path.parent.parents)
        return [folder for folder in parents if not os.path.lexists(folder)][::-1]

    def apply(self) -> None:
        """Put the new content in place."""
        after = self.change.after
        if self.handover is not None and after is not None and self._handed_over(self.handover):
            self._drop_temporary()
        elif after is None:
            self._folder().remove(self.path.name)
        elif self.in_place:
            self._overwrite(after)
        elif self.change.before is None:
            self._place_new()
        else:
            self._folder().replace(self.temporary.name, self.path.name)

    def _handed_over(self, handover: Handover) -> bool:
        """Have the other program write it, and look at the disk. False if that is as before, and ours to write."""
        taken = handover.text is not None and handover.write(self.path, handover.text)
        try:
            present = body_in(self._folder(), self.path.name)
        except FileNotFoundError:
            present = None
        if present != handover.disk:
            return True
        if not taken and handover.disk != self.change.before:
            raise ToolError(
                f"{self.path} has changes in the editor that are not saved, and the editor takes no others. Nothing "
                "was changed. Ask the user to save the file, then read it again."
            )
        return False

    def go_in_place(self, error: OSError) -> bool:
        """Tell whether the change that failed so can be written in place instead; if so it will be."""
        replaces = isinstance(self.change.before, bytes) and isinstance(self.change.after, bytes)
        if self.in_place or not replaces or error.errno not in _NOT_REPLACEABLE:
            return False
        self._drop_temporary()
        self.in_place = True
        return True

    def revert(self) -> None:
        """Undo what `apply` did."""
        before = self.change.before
        if before is None:
            with suppress(FileNotFoundError):
                self._folder().remove(self.path.name)
        elif self.in_place:
            assert isinstance(before, bytes)
            write_in_place(self._folder(), self.path.name, before, self.inode)
        else:
            self._write_temporary(before, self.attributes, strict=False)
            self._folder().replace(self.temporary.name, self.path.name)

    def discard(self) -> None:
        """Remove what `prepare` left behind, when the change does not come about."""
        with suppress(OSError):
            self._drop_temporary()
        self.folders.remove_empty(reversed(self.made))

    def finish(self) -> None:
        """Remove the folders that the change has emptied."""
        self.folders.remove_empty(self.change.emptied)

    def _folder(self) -> HeldFolder:
        return self.folders.hold(self.path.parent)

    def _require_nothing(self) -> None:
        try:
            there = self._folder().has(self.path.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        if there:
            raise ToolError(f"{self.path} has appeared since the call began. Read it before changing it.", "stale")

    def _require_link(self, link: Link) -> None:
        try:
            if self._folder().target(self.path.name) == link.target:
                return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):
                raise
        raise ToolError(f"The link {self.path} has changed since the call began. Look at it again.", "stale")

    def _require_content(self, before: bytes) -> None:
        with open_in(self._folder().handle, self.change.place) as file:
            if read_whole(self.change.place, file) != before:
                raise ToolError(
                    f"{self.path} has changed since the call began. Read it again before changing it.", "stale"
                )
            status = os.fstat(file.fileno())
            self.attributes, self.inode = Attributes.of(file.fileno()), status.st_ino
            self.in_place = isinstance(self.change.after, bytes) and status.st_nlink > 1
            self.in_place = self.in_place and not self.change.apart

    def _overwrite(self, after: Body) -> None:
        before = self.change.before
        assert isinstance(before, bytes)
        assert isinstance(after, bytes)
        folder, name = self._folder(), self.path.name
        try:
            write_in_place(folder, name, after, self.inode)
        except OSError:
            with suppress(OSError):
                write_in_place(folder, name, before, self.inode)
            raise

    def _place_new(self) -> None:
        """A hard link, unlike a rename, fails if a file has appeared there in the meantime."""
        folder, temporary, name = self._folder(), self.temporary.name, self.path.name
        try:
            folder.give_name(temporary, name)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            folder.replace(temporary, name)
            return
        folder.remove(temporary)

    def _write_temporary(self, body: Body, attributes: Attributes | None, *, strict: bool = True) -> None:
        write_new(self._folder(), self.temporary.name, body, attributes, strict=strict)

    def _drop_temporary(self) -> None:
        with suppress(FileNotFoundError):
            self._folder().remove(self.temporary.name)


def write_new(folder: HeldFolder, name: str, body: Body, attributes: Attributes | None, *, strict: bool) -> None:
    """Make a file or link, safe on disk. Its attributes are on it before the first byte."""
    if isinstance(body, Link):
        folder.make_link(body.target, name)
        return
    handle = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if attributes is None else 0o600)
    try:
        mode = 0 if attributes is None else attributes.give(handle, strict=strict)
        _write_all(handle, body or b"")
        if mode & ~0o777:
            os.fchmod(handle, mode)
        os.fsync(handle)
    finally:
        os.close(handle)


def write_in_place(folder: HeldFolder, name: str, data: bytes, inode: int = 0) -> None:
    """Overwrite a file from its start and cut it only at the end, so that a crash leaves something recognisable."""
    handle = folder.open(name, os.O_WRONLY)
    try:
        if inode and os.fstat(handle).st_ino != inode:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        _write_all(handle, data)
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _attributes_of(like: Place | Attributes | None) -> Attributes | None:
    if not isinstance(like, Place):
        return like
    with open_file(like) as file:
        return Attributes.of(file.fileno())

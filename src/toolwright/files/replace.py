"""One file's change, prepared beside it and put in place in one step, or taken back."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from toolwright.files.paths import Place
from toolwright.record import record

TEMPORARY = ".toolwright-"
"""How the names of our temporary files begin."""

_NOT_REPLACEABLE = (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS)


@record(frozen=True, slots=True, kw_only=True)
class Change:
    """What a file is to become. `before` is what it must still be: None for no file. `after` None deletes it."""

    place: Place
    before: bytes | None
    after: bytes | None
    like: Place | None = None
    """For a new file: one that exists and whose mode it takes over, as the target of a move does."""


@record(slots=True, kw_only=True)
class Replacement:
    """A change on its way to disk.

    An existing file is replaced by a twin of the same mode, owner and attributes. Where no such twin can be put
    in its place (the file has other names by hard links, belongs to someone else, is a mount of its own, lies in
    a folder we may not write to), it is written in place instead, which keeps all of these.
    """

    change: Change
    temporary: Path
    mode: int | None = None
    """Permission bits of the file before."""
    in_place: bool = False
    made: list[Path] = field(default_factory=list)
    """Folders created for it, outermost first."""

    @classmethod
    def of(cls, change: Change) -> "Replacement":
        path = change.place.path
        temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}")
        if change.before is None:
            return cls(change=change, temporary=temporary)
        status = path.stat()
        linked = change.after is not None and status.st_nlink > 1
        return cls(change=change, temporary=temporary, mode=stat.S_IMODE(status.st_mode), in_place=linked)

    @property
    def path(self) -> Path:
        return self.change.place.path

    def prepare(self) -> None:
        """Write the new content beside the file, safe on disk."""
        if self.change.after is None or self.in_place:
            return
        if self.change.before is None:
            self._make_folders()
        self._write_temporary(
            self.change.after, self.change.place if self.change.before is not None else self.change.like
        )

    def apply(self) -> None:
        """Put the new content in place."""
        path, after = self.path, self.change.after
        if after is None:
            path.unlink()
        elif self.in_place:
            self._overwrite(after)
        elif self.change.before is None:
            self._place_new()
        else:
            self.temporary.replace(path)

    def go_in_place(self, error: OSError) -> bool:
        """Whether the change that failed so can be written in place instead; if so it will be."""
        replaces = self.change.before is not None and self.change.after is not None
        if self.in_place or not replaces or error.errno not in _NOT_REPLACEABLE:
            return False
        self._drop_temporary()
        self.in_place = True
        return True

    def revert(self) -> None:
        """Take back what `apply` did."""
        path, before = self.path, self.change.before
        if before is None:
            path.unlink(missing_ok=True)
        elif self.in_place:
            write_in_place(path, before)
        else:
            like = self.change.place if self.change.after is not None else None
            self._write_temporary(before, like)
            if self.mode is not None:
                self.temporary.chmod(self.mode)
            self.temporary.replace(path)

    def discard(self) -> None:
        """Remove what `prepare` left behind, when the change does not come about."""
        self._drop_temporary()
        for folder in reversed(self.made):
            with suppress(OSError):
                folder.rmdir()

    def _overwrite(self, after: bytes) -> None:
        path, before = self.path, self.change.before or b""
        try:
            write_in_place(path, after)
        except OSError:
            with suppress(OSError):
                write_in_place(path, before)
            raise

    def _place_new(self) -> None:
        """A hard link, unlike a rename, fails if a file has appeared there in the meantime."""
        path = self.path
        try:
            os.link(self.temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self.temporary.replace(path)
            return
        self.temporary.unlink()

    def _make_folders(self) -> None:
        for folder in _missing_folders(self.path.parent):
            folder.mkdir(exist_ok=True)
            self.made.append(folder)

    def _write_temporary(self, data: bytes, like: Place | None) -> None:
        handle = os.open(self.temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(handle, "wb", buffering=0) as file:
            if like is not None:
                _make_twin(handle, like.path)
            _write_all(handle, data)
            os.fsync(file.fileno())

    def _drop_temporary(self) -> None:
        self.temporary.unlink(missing_ok=True)


def write_in_place(path: Path, data: bytes) -> None:
    """Overwrite a file from its start and cut it only at the end, so that a crash leaves something recognisable."""
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _write_all(handle, data)
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make a rename durable. Some file systems cannot; they are no worse off than before."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _make_twin(handle: int, path: Path) -> None:
    """Give an open file the owner, attributes and mode of another; PermissionError if that cannot be done."""
    wanted, given = path.stat(), os.fstat(handle)
    if (wanted.st_uid, wanted.st_gid) != (given.st_uid, given.st_gid):
        os.fchown(handle, wanted.st_uid, wanted.st_gid)
    _copy_attributes(path, handle)
    os.fchmod(handle, stat.S_IMODE(wanted.st_mode))


def _copy_attributes(path: Path, handle: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(path)
    except OSError:
        return
    for name in names:
        value = os.getxattr(path, name)
        try:
            os.setxattr(handle, name, value)
        except OSError as error:
            raise PermissionError(errno.EPERM, f"The attribute {name} cannot be copied") from error


def _missing_folders(folder: Path) -> Iterator[Path]:
    missing = [parent for parent in (folder, *folder.parents) if not os.path.lexists(parent)]
    return reversed(missing)

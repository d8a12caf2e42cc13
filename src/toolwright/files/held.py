"""Folders held open: reached without following a link, so that the path that was judged is the path that is used."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from toolwright.files.disk import FOLDER, descend

_LISTABLE = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST = 32


def hold(path: Path) -> "HeldFolder":
    """Hold a folder by its canonical path, or raise OSError; ELOOP if a link has been put in its way.

    One name after the other, each from the folder before: nobody can exchange a part of the path in between.
    """
    root, *names = path.parts
    return HeldFolder(descend(os.open(root, FOLDER), names))


class HeldFolder:
    """A folder by its descriptor. What is done to a name in it is done there, whatever becomes of the path."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __enter__(self) -> "HeldFolder":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.handle)

    def enter(self, names: Iterable[str]) -> "HeldFolder":
        """The folder some names further down; this one stays held."""
        return HeldFolder(os.dup(self.handle)).leave_for(names)

    def leave_for(self, names: Iterable[str]) -> "HeldFolder":
        """The folder some names further down; this one is let go."""
        return HeldFolder(descend(self.handle, names))

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """A descriptor of a file in the folder. A link is not followed, a pipe not waited for."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode, dir_fd=self.handle)

    def status(self, name: str) -> os.stat_result:
        """Of the entry itself, link or not."""
        return os.stat(name, dir_fd=self.handle, follow_symlinks=False)

    def has(self, name: str) -> bool:
        try:
            self.status(name)
        except FileNotFoundError:
            return False
        return True

    def target(self, name: str) -> str:
        """Return the target of a link, as it is written."""
        return os.readlink(name, dir_fd=self.handle)

    def make_link(self, target: str, name: str) -> None:
        os.symlink(target, name, dir_fd=self.handle)

    def make_folder(self, name: str) -> None:
        os.mkdir(name, dir_fd=self.handle)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self.handle)

    def remove_folder(self, name: str) -> None:
        """An empty one."""
        os.rmdir(name, dir_fd=self.handle)

    def replace(self, name: str, other: str) -> None:
        os.replace(name, other, src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def give_name(self, name: str, other: str) -> None:
        """A second name for a file; unlike a rename, this fails if something has that name already."""
        os.link(name, other, src_dir_fd=self.handle, dst_dir_fd=self.handle, follow_symlinks=False)

    def listable(self, name: str) -> "HeldFolder":
        """A folder in this one, held so that it can be listed."""
        return HeldFolder(os.open(name, _LISTABLE, dir_fd=self.handle))

    @contextmanager
    def entries(self) -> Iterator[list[os.DirEntry[str]]]:
        """Yield the entries of the folder, in no order; they can be asked while the block runs."""
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.handle)
        try:
            with os.scandir(handle) as scanned:
                yield list(scanned)
        finally:
            os.close(handle)

    def names(self, most: int) -> list[str]:
        """Of that many entries, in no order."""
        with self.entries() as entries:
            return [entry.name for entry in entries[:most]]


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a folder or leads to one. A link that leads in a circle, or through a file, is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_file(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a regular file or leads to one."""
    try:
        return entry.is_file()
    except OSError:
        return False


class HeldFolders:
    """The folders used last, held for the next use; not so many that a large change runs out of descriptors."""

    def __init__(self) -> None:
        self._held: dict[Path, HeldFolder] = {}

    def __enter__(self) -> "HeldFolders":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._held:
            self._held.popitem()[1].close()

    def hold(self, path: Path) -> HeldFolder:
        held = self._held.pop(path, None) or hold(path)
        self._held[path] = held
        if len(self._held) > _MOST:
            self._held.pop(next(iter(self._held))).close()
        return held

    def make(self, path: Path) -> list[Path]:
        """Make a folder and those above it that are missing; those that were made, outermost first."""
        missing: list[Path] = []
        while True:
            try:
                held = hold(path)
                break
            except FileNotFoundError:
                missing.append(path)
                path = path.parent
        new_folders = missing[::-1]
        for folder in new_folders:
            with suppress(FileExistsError):
                held.make_folder(folder.name)
            held = held.leave_for([folder.name])
        held.close()
        return new_folders

    def remove_empty(self, folders: Iterable[Path]) -> None:
        """Remove folders, innermost first, as far as they are empty."""
        for folder in folders:
            held = self._held.pop(folder, None)
            if held is not None:
                held.close()
            with suppress(OSError):
                self.hold(folder.parent).remove_folder(folder.name)

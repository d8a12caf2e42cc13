"""Placeholders that boxes need; removed afterwards if still unused."""

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from toolwright.process.paths.git_folders import ITSELF, Placeholder
from toolwright.process.paths.safe_stat import hold_folder, is_folder


class Holdings:
    """Placeholders held by a shared lock: of several programs that need one, the last one to leave takes it away."""

    def __init__(self) -> None:
        self._held = dict[Path, tuple[int, Placeholder]]()
        self._mine = set[Path]()
        self._folders = set[Path]()

    def hold(self, wanted: Placeholder) -> None:
        """Have it there; OSError where that cannot be."""
        if wanted.path in self._held:
            if os.path.lexists(wanted.path):
                return
            # Somebody has taken it away, as anybody may.
            os.close(self._held.pop(wanted.path)[0])
        self._make_folders(wanted.path.parent)
        # By its descriptor: a job may put a link in the place of the folder, to have something made elsewhere.
        folder = hold_folder(wanted.path.parent)
        try:
            is_new = _make(wanted, folder)
            descriptor = os.open(wanted.path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
        if is_new or _is_locked(descriptor):
            self._mine.add(wanted.path)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self._held[wanted.path] = (descriptor, wanted)

    def release(self) -> None:
        """Let go of all, and take away what nobody else holds and nobody has changed; files before their folders."""
        self._release(wanted for _, wanted in self._held.values() if wanted.content is not None)
        for folder in sorted(self._folders | set(self._held), key=lambda place: -len(place.parts)):
            if folder in self._held:
                self._release([self._held[folder][1]])
            if folder in self._folders:
                with suppress(OSError):
                    folder.rmdir()
        self._folders.clear()
        self._mine.clear()

    def _release(self, some: Iterable[Placeholder]) -> None:
        for wanted in list(some):
            descriptor, _ = self._held.pop(wanted.path)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if wanted.path in self._mine or wanted.content == ITSELF:
                    _take_away(wanted, descriptor)
            os.close(descriptor)

    def _make_folders(self, folder: Path) -> None:
        if is_folder(folder):
            return
        missing = {place for place in (folder, *folder.parents) if not place.exists()}
        folder.mkdir(parents=True, exist_ok=True)
        self._folders |= missing


def _make(wanted: Placeholder, folder: int) -> bool:
    """Make it; return whether it was not there before."""
    try:
        if wanted.content is None:
            os.mkdir(wanted.path.name, dir_fd=folder)
        else:
            new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(wanted.path.name, new, 0o666, dir_fd=folder), "wb") as file:
                file.write(wanted.content)
    except FileExistsError:
        return False
    return True


def _is_locked(descriptor: int) -> bool:
    """Tell whether another program of ours has made it, which then holds it: whoever leaves last takes it away."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _take_away(wanted: Placeholder, descriptor: int) -> None:
    folder = hold_folder(wanted.path.parent)
    try:
        if wanted.content is None:
            os.rmdir(wanted.path.name, dir_fd=folder)
        elif os.pread(descriptor, len(wanted.content) + 1, 0) == wanted.content:
            os.unlink(wanted.path.name, dir_fd=folder)
    finally:
        os.close(folder)

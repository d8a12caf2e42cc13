"""A copy of a project to check in: the work as it is, and what judges it as it was."""

import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from toolwright.proof.baseline import Before
from toolwright.proof.tree import MADE_BY_PROGRAMS

DEPENDENCIES = ("node_modules", ".venv", "venv")
"""Folders that are too large to copy, and only read; a link leads there."""
MOST_IGNORED = 256 * 1024 * 1024
"""Bytes of files that are ignored, such as what was built before, that go along."""
MOST_HISTORY = 64 * 1024 * 1024
"""The same for a repository."""
_CHUNK = 1024 * 1024


def make_copy(root: Path, copy: Path, files: Mapping[str, str], baseline: Before, restored: Collection[str]) -> bool:
    """Copy a project, with some of its files as they were before the work; False if one of those was not kept."""
    copy.mkdir(parents=True)
    back, folders = set(restored), set[str]()
    for path in files:
        if path not in back:
            _place(f"{root}/{path}", f"{copy}/{path}", folders)
    for path in back:
        if path in baseline.files and not _restore(path, copy, baseline):
            return False
    room = MOST_IGNORED
    for path, size in _left_alone(root, files, baseline.since):
        room -= size
        if room < 0:
            break
        _place(f"{root}/{path}", f"{copy}/{path}", folders)
    for name in DEPENDENCIES:
        if (root / name).is_dir() and not (copy / name).exists():
            (copy / name).symlink_to((root / name).resolve())
    history = root / ".git"
    if history.is_dir() and sum(one.stat().st_size for one in history.rglob("*") if one.is_file()) <= MOST_HISTORY:
        shutil.copytree(history, copy / ".git", symlinks=True, ignore=shutil.ignore_patterns("hooks", "*.lock"))
    return True


def changed_dependencies(root: Path, since: int) -> list[str]:
    """Return files that no tree has and that changed since, where a check would find them: the dependencies."""
    changed = list[str]()
    for name in DEPENDENCIES:
        for folder, folders, names in os.walk(root / name):
            folders[:] = [one for one in folders if one not in ("__pycache__", ".cache", ".vite", ".bin-cache")]
            for file_name in names:
                path = os.path.join(folder, file_name)  # noqa: PTH118 - ten thousands of files
                try:
                    if os.lstat(path).st_ctime_ns > since and not file_name.endswith((".pyc", ".lock", ".log")):
                        changed.append(os.path.relpath(path, root))
                except OSError:
                    continue
                if len(changed) >= 20:
                    return changed
    return changed


def new_ignored(root: Path, files: Mapping[str, str], since: int) -> Iterator[str]:
    """Yield what changed since and that an ignore file keeps out of the tree."""
    for path, changed, _ in _ignored(root, files):
        if changed > since:
            yield path


def _left_alone(root: Path, files: Mapping[str, str], since: int) -> Iterator[tuple[str, int]]:
    """Yield what is ignored and has not changed since: settings of the user's, what was built before."""
    for path, changed, size in _ignored(root, files):
        if changed <= since:
            yield path, size


def _ignored(root: Path, files: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    above = len(str(root).rstrip("/")) + 1
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in folders if one not in MADE_BY_PROGRAMS]
        for name in names:
            path = f"{folder}/{name}"[above:]
            if path in files or name in MADE_BY_PROGRAMS:
                continue
            try:
                status = (root / path).lstat()
            except OSError:
                continue
            yield path, status.st_ctime_ns, status.st_size


def _place(source: str, target: str, folders: set[str]) -> None:
    """Copy a file or link with its times, by which programs such as make go; `folders` are those that are there."""
    folder = target.rpartition("/")[0]
    if folder not in folders:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - thousands of files
        folders.add(folder)
    with suppress(OSError):
        if os.path.islink(source):  # noqa: PTH114
            os.symlink(os.readlink(source), target)  # noqa: PTH115, PTH211
            return
        there = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            _write(there, target)
        finally:
            os.close(there)


def _write(there: int, target: str) -> None:
    status = os.fstat(there)
    if not stat.S_ISREG(status.st_mode):
        return
    copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(status.st_mode))
    try:
        while data := os.read(there, _CHUNK):
            os.write(copy, data)
        os.fchmod(copy, stat.S_IMODE(status.st_mode))
        os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(copy)


def _restore(path: str, copy: Path, baseline: Before) -> bool:
    target, digest = copy / path, baseline.files[path]
    target.parent.mkdir(parents=True, exist_ok=True)
    if digest.startswith("link:"):
        target.symlink_to(digest.removeprefix("link:"))
        return True
    data = baseline.data(path)
    if data is None:
        return False
    target.write_bytes(data)
    if digest.startswith("x"):
        target.chmod(0o755)
    return True

"""The files of a project as one hash: what was checked, and whether it is still the same."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from toolwright.files.ignore import Ignore
from toolwright.record import record

MADE_BY_PROGRAMS = frozenset(
    (
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".eggs"),
        *("node_modules", ".venv", "venv", ".nyc_output", ".gradle", ".git", ".hg", ".svn", ".coverage", "htmlcov"),
    )
)
"""Names that programs make beside the work: no part of the tree."""
_CHUNK = 1024 * 1024

Stamp = tuple[int, int, int, int, int]


@record(slots=True)
class TreeScanner:
    """Looks at a folder again and again, and reads only what may have changed since."""

    root: Path
    _known: dict[str, tuple[Stamp, str]] = field(default_factory=dict[str, tuple[Stamp, str]])

    def look(self) -> dict[str, str]:
        """Return every file that is not ignored, by its path from the root, with the hash of what it holds."""
        hashes = dict[str, str]()
        for path, status in project_files(self.root):
            name = os.path.relpath(path, self.root)
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
            known = self._known.get(name)
            if known is None or known[0] != stamp:
                known = (stamp, _digest(path, status))
                self._known[name] = known
            hashes[name] = known[1]
        return hashes


def tree_hash(files: Mapping[str, str]) -> str:
    """Return one hash for all files."""
    listed = "".join(f"{name}\0{digest}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()


def project_files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every file and link below a folder that no ignore file hides, with what the system says of it."""
    waiting = [(str(root), Ignore.above(root))]
    while waiting:
        folder, above = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        ignore = above.enter(folder, (one.name for one in entries))
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in MADE_BY_PROGRAMS or ignore.hides(entry.path, folder=is_folder):
                continue
            if is_folder:
                waiting.append((entry.path, ignore))
                continue
            try:
                yield entry.path, entry.stat(follow_symlinks=False)
            except OSError:
                continue


def _open(path: str, flags: int) -> int:
    """Open what was a plain file, without waiting for what may be there by now."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _digest(path: str, status: os.stat_result) -> str:
    """The hash of a file; whether it may be run is part of what it is."""
    try:
        if stat.S_ISLNK(status.st_mode):
            return f"link:{os.readlink(path)}"  # noqa: PTH115 - a name, not a path
        if not stat.S_ISREG(status.st_mode):
            return "special"
        read = hashlib.sha256()
        with open(path, "rb", buffering=0, opener=_open) as file:
            while chunk := file.read(_CHUNK):
                read.update(chunk)
    except OSError:
        return "unreadable"
    return f"x{read.hexdigest()}" if status.st_mode & 0o100 else read.hexdigest()

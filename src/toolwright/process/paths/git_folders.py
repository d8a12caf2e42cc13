"""The git folders of a project: where they are, and what in them is code to git and therefore not for commands."""

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from toolwright.process.paths.safe_stat import is_folder, is_real_folder, is_there, read_itself
from toolwright.record import record
from toolwright.text.wildcard import matches

WRITTEN = (
    *("objects", "refs", "logs", "reftable", "lfs", "rr-cache", "sequencer", "modules", "worktrees"),
    *("index", "index.*", "sharedindex.*", "HEAD", "*_HEAD", "packed-refs", "shallow", "*.lock"),
    *("MERGE_*", "BISECT_*", "NOTES_*", "*_EDITMSG", "*_MSG", "rebase-*", "AUTO_MERGE", "gc.*", "description"),
)
"""Files that git writes when it works. All else in a git folder is settings or code, and read-only."""
OF_WORK_TREES = ("commondir", "gitdir", "config.worktree")
"""Files that lead git from a linked work tree to its settings."""
ITSELF = b".\n"
"""A `commondir` of this kind says what is so without one."""
LONGEST = 1024 * 1024
"""Bytes of settings of git that are looked at."""


@record(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """Something harmless in a place that git would take code from, were anything there."""

    path: Path
    content: bytes | None = None
    """None for an empty folder."""

    def fits(self) -> bool:
        """Tell whether nothing is there, or just what we would put there, perhaps by another program of ours."""
        try:
            if self.content is None:
                return not os.listdir(self.path)  # noqa: PTH208 - at every command
            return read_itself(self.path, len(self.content) + 1) == self.content
        except OSError:
            return not os.path.lexists(self.path)


@record(frozen=True, slots=True, kw_only=True)
class GitCode:
    """Files of git folders that commands may not write."""

    there: tuple[Path, ...]
    missing: tuple[Placeholder, ...]


def git_code(folders: Iterable[Path]) -> GitCode:
    """Return the code in these git folders, and in those of submodules, whether it is there or not."""
    there, missing = dict[Path, None](), dict[Path, Placeholder]()
    for folder in dict.fromkeys(folders):
        for place in (folder, *modules(folder)) if is_real_folder(folder) else ():
            there |= dict.fromkeys(_settled(place))
            missing |= {one.path: one for one in _placeholders(place) if one.fits()}
    return GitCode(there=tuple(there), missing=tuple(missing.values()))


def _settled(folder: Path) -> Iterator[Path]:
    yield from _code_in(folder, tuple(_names(folder)))
    for tree in _folders(folder / "worktrees"):
        yield from (part for name in OF_WORK_TREES if is_there(part := tree / name))


@lru_cache(maxsize=256)
def _code_in(folder: Path, names: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(folder / name for name in names if not _is_written(name))


@lru_cache(maxsize=4096)
def _is_written(name: str) -> bool:
    return any(matches(name, pattern) for pattern in WRITTEN)


@lru_cache(maxsize=256)
def _placeholders(folder: Path) -> tuple[Placeholder, ...]:
    return (
        Placeholder(path=folder / "hooks"),
        Placeholder(path=folder / "config.worktree", content=b""),
        Placeholder(path=folder / "commondir", content=ITSELF),
    )


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []


def _folders(folder: Path) -> list[Path]:
    """The folders in a folder. Links are none: what they lead to is not git's, and must not be opened with it."""
    if not is_real_folder(folder):
        return []
    return [place for name in _names(folder) if is_real_folder(place := folder / name)]


def git_folder(root: Path) -> Path | None:
    """Return the folder where git keeps what belongs to the work tree at `root`."""
    entry = root / ".git"
    if is_folder(entry):
        return entry.resolve()
    try:
        kind, _, named = read_itself(entry, LONGEST).decode().partition(":")
    except (OSError, UnicodeDecodeError):
        return None
    folder = (root / named.strip()).resolve()
    return folder if kind == "gitdir" and is_folder(folder) and _belongs(folder, root) else None


def _belongs(folder: Path, root: Path) -> bool:
    """Tell whether a git folder elsewhere names this work tree as its own.

    The `.git` file alone proves nothing: a command could write one, to have any folder opened to the next command.
    """
    back = _first_line(folder / "gitdir")
    if back:
        return (folder / back).resolve() == (root / ".git").resolve() and folder.parent.name == "worktrees"
    lines = _lines(folder / "config")
    named = [line.partition("=")[2].strip() for line in lines if line.strip().startswith("worktree")]
    return any((folder / name).resolve() == root.resolve() for name in named)


def common_folder(folder: Path, root: Path) -> Path:
    """The folder that linked work trees share; of any other the folder itself.

    What lies in the project may be of a command's making, and leads nowhere else.
    """
    common = _first_line(folder / "commondir")
    if not common or folder.parent.name != "worktrees" or folder.is_relative_to(root):
        return folder
    shared = (folder / common).resolve()
    return shared if folder.parent.parent == shared and is_there(shared / "HEAD") else folder


def modules(folder: Path) -> list[Path]:
    """A submodule's folder is named by its path, which is mostly one or two parts long."""
    first = _folders(folder / "modules")
    second = (place for one in first for place in _folders(one))
    return [place for place in (*first, *second) if is_there(place / "HEAD")]


def _first_line(path: Path) -> str:
    return next(iter(_lines(path)), "").strip()


def _lines(path: Path) -> list[str]:
    try:
        return read_itself(path, LONGEST).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def git_folders(root: Path) -> list[Path]:
    folder = git_folder(root)
    return [] if folder is None else list(dict.fromkeys([folder, common_folder(folder, root)]))


def trees(folder: Path) -> Iterator[Path]:
    """The folders of linked work trees and submodules, which hold something protected."""
    trees = folder / "worktrees"
    if is_real_folder(trees):
        yield trees
        yield from _folders(trees)
    for module in modules(folder):
        yield from (place for place in (module, *module.parents) if place != folder and place.is_relative_to(folder))

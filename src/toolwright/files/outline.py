"""The outline of a folder: its files as a tree, those near the top first when there are too many."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path

from toolwright.files.globs import Glob
from toolwright.files.ignore import Ignore
from toolwright.record import record

LIMIT = 100
"""How many files an outline names."""
COUNTED = 2000
"""How many files are counted; after that it is enough to know that there are more."""
PASSED_OVER = frozenset(
    {
        *("node_modules", "__pycache__", ".git", "dist", "build", "target", "vendor", "bin", "obj", ".idea", ".vscode"),
        *(".zig-cache", "zig-out", ".coverage", "coverage", "tmp", "temp", ".cache", "cache", "logs"),
        *(".venv", "venv", "env"),
    }
)
"""What is not worth listing at the top of a folder: things that were made, fetched or left over."""


@record(slots=True)
class Branch:
    """A folder of an outline."""

    folders: "dict[str, Branch]" = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def lines(self, depth: int = 1) -> Iterator[str]:
        """Folders before files, each by name, two spaces for each level."""
        indent = "  " * depth
        for name, branch in sorted(self.folders.items()):
            yield f"{indent}{name}/"
            yield from branch.lines(depth + 1)
        yield from (f"{indent}{name}" for name in sorted(self.files))


@record(frozen=True, slots=True, kw_only=True)
class Outline:
    """The files of a folder, as many as were wanted."""

    tree: Branch
    count: int
    total: int
    exact: bool
    """Whether `total` is all there is; otherwise there is at least as much."""


def outline(root: Path, leave_out: Sequence[Glob], inside: Callable[[Path], bool]) -> Outline:
    """Level by level, so that what is cut off lies deep. Links are followed where `inside` says so of their target."""
    tree = Branch()
    total = 0
    for path in _files(root, leave_out, inside):
        total += 1
        if total <= LIMIT:
            _plant(tree, path)
        if total > COUNTED:
            break
    return Outline(tree=tree, count=min(total, LIMIT), total=min(total, COUNTED), exact=total <= COUNTED)


@record(frozen=True, slots=True, kw_only=True)
class _Folder:
    path: str
    relative: str
    ignore: Ignore
    real: tuple[str, ...]
    """Where the folder and those around it really are: a link back to one of them would go in circles."""


def _files(root: Path, leave_out: Sequence[Glob], inside: Callable[[Path], bool]) -> Iterator[str]:
    top = str(root).rstrip("/")
    folders = deque([_Folder(path=top, relative="", ignore=Ignore.above(root), real=(top,))])
    while folders:
        folder = folders.popleft()
        entries = _entries(folder)
        ignore = folder.ignore.enter(folder.path, (entry.name for entry in entries))
        found: list[_Folder] = []
        for entry in entries:
            relative = folder.relative + entry.name
            real = entry.path if not entry.is_symlink() else _target(entry, inside)
            if real is None or real in folder.real:
                continue
            is_folder = entry.is_dir()
            if _unwanted(relative, leave_out, folder=is_folder) or ignore.hides(entry.path, folder=is_folder):
                continue
            if is_folder:
                inner = _Folder(path=entry.path, relative=f"{relative}/", ignore=ignore, real=(*folder.real, real))
                found.append(inner)
            elif entry.is_file():
                yield relative
        _put(folders, found)


def _put(folders: "deque[_Folder]", found: list[_Folder]) -> None:
    """With more folders waiting than files are wanted, breadth helps no further and would only take time."""
    if len(folders) > LIMIT:
        folders.extendleft(reversed(found))
    else:
        folders.extend(found)


def _entries(folder: _Folder) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder.path or "/"), key=lambda entry: entry.name)
    except OSError:
        return []


def _target(link: os.DirEntry[str], inside: Callable[[Path], bool]) -> str | None:
    target = os.path.realpath(link.path)
    return target if inside(Path(target)) else None


def _unwanted(relative: str, leave_out: Sequence[Glob], *, folder: bool) -> bool:
    if relative in PASSED_OVER or relative.endswith("/.git"):
        return True
    return any(glob.fits(relative, folder=folder) for glob in leave_out)


def _plant(tree: Branch, path: str) -> None:
    *folders, name = path.split("/")
    for folder in folders:
        tree = tree.folders.setdefault(folder, Branch())
    tree.files.append(name)

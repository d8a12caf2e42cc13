"""The outline of a folder: its files as a tree, those near the top first when there are too many."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from toolwright.files.globs import Glob
from toolwright.files.held import HeldFolder, hold, is_file, is_folder
from toolwright.files.ignore import Ignore
from toolwright.files.paths import resolve
from toolwright.record import record

LIMIT = 100
"""An outline names at most this many files."""
COUNTED = 2000
"""At most this many files are counted; after that it is enough to know that there are more."""
PASSED_OVER = frozenset(
    {
        *("node_modules", "__pycache__", ".git", "dist", "build", "target", "vendor", "bin", "obj", ".idea", ".vscode"),
        *(".zig-cache", "zig-out", ".coverage", "coverage", "tmp", "temp", ".cache", "cache", "logs"),
        *(".venv", "venv", "env"),
    }
)
"""Names not worth listing at the top of a folder: things that were made, fetched or left over."""


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
    """True if `total` is all there is; otherwise there is at least as much."""


def outline(
    root: Path,
    leave_out: Sequence[Glob],
    inside: Callable[[Path], bool],
    shown: Callable[[str], bool] = lambda _: True,
) -> Outline:
    """Level by level, so that what is cut off lies deep. Links are followed where `inside` says so of their target.

    `shown` is asked by its absolute path about each file that would be named.
    """
    tree = Branch()
    total = 0
    for path, real in _files(root, leave_out, inside):
        if total < LIMIT and not shown(real):
            continue
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
    """The real paths of the folder and those around it: a link back to one of them would go in circles."""


def _files(root: Path, leave_out: Sequence[Glob], inside: Callable[[Path], bool]) -> Iterator[tuple[str, str]]:
    """Each file by its path from the root, and by where that name really is."""
    top = str(root).rstrip("/")
    folders = deque([_Folder(path=top, relative="", ignore=Ignore.above(root), real=(top,))])
    try:
        held = hold(root)
    except OSError:
        return
    with held, _Reader(held, f"{top}/") as reader:
        yield from _files_of(folders, reader, leave_out, inside)


def _files_of(
    folders: "deque[_Folder]", reader: "_Reader", leave_out: Sequence[Glob], inside: Callable[[Path], bool]
) -> Iterator[tuple[str, str]]:
    while folders:
        folder = folders.popleft()
        inner_folders: list[_Folder] = []
        with suppress(OSError), reader.opened(folder.real[-1]) as held, os.scandir(held.handle) as listed:
            entries = list(listed)
            ignore = folder.ignore.enter(folder.path, (entry.name for entry in entries))
            for entry in sorted(entries, key=_name):
                relative, path = folder.relative + entry.name, f"{folder.path}/{entry.name}"
                real = f"{folder.real[-1]}/{entry.name}" if not entry.is_symlink() else _target(path, inside)
                if real is None or real in folder.real:
                    continue
                folder_like = is_folder(entry)
                if _unwanted(relative, leave_out, folder=folder_like) or ignore.hides(path, folder=folder_like):
                    continue
                if folder_like:
                    inner = _Folder(path=path, relative=f"{relative}/", ignore=ignore, real=(*folder.real, real))
                    inner_folders.append(inner)
                elif is_file(entry):
                    yield relative, f"{folder.real[-1]}/{entry.name}"
        _put(folders, inner_folders)


def _put(folders: "deque[_Folder]", inner_folders: list[_Folder]) -> None:
    """With more folders waiting than files are wanted, breadth helps no further and would only take time."""
    if len(folders) > LIMIT:
        folders.extendleft(reversed(inner_folders))
    else:
        folders.extend(inner_folders)


class _Reader:
    """Opens folders by where they really are, so that a link put there since is not followed.

    The one above the last is held: its neighbours come next.
    """

    def __init__(self, top: HeldFolder, root: str) -> None:
        self._top, self._root = top, root
        self._above, self._held = "", top

    def __enter__(self) -> "_Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def opened(self, real: str) -> HeldFolder:
        if f"{real}/" == self._root:
            return self._top.listable(".")
        above, _, name = real.rpartition("/")
        if above != self._above:
            self.close()
            inside = f"{above}/".startswith(self._root)
            names = [one for one in above[len(self._root) :].split("/") if one]
            self._above, self._held = above, self._top.enter(names) if inside else hold(Path(above or "/"))
        return self._held.listable(name)

    def close(self) -> None:
        if self._held is not self._top:
            self._held.close()
        self._above, self._held = "", self._top


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _target(link: str, inside: Callable[[Path], bool]) -> str | None:
    target = resolve("/", link)
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

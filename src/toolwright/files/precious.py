"""Files in the order in which they are worth keeping before a command: first what nobody else has."""

import os
from collections.abc import Collection, Iterable, Iterator
from enum import IntEnum
from pathlib import Path

from toolwright.files.ignore import Ignore
from toolwright.machine.git_index import Index, index_around

MOST_LOOKED_AT = 200_000
"""At most this many files are looked at in folders that go as a whole."""
FEW = 2_000
"""At most this many in one that something is put into, or changed in."""

Ranked = tuple["Worth", Path]


class Worth(IntEnum):
    """The loss there would be with a file, most first."""

    OWN = 0
    """It was named, or git does not have it as it is."""
    COMMITTED = 1
    """Git has it too."""
    IGNORED = 2
    """The project says that it can be made again."""
    GITS = 3
    """It belongs to git."""


def ranked(paths: Iterable[Path], whole: Collection[Path] = ()) -> list[Ranked]:
    """Files and links, and all below folders, the most precious first. Those in `whole` may lose all that they have."""
    ranks = list[Ranked]()
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            most = MOST_LOOKED_AT if path in whole else FEW
            ranks += _below(path, most - len(ranks))
        else:
            ranks.append((Worth.OWN, path))
    return sorted(ranks, key=lambda one: one[0])


def uncommitted(folder: Path) -> Iterator[Path]:
    """The tracked files of the work tree around a folder that are not as git has them."""
    index = index_around(str(folder))
    for name in index.files if index is not None else ():
        path = f"{index.top}/{name}" if index is not None else name
        try:
            seen = os.lstat(path)
        except OSError:
            continue
        if index is not None and not index.has(name, seen):
            yield Path(path)


def _below(top: Path, most: int) -> list[Ranked]:
    index, outer = index_around(str(top)), Ignore.above(top)
    start = Worth.GITS if ".git" in top.parts else Worth.IGNORED if _is_ignored(top) else Worth.OWN
    ranks, waiting = list[Ranked](), [(str(top), outer, start)]
    while waiting and len(ranks) < most:
        folder, ignore, worth = waiting.pop()
        try:
            with os.scandir(folder) as scanned:
                entries = list(scanned)
        except OSError:
            continue
        if worth is Worth.OWN:
            ignore = ignore.enter(folder, (entry.name for entry in entries))
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            own = _worth(entry, ignore, is_folder=is_folder) if worth is Worth.OWN else worth
            if is_folder:
                waiting.append((entry.path, ignore, own))
            else:
                ranks.append((_unless_committed(own, entry, index), Path(entry.path)))
    return ranks


def _worth(entry: "os.DirEntry[str]", ignore: Ignore, *, is_folder: bool) -> Worth:
    if entry.name == ".git":
        return Worth.GITS
    return Worth.IGNORED if ignore.hides(entry.path, folder=is_folder) else Worth.OWN


def _unless_committed(worth: Worth, entry: "os.DirEntry[str]", index: Index | None) -> Worth:
    if index is None or worth is Worth.GITS or not entry.path.startswith(f"{index.top}/"):
        return worth
    name = entry.path[len(index.top) + 1 :]
    if name not in index.files:
        return worth
    return Worth.COMMITTED if index.has(name, entry.stat(follow_symlinks=False)) else Worth.OWN


def _is_ignored(folder: Path) -> bool:
    """Tell whether an ignore file hides a folder, or one that it lies in."""
    return any(Ignore.above(one).hides(str(one), folder=True) for one in (folder, *folder.parents))

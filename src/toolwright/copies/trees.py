"""Differences of two trees of a copy's repository: which files differ, where they went, and what they hold."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from toolwright.copies.git import Repository

NONE = "000000"
LINK = "120000"
NESTED = "160000"
RUN = "100755"


class Entry(NamedTuple):
    """A file in a tree: what it is, and the name of what it holds."""

    mode: str
    blob: str


class Difference(NamedTuple):
    """A file that is not the same in two trees; moved, it has another path before."""

    path: str
    source: str
    before: Entry | None
    after: Entry | None
    kind: Literal["made", "removed", "changed", "moved"]


async def differences(repository: Repository, before: str, after: str) -> list[Difference]:
    """Return every file that differs, by its path in the later tree."""
    raw = await repository.git("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--find-renames", before, after)
    words = iter(raw.split("\0"))
    changed = list[Difference]()
    for head in words:
        if not head:
            continue
        old_mode, new_mode, old, new, status = head.removeprefix(":").split(" ")
        source = next(words)
        path = next(words) if status[0] in "RC" else source
        earlier = None if old_mode == NONE else Entry(old_mode, old)
        later = None if new_mode == NONE else Entry(new_mode, new)
        kind: Literal["made", "removed", "changed", "moved"] = "changed"
        if path != source:
            kind = "moved"
        elif earlier is None:
            kind = "made"
        elif later is None:
            kind = "removed"
        changed.append(Difference(path, source, earlier, later, kind))
    return changed


async def entries(repository: Repository, tree: str) -> dict[str, Entry]:
    """Return every file of a tree."""
    raw = await repository.git("ls-tree", "-r", "-z", "--full-tree", tree)
    lines = (line.partition("\t") for line in raw.split("\0") if line)
    return {path: Entry(head.split(" ")[0], head.split(" ")[2]) for head, _, path in lines}


async def contents(repository: Repository, blobs: Iterable[str]) -> Mapping[str, bytes]:
    """Return what some blobs hold, by their names."""
    wanted = sorted(set(blobs))
    if not wanted:
        return {}
    printed = await repository.answer("cat-file", "--batch", asked="\n".join(wanted).encode() + b"\n")
    held, at = dict[str, bytes](), 0
    while at < len(printed):
        end = printed.index(b"\n", at)
        name, _, size = printed[at:end].split(b" ")
        start = end + 1
        held[name.decode()] = printed[start : start + int(size)]
        at = start + int(size) + 1
    return held

"""Snapshots of all a command may change, as far as its line tells: taken before and after it, to undo it."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from toolwright.calls.request import PathPattern, Request
from toolwright.files.captured import CaptureOutcome
from toolwright.files.paths import Tree
from toolwright.files.precious import Worth
from toolwright.files.snapshot import Snapshot
from toolwright.shell import Analysis


def looked_at(requests: Sequence[Request], tree: Tree) -> Iterator[Path]:
    """The files that the command changes, and the links by which it names them: they may be what it deletes."""
    yield from changed_by(requests, tree)
    for request in requests:
        if request.permission == "edit":
            patterns = (pattern for pattern in request.patterns if isinstance(pattern, PathPattern))
            names = (name for pattern in patterns for name in pattern.aliases if name.startswith("/"))
            yield from (path for name in names if (path := Path(name)).is_symlink())


def changed_by(requests: Sequence[Request], tree: Tree) -> Iterator[Path]:
    """The files that the command names as written or deleted, and those that a listing of its own does."""
    for request in requests:
        if request.permission == "edit":
            patterns = (one for one in request.patterns if isinstance(one, PathPattern))
            yield from (one.path for one in patterns if one.path is not None)
            listed = (tree.root / one.folder / name for one in request.below if one.listed for name in one.names)
            # git has a history of its own, and its folder is large
            yield from (tree.place(str(path)).path for path in listed if path.name != ".git")


def names_in(analysis: Analysis, requests: Sequence[Request]) -> Iterator[str]:
    """The last parts of all paths that the command names: what it puts into a folder is called so there."""
    asked = (one for request in requests for one in request.patterns if isinstance(one, PathPattern))
    paths = itertools.chain(*analysis.touched.values(), asked)
    return (name for path in paths if (name := PurePath(path).name))


async def losses(snapshot: Snapshot) -> list[str]:
    """Return the sentences about what is gone and undo does not restore."""
    if not snapshot.unkept:
        return []
    lost, in_git = [await asyncio.to_thread(snapshot.lost, worth) for worth in (Worth.OWN, Worth.COMMITTED)]
    notes = list[str]()
    if lost:
        notes.append(
            f"undo cannot restore {len(lost):,} files that this changed or deleted, such as {lost[0]}: they were too"
            " many or too large to be kept. Tell the user"
        )
    if in_git:
        notes.append(f"{len(in_git):,} files that this changed or deleted were not kept for undo, because git has them")
    return notes


def unkept(outcome: CaptureOutcome, tree: Tree) -> Iterator[str]:
    """Return the sentences about what a command has changed that undo does not restore."""
    if outcome.failure:
        yield f"what this changed cannot be undone: {outcome.failure}. Tell the user"
    if outcome.lost:
        yield (
            f"undo cannot restore {len(outcome.lost):,} that this changed or deleted, such as"
            f" {shown_name(outcome.lost[0], tree)}: too large, no file, or changed by two programs at once."
            " Tell the user"
        )
    if outcome.spared:
        yield (
            f"{shown_name(outcome.spared[0], tree)} is as it was: it is hidden from commands, and what they see in its"
            " place was written into it"
        )
    if outcome.missed:
        files = "other file" if len(outcome.missed) == 1 else "other files"
        yield (
            f"{len(outcome.missed):,} {files} changed while this ran, such as {shown_name(outcome.missed[0], tree)},"
            " and cannot be undone"
        )


def shown_name(path: str, tree: Tree) -> str:
    place = PurePath(path)
    return str(place.relative_to(tree.root)) if place.is_relative_to(tree.root) else path

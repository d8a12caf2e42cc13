"""Copies merged into a state that the project's check accepts, tried in a copy before the project is touched."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace
from pathlib import Path

from toolwright.copies.joining import Clash, File, JoinedTrees, joined
from toolwright.copies.store import Copy
from toolwright.copies.trees import contents, differences
from toolwright.errors import UsageError
from toolwright.record import record

LONGEST_DIFF = 6000
"""Letters of a side's diff that are shown of a conflict."""
MOST_CHECKS = 24
"""Runs of the check that the search for a guilty file may take, for each copy."""

Check = Callable[[], Awaitable[str]]
"""Runs the project's check on the state that is tried; what is wrong, or nothing."""


@record(slots=True)
class MergedCopy:
    """Fate of one copy in a merge."""

    copy: Copy
    taken: list[str] = field(default_factory=list[str])
    """The files that were merged."""
    clashes: list[Clash] = field(default_factory=list[Clash])
    guilty: list[str] = field(default_factory=list[str])
    """Files without which the check holds."""
    reason: str = ""
    """Output of the check with them."""

    @property
    def whole(self) -> bool:
        """Tell whether all that the copy holds is in the state."""
        return not self.clashes and not self.guilty and not self.reason


async def merge_into(trial: Copy, copies: Sequence[Copy], check: Check | None, *, rest: bool) -> list[MergedCopy]:
    """Carry the changes of each copy over to the state that is tried, one after the other.

    What clashes, or fails the check, keeps a copy out; with `rest` only the files that do.
    """
    parts = list[MergedCopy]()
    for copy in copies:
        part = MergedCopy(copy)
        parts.append(part)
        join = await _join(trial, copy)
        part.clashes = join.clashes
        if join.clashes and not rest:
            continue
        await _take(trial, join, part, check, rest=rest)
    return parts


async def _join(trial: Copy, copy: Copy) -> JoinedTrees:
    base = (await copy.repository.git("rev-parse", "HEAD^{tree}")).strip()
    ours, theirs = await copy.repository.snapshot(trial.folder), await copy.tree()
    result = await joined(copy.repository, base, ours, theirs)
    result.clashes = [
        replace(one, ours=await _wanted(copy, base, ours, one.path), theirs=await _wanted(copy, base, theirs, one.path))
        for one in result.clashes
    ]
    return result


async def _wanted(copy: Copy, base: str, side: str, path: str) -> str:
    """Return what one side has made of a file, as a diff of a readable length."""
    options = ("--no-color", "--no-ext-diff", "--find-renames")
    text = await copy.repository.git("diff", *options, base, side, "--", path)
    return text if len(text) <= LONGEST_DIFF else text[:LONGEST_DIFF].rpartition("\n")[0] + "\n…\n"


async def _take(trial: Copy, join: JoinedTrees, part: MergedCopy, check: Check | None, *, rest: bool) -> None:
    groups = _groups(join)
    earlier = {path: _present(trial.folder, path) for path in join.files}
    await _write(trial, join.files)
    if check is None or not groups:
        part.taken = sorted(join.files)
        return
    part.reason = await check()
    if not part.reason:
        part.taken = sorted(join.files)
        return
    search = _Search(trial, join.files, earlier, check)
    guilty = await search.guilty(groups)
    part.guilty = sorted(path for group in guilty for path in group)
    kept = [group for group in groups if group not in guilty]
    if not rest or not guilty:
        kept = []
    await search.put(kept)
    part.taken = sorted(path for group in kept for path in group)


def _groups(join: JoinedTrees) -> list[tuple[str, ...]]:
    """Return the files that can be taken alone; one that was moved goes with the path that it had."""
    moved = set(join.sources.values())
    groups = [(path, join.sources[path]) if path in join.sources else (path,) for path in sorted(join.files)]
    return [group for group in groups if group[0] not in moved or group[0] in join.sources]


async def restore(copy: Copy, tree: str) -> None:
    """Have the files of a copy, but for what its ignore files name, be those of a tree again."""
    changed = await differences(copy.repository, tree, await copy.tree())
    held = await contents(copy.repository, (one.before.blob for one in changed if one.before))
    files = dict[str, File | None]()
    for difference in changed:
        if difference.after is not None:
            files[difference.path] = None
        if difference.before is not None:
            files[difference.source] = File(held[difference.before.blob], difference.before.mode)
    await _write(copy, files)


@record(frozen=True, slots=True)
class _Search:
    """Looks for the files that make the check fail."""

    trial: Copy
    files: "dict[str, File | None]"
    earlier: "dict[str, File | None]"
    check: Check

    async def put(self, groups: Sequence[tuple[str, ...]]) -> None:
        """Have the state hold these changes and no others."""
        taken = {path for group in groups for path in group}
        await _write(
            self.trial, {path: self.files[path] if path in taken else self.earlier[path] for path in self.files}
        )

    async def holds(self, groups: Sequence[tuple[str, ...]]) -> bool:
        await self.put(groups)
        return not await self.check()

    async def guilty(self, groups: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return the changes without which the check holds, found by halving; all of them if it never does."""
        guilty = list[tuple[str, ...]]()
        left, checks = list(groups), 0
        while left and checks < MOST_CHECKS:
            checks += 1
            if await self.holds(left):
                return guilty
            low, high = 0, len(left)
            # The first so many hold, one more does not: that one is to blame.
            while high - low > 1 and checks < MOST_CHECKS:
                middle = (low + high) // 2
                checks += 1
                if await self.holds(left[:middle]):
                    low = middle
                else:
                    high = middle
            guilty.append(left.pop(high - 1))
        return list(groups) if left else guilty


def _present(folder: Path, path: str) -> File | None:
    """Return what the state has of a file now."""
    file = folder / path
    try:
        if file.is_symlink():
            return File(os.fsencode(os.readlink(file)), "120000")  # noqa: PTH115 - a name, not a path
        return File(file.read_bytes(), "100755" if file.stat().st_mode & 0o100 else "100644")
    except (FileNotFoundError, NotADirectoryError):
        return None


async def _write(trial: Copy, files: "dict[str, File | None]") -> None:
    await asyncio.to_thread(_write_all, trial.folder, files)


def _write_all(folder: Path, files: "dict[str, File | None]") -> None:
    # What goes makes room for what comes.
    for path in [path for path, file in files.items() if file is None]:
        place = folder / path
        _require_inside(folder, place)
        place.unlink(missing_ok=True)
        _drop_empty(place.parent, folder)
    for path, file in files.items():
        if file is not None:
            _require_inside(folder, folder / path)
            _write_file(folder / path, file)


def _require_inside(folder: Path, place: Path) -> None:
    """Raise where a link leads out of the copy: a check may have put one in the place of a folder."""
    for above in place.parents:
        if above == folder:
            return
        if above.is_symlink():
            raise UsageError(f"{above} is a link now. What is run in a copy must leave its folders as they are.")


def _write_file(place: Path, file: File) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if file.link:
        place.symlink_to(os.fsdecode(file.data))
        return
    place.write_bytes(file.data)
    if file.executable:
        place.chmod(place.stat().st_mode | 0o111)


def _drop_empty(folder: Path, top: Path) -> None:
    while folder != top:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent

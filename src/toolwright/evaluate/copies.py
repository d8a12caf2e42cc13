"""The copy of a folder that one task works in, and the patch that comes of it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from toolwright.copies.git import Repository, run_git
from toolwright.errors import UsageError
from toolwright.evaluate.places import place
from toolwright.evaluate.tasks import Task
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class TaskCopy:
    """A folder of its own, and beside it what git knows of how it began."""

    folder: Path
    base: Path

    async def patch(self, without: Iterable[str] = ()) -> str:
        """Return the changes since the beginning, for `git apply`; new files too."""
        tree = await self.repository.snapshot(self.folder)
        left_out = (f":(exclude,literal){path}" for path in without)
        how = ("--binary", "--no-color", "--no-ext-diff")
        return await self.repository.git("diff", *how, "HEAD", tree, "--", ".", *left_out)

    @property
    def repository(self) -> Repository:
        return Repository(base=self.base, folder=self.folder)


@asynccontextmanager
async def copy_of(task: Task, keep: Path | None = None) -> AsyncIterator[TaskCopy]:
    """The copy for one run of a task; removed afterwards unless there is a place to keep it."""
    async with place() as above:
        copy = copy_in(above, task)
        await fill(task, copy.folder)
        await begin(task, copy)
        yield copy
        if keep is not None:
            await asyncio.to_thread(shutil.copytree, copy.folder, keep, symlinks=True, dirs_exist_ok=True)


def copy_in(above: Path, task: Task) -> TaskCopy:
    """Where the copy of a task stands in a folder; under the name of what it is a copy of."""
    name = Path(task.folder or task.repo).resolve().name if task.folder or task.repo else "task"
    return TaskCopy(folder=above / (name.removesuffix(".git") or "task"), base=above / "base.git")


async def begin(task: Task, copy: TaskCopy) -> None:
    """Add the files of the task to a copy that is filled; from here on changes count."""
    for path, text in task.files.items():
        file = copy.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    await copy.repository.begin()


async def fill(task: Task, folder: Path, *, alone: bool = False) -> None:
    """Make the folder as the task says. A clone that is to be taken elsewhere stands alone."""
    if task.repo:
        local = Path(task.repo).is_dir()
        source = str(Path(task.repo).resolve()) if local else str(task.repo)
        shared = ["--shared"] if local and not alone else []
        above = Path(source) if local else folder.parent
        await run_git("clone", "--quiet", "--no-checkout", *shared, "--", source, str(folder), cwd=above)
        await run_git("checkout", "--quiet", "--detach", task.ref, "--", cwd=folder)
        return
    if not task.folder:
        folder.mkdir()
        return
    source_folder = Path(task.folder).resolve()
    if not source_folder.is_dir():
        raise UsageError(f"{task.folder} is not a folder.")
    try:
        await asyncio.to_thread(shutil.copytree, source_folder, folder, symlinks=True)
    except shutil.Error as error:
        raise UsageError(f"{task.folder} cannot be copied: {error.args[0][0][2]}") from error


async def revision_of(task: Task) -> str:
    """The commit that a task of a repository on this machine begins from."""
    return (await run_git("rev-parse", "--verify", f"{task.ref}^{{commit}}", cwd=Path(task.repo))).strip()

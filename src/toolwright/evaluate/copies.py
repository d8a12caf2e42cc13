"""The copy of a folder that one task works in, and the patch that comes of it."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from toolwright.errors import UsageError
from toolwright.evaluate.places import place
from toolwright.evaluate.tasks import Task
from toolwright.record import record

_IDENTITY = ("-c", "user.name=toolwright", "-c", "user.email=toolwright@localhost", "-c", "commit.gpgsign=false")


@record(frozen=True, slots=True, kw_only=True)
class Copy:
    """A folder of its own, and beside it what git knows of how it began."""

    folder: Path
    base: Path

    async def patch(self, without: Iterable[str] = ()) -> str:
        """What has changed since the beginning, for `git apply`; new files too."""
        await self._git("add", "--all")
        left_out = (f":(exclude,literal){path}" for path in without)
        return await self._git(
            "diff", "--cached", "--binary", "--no-color", "--no-ext-diff", "HEAD", "--", ".", *left_out
        )

    async def begin(self) -> None:
        await _run("git", "init", "--quiet", "--bare", str(self.base))
        await self._git("add", "--all")
        await self._git(*_IDENTITY, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", "base")

    async def _git(self, *arguments: str) -> str:
        return await _run("git", f"--git-dir={self.base}", f"--work-tree={self.folder}", *arguments, cwd=self.folder)


@asynccontextmanager
async def copy_of(task: Task, keep: Path | None = None) -> AsyncIterator[Copy]:
    """The copy for one run of a task; removed afterwards unless there is a place to keep it."""
    async with place() as above:
        copy = copy_in(above, task)
        await fill(task, copy.folder)
        await begin(task, copy)
        yield copy
        if keep is not None:
            await asyncio.to_thread(shutil.copytree, copy.folder, keep, symlinks=True, dirs_exist_ok=True)


def copy_in(above: Path, task: Task) -> Copy:
    """Where the copy of a task stands in a folder; under the name of what it is a copy of."""
    name = Path(task.folder or task.repo).resolve().name if task.folder or task.repo else "task"
    return Copy(folder=above / (name.removesuffix(".git") or "task"), base=above / "base.git")


async def begin(task: Task, copy: Copy) -> None:
    """Add the files of the task to a copy that is filled; from here on changes count."""
    for path, text in task.files.items():
        file = copy.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    await copy.begin()


async def fill(task: Task, folder: Path, *, alone: bool = False) -> None:
    """Make the folder as the task says. A clone that is to be taken elsewhere stands alone."""
    if task.repo:
        local = Path(task.repo).is_dir()
        source = str(Path(task.repo).resolve()) if local else str(task.repo)
        shared = ["--shared"] if local and not alone else []
        await _run("git", "clone", "--quiet", "--no-checkout", *shared, "--", source, str(folder))
        await _run("git", "checkout", "--quiet", "--detach", task.ref, "--", cwd=folder)
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
    return (await _run("git", "rev-parse", "--verify", f"{task.ref}^{{commit}}", cwd=Path(task.repo))).strip()


async def _run(*argv: str, cwd: Path | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise UsageError("git is not installed; tasks need it for their patches.") from error
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        reason = err.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git {argv[1] if not argv[1].startswith('-') else argv[3]} failed: {' '.join(reason[-2:])}")
    return out.decode("utf-8", "surrogateescape")

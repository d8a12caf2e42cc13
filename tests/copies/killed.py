"""Kills a process at every step of writing a merge, and waits for the project to be whole without another program.

Run as `python killed.py FOLDER`, with a folder that is not there; prints how many steps were tried, and what was seen.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.files.crash import die_at
from tests.waiting import wait_until
from toolwright.copies.project import merge
from toolwright.copies.store import Copies
from toolwright.definition import Result
from toolwright.files.mending import mended_at_once
from toolwright.files.paths import Tree
from toolwright.files.replace import Change
from toolwright.files.store import Files
from toolwright.testing import make_workspace

BEFORE = {"kept.txt": "kept\n", "changed.txt": "old\n" * 900, "gone.txt": "gone\n", "lib/a.py": "A = 1\n"}
AFTER = {"kept.txt": "kept\n", "changed.txt": "new\n" * 900, "lib/a.py": "A = 2\n", "new/b.py": "B = 1\n"}


def state(project: Path) -> dict[str, str]:
    """Return every file, those of ours that are half written among them."""
    found = dict[str, str]()
    for file in project.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):
            found[str(file.relative_to(project))] = file.read_text()
    return found


def lay_out(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)


async def main(folder: Path) -> None:
    project = folder / "project"
    lay_out(project, BEFORE)
    async with make_workspace(project) as workspace:
        copy = await Copies.of(workspace.folders).create(project)
        for name in BEFORE.keys() - AFTER.keys():
            (copy.folder / name).unlink()
        lay_out(copy.folder, AFTER)
        seen: dict[str, int] = {"before": 0, "after": 0}

        async def put(_: Sequence[str], changes: Sequence[Change]) -> Result:
            """Write the merge in children, each of which dies one step later, and at last in one that does not die."""
            assert state(project) == BEFORE
            step, finished = 1, False
            while not finished:
                data = folder / "data" / str(step)
                finished = _commit_and_die(Files(Tree(project), data), changes, step)
                # Nobody opens the project: what was left beside the killed process does it alone.
                wait_until(partial(_is_whole, project, data / "pending"))
                seen["after" if state(project) == AFTER else "before"] += 1
                for name in AFTER.keys() - BEFORE.keys():
                    (project / name).unlink(missing_ok=True)
                lay_out(project, BEFORE)
                step += 1
            return Result("")

        await merge(workspace, put, [copy])
        assert len(Copies.of(workspace.folders).found()) == 1
    sys.stdout.write(json.dumps(seen))


def _is_whole(project: Path, pending: Path) -> bool:
    return not any(pending.glob("*")) and state(project) in (BEFORE, AFTER)


def _commit_and_die(files: Files, changes: Sequence[Change], step: int) -> bool:
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status == 0
    asyncio.events._set_running_loop(None)

    async def commit() -> Any:
        with mended_at_once(files.data):
            die_at(step)
            return await files.commit(changes, session_id="s", call_id="c")

    asyncio.run(commit())
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

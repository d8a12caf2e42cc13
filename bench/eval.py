"""What evaluation costs: fifty tasks at once, each in a copy of its own, against the same steps without all that.

python bench/eval.py
"""

import asyncio
import resource
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from toolwright.evaluate import Task, run
from toolwright.testing import ScriptedModel, make_workspace

TASKS = 50
FILES = 200
STEPS = 4


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "start"
        folder.mkdir()
        for number in range(FILES):
            (folder / f"file{number}.txt").write_text(f"line {number}\n" * 50)
        alone = asyncio.run(_alone(folder))
        before = _peak()
        started = time.perf_counter()
        passed = asyncio.run(_evaluated(folder, Path(scratch) / "home"))
        took = time.perf_counter() - started
        memory = (_peak() - before) / TASKS
    print(f"{TASKS} tasks of {STEPS} steps at once, {passed} passed, in {took:.1f} s")
    print(f"steps alone: {alone * 1000:.0f} ms a task; overhead {1000 * (took / TASKS - alone):.0f} ms a task")
    print(f"memory: {memory:.2f} MB for each running task")
    return 0 if passed == TASKS else 1


def _model(number: int) -> ScriptedModel:
    path = f"file{number % FILES}.txt"
    return ScriptedModel(
        {"tools": [{"name": "read", "args": {"filePath": path}}]},
        {"tools": [{"name": "write", "args": {"filePath": f"new{number}.txt", "content": "made\n"}}]},
        {"tools": [{"name": "glob", "args": {"pattern": "new*.txt"}}]},
        {"text": "Done."},
    )


def _made(number: int, copy: Path) -> bool:
    return (copy / f"new{number}.txt").exists()


async def _alone(folder: Path) -> float:
    """Seconds that the steps of one task take in an open workspace."""
    async with make_workspace(folder) as workspace:
        started = time.perf_counter()
        for number in range(TASKS):
            async with workspace.session() as session:
                await session.prompt("Go", model=_model(number))
        took = time.perf_counter() - started
    for made in folder.glob("new*.txt"):
        made.unlink()
    return took / TASKS


async def _evaluated(folder: Path, home: Path) -> int:
    tasks = [
        Task(
            id=str(number),
            folder=folder,
            prompt="Go",
            model=_model(number),
            check=partial(_made, number),
        )
        for number in range(TASKS)
    ]
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    return sum([one.passed async for one in run(tasks, parallel=TASKS, environment=environment)])


def _peak() -> float:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1024 * 1024 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main())

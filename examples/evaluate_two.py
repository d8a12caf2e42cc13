"""Two models on the same tasks, each run in a copy of its own: who passes more, and is that more than noise?

python examples/evaluate_two.py anthropic/claude-opus-4-5 anthropic/claude-haiku-4-5
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from toolwright import Budget, Model
from toolwright.evaluate import Task, TaskResult, run
from toolwright.evaluate.compare import compare


def greets(folder: Path) -> bool:
    return "hello" in (folder / "greeting.txt").read_text("utf-8")


TASKS = [
    Task(id="greet", prompt="Write a greeting that says hello into greeting.txt.", check=greets),
    Task(id="sum", prompt="Write 2 + 2 into sum.txt, as a number.", check="grep -qx 4 sum.txt"),
]


async def tried(model: str | Model, tasks: Sequence[Task] = TASKS, repeat: int = 3) -> list[TaskResult]:
    """Every task as often as wanted; whatever goes wrong in a run stands in its result."""
    found = list[TaskResult]()
    async for result in run(tasks, parallel=4, repeat=repeat, model=model, budget=Budget(steps=20)):
        print(f"{result.id}: {'passed' if result.passed else result.error or 'failed'}")
        found.append(result)
    return found


async def main(first: str | Model, second: str | Model) -> str:
    difference = compare(await tried(first), await tried(second))["pass_rate"]
    told = f"{difference.a:.0%} and {difference.b:.0%}"
    return told if difference.significant else f"{told}, which may be noise"


if __name__ == "__main__":
    print(asyncio.run(main(sys.argv[1], sys.argv[2])))

"""Ten agents at once in one folder, each in a session of its own, with one budget each.

python examples/ten_agents.py anthropic/claude-sonnet-4-5 src/*.py
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from toolwright import Budget, Model, TurnResult, Workspace, open_workspace


async def explain(workspace: Workspace, file: str) -> TurnResult:
    async with workspace.session(agent="plan") as session:
        return await session.prompt("Explain this file in two sentences.", files=[file], budget=Budget(steps=5))


async def explain_all(files: Sequence[str], model: str | Model, folder: str | Path = ".") -> list[TurnResult]:
    async with open_workspace(folder, model=model) as workspace:
        return await asyncio.gather(*(explain(workspace, file) for file in files))


if __name__ == "__main__":
    for name, result in zip(sys.argv[2:], asyncio.run(explain_all(sys.argv[2:], sys.argv[1])), strict=True):
        print(f"{name}: {result.error or result.text}")

"""An answer as a value: the model's last words are checked against a type, and asked for once more if they do not fit.

python examples/structured.py anthropic/claude-sonnet-4-5
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolwright import Model, open_workspace


@dataclass
class Review:
    verdict: Literal["approve", "change"]
    summary: str
    files: list[str]


async def review(model: str | Model, folder: str | Path = ".") -> Review:
    async with open_workspace(folder, model=model, agent="plan") as workspace, workspace.session() as session:
        result = await session.prompt("Review the last commit.", output=Review)
    if result.error is not None:
        raise result.error
    assert isinstance(result.output, Review)
    return result.output


if __name__ == "__main__":
    print(asyncio.run(review(sys.argv[1])))

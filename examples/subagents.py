"""Two reviewers side by side, with other models and less rights than the one who asks them, in one result.

python examples/subagents.py anthropic/claude-opus-4-5 anthropic/claude-haiku-4-5
"""

import asyncio
import sys
from pathlib import Path

from toolwright import Agent, Model, TurnResult, open_workspace

READ_ONLY = {"edit": "deny", "bash": "deny"}


def reviewer(name: str, about: str, model: str | Model) -> Agent:
    return Agent(
        name=name,
        description=f"Reviews {about}.",
        prompt=f"You review {about}, and nothing else. Name file and line.",
        mode="subagent",
        model=model,
        rules=READ_ONLY,
    )


async def review(lead: str | Model, helper: str | Model, folder: str | Path = ".") -> TurnResult:
    agents = [reviewer("security", "security", helper), reviewer("style", "style", helper)]
    async with open_workspace(folder, model=lead, agents=agents) as workspace:
        return await workspace.prompt("Have the last change reviewed for security and style, and sum up.")


if __name__ == "__main__":
    result = asyncio.run(review(sys.argv[1], sys.argv[2]))
    print(result.error or result.text)
    print(f"{result.tokens.total} tokens, {len(result.refused)} calls refused")

"""A chat in twenty lines: several turns in one session, words as they come.

python examples/chat.py anthropic/claude-sonnet-4-5
"""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

from toolwright import Model, TextDelta, open_workspace


async def chat(lines: Iterable[str], model: str | Model, folder: str | Path = ".") -> None:
    async with open_workspace(folder, model=model, answer=ask) as workspace, workspace.session() as session:
        for line in lines:
            async for event in session.stream(line):
                if isinstance(event, TextDelta):  # and not what the model thinks
                    print(event.text, end="", flush=True)
            print()


def ask(question: object) -> str:
    """Everything that the rules ask about is refused here; a real chat would ask its user."""
    print(f"[refused: {question}]")
    return "reject"


if __name__ == "__main__":
    asyncio.run(chat(sys.stdin, sys.argv[1]))

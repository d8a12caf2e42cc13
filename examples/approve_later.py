"""A bot whose questions outlive it: it asks, ends, and goes on in another process when somebody has pressed a button.

python examples/approve_later.py ask anthropic/claude-sonnet-4-5 'Publish the notes.'
python examples/approve_later.py list
python examples/approve_later.py yes anthropic/claude-sonnet-4-5 QUESTION_ID
"""

import asyncio
import sys
from pathlib import Path

from toolwright import Model, Question, TurnResult, open_workspace

RULES = {"bash": "ask", "edit": "ask"}


async def ask(model: str | Model, text: str, folder: str | Path = ".") -> list[Question]:
    """Work until somebody has to decide, and leave it there."""
    waits = asyncio.Event()
    async with open_workspace(folder, model=model, rules=RULES, answer=lambda _: waits.set(), keep=True) as workspace:
        turn = asyncio.create_task(workspace.prompt(text))
        waiting = asyncio.create_task(waits.wait())
        await asyncio.wait([turn, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        return workspace.inbox.pending


async def listed(folder: str | Path = ".") -> list[Question]:
    async with open_workspace(folder, keep=True) as workspace:
        return await workspace.waiting()


async def go_on(model: str | Model, question_id: str, answer: str, folder: str | Path = ".") -> TurnResult:
    async with open_workspace(folder, model=model, rules=RULES, keep=True) as workspace:
        [question] = [one for one in await workspace.waiting() if one.id == question_id]
        async with workspace.session(id=question.session_id) as session:
            return await session.resume(question_id, answer)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", model, text]:
            print(*(f"{one.id}: {one.title}" for one in asyncio.run(ask(model, text))), sep="\n")
        case ["yes", model, question_id]:
            print(asyncio.run(go_on(model, question_id, "once")).text)
        case _:
            print(*(f"{one.id}: {one.title}" for one in asyncio.run(listed())), sep="\n")

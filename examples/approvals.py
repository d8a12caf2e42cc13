"""An approval service: agents at work put their questions to a list, and people answer by id when they get to it.

python examples/approvals.py anthropic/claude-sonnet-4-5
"""

import asyncio
import sys
from pathlib import Path

from toolwright import Model, Question, Reply, TurnResult, Workspace, open_workspace


def remember(question: Question) -> None:
    """Tell the people on duty. The answer comes later, by the question's id."""
    print(f"{question.id}: {question.agent} wants {question.tool} {dict(question.arguments)}")


def decide(workspace: Workspace, question_id: str, *, allowed: bool, reason: str = "") -> None:
    """What a web page or a chat bot calls when somebody has decided."""
    reply = Reply(kind="once") if allowed else Reply(kind="reject", message=reason)
    workspace.inbox.reply(question_id, reply)


async def person_on_duty(workspace: Workspace) -> None:
    """Stands in for people: allows what is asked for, but never a deletion."""
    async for event in workspace.bus.follow(lambda event: event.type == "permission.asked"):
        for question in workspace.inbox.pending:
            deletes = "rm " in str(question.arguments)
            decide(workspace, question.id, allowed=not deletes, reason="Move it to the trash folder instead.")
        assert event.type == "permission.asked"


async def work(text: str, model: str | Model, folder: str | Path = ".") -> TurnResult:
    rules = {"bash": "ask", "edit": "ask"}
    async with open_workspace(folder, model=model, rules=rules, answer=remember) as workspace:
        on_duty = asyncio.create_task(person_on_duty(workspace))
        async with workspace.session() as session:
            result = await session.prompt(text)
        on_duty.cancel()
    return result


if __name__ == "__main__":
    print(asyncio.run(work("Run the tests and fix what fails.", sys.argv[1])).text)

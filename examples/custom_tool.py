"""A tool of one's own: a plain function, offered beside the built-in ones and under rules like them.

python examples/custom_tool.py anthropic/claude-sonnet-4-5
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from toolwright import Model, TurnResult, open_workspace, tool


@dataclass
class Ticket:
    id: int
    title: str
    state: Literal["open", "closed"]


TICKETS = [Ticket(1, "Login fails on Mondays", "open"), Ticket(2, "Typo in the guide", "closed")]


@tool
def tickets(state: Annotated[Literal["open", "closed"] | None, "Only these"] = None) -> list[Ticket]:
    """The tickets of this project."""
    return [ticket for ticket in TICKETS if state in (None, ticket.state)]


def close_ticket(id: int, reason: str) -> str:  # noqa: A002
    """Close a ticket.

    Args:
        id: The number of the ticket.
        reason: What was done.
    """
    TICKETS[id - 1].state = "closed"
    return f"Ticket {id} is closed: {reason}"


async def work(text: str, model: str | Model, folder: str | Path = ".") -> TurnResult:
    rules = {"close_ticket": "ask"}
    async with (
        open_workspace(
            folder, model=model, tools=[tickets, close_ticket], rules=rules, answer=lambda _: "once"
        ) as workspace,
        workspace.session() as session,
    ):
        return await session.prompt(text)


if __name__ == "__main__":
    print(asyncio.run(work("Which tickets are open? Close the ones that are done.", sys.argv[1])).text)

"""Types from end to end: an answer that is one of several, checked by you, from an agent that hands over to another.

python examples/typed_triage.py anthropic/claude-sonnet-4-5 'I was charged twice for A1.'
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolwright import Agent, Model, ToolContext, open_workspace, tool


@dataclass
class Orders:
    paid: dict[str, float]


@dataclass
class Refund:
    order: str
    amount: float
    kind: Literal["refund"] = "refund"


@dataclass
class Refusal:
    reason: str
    kind: Literal["refusal"] = "refusal"


@tool
def order(ctx: ToolContext[Orders], number: str) -> float:
    """What was paid for an order."""
    return ctx.deps.paid[number]


async def triage(text: str, model: str | Model, orders: Orders, folder: str | Path = ".") -> str:
    def is_paid(answer: Refund | Refusal) -> None:
        if isinstance(answer, Refund) and answer.amount > orders.paid.get(answer.order, 0):
            raise ValueError("More than was paid cannot be paid back. Look the order up.")

    payer = Agent(name="payer", prompt="You pay back what was paid twice.", tools=[order], model=model)
    async with open_workspace(folder, model=model, agents=[payer], deps=orders) as workspace:
        result = await workspace.prompt(text, agent=payer, output=Refund | Refusal, validate=is_paid, retries=2)
    match result.output:
        case Refund(order=number, amount=amount):
            return f"{amount:.2f} for {number}"
        case Refusal(reason=reason):
            return reason


if __name__ == "__main__":
    print(asyncio.run(triage(sys.argv[2], sys.argv[1], Orders(paid={"A1": 12.5}))))

"""Our tools in a loop of your own: whatever library asks the model, the calls pass our rules and our sandbox.

python examples/own_loop.py 'What is in this folder?'    (needs OPENAI_API_KEY and `pip install openai`)
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from toolwright import Question, open_workspace
from toolwright.adapters.functions import tools

Message = dict[str, Any]
AskModel = Callable[[list[Message], list[dict[str, Any]]], Awaitable[Message]]
"""Sends messages and tools in the form of OpenAI, and gives the message that comes back."""


def answer(question: Question) -> str:
    return "once" if question.permission == "bash" else "reject"


async def work(text: str, ask_model: AskModel, folder: str | Path = ".") -> str:
    async with open_workspace(folder, rules={"bash": "ask", "edit": "deny"}, answer=answer) as workspace:
        functions = {one.name: one for one in await tools(workspace)}
        messages: list[Message] = [{"role": "user", "content": text}]
        while calls := (reply := await ask_model(messages, [one.as_openai() for one in functions.values()])).get(
            "tool_calls"
        ):
            messages.append(reply)
            for call in calls:
                result = await functions[call["function"]["name"]].run(call["function"]["arguments"], call["id"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.output})
        return str(reply["content"])


async def ask_openai(messages: list[Message], offered: list[dict[str, Any]]) -> Message:
    import openai

    client: Any = openai.AsyncOpenAI()
    answered = await client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=offered)
    return dict(answered.choices[0].message.model_dump(exclude_none=True))


if __name__ == "__main__":
    print(asyncio.run(work(sys.argv[1], ask_openai)))

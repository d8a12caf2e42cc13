"""A model on this machine (llama.cpp, Ollama, vLLM, LM Studio, ...): its address is all there is to say.

python examples/local_model.py http://127.0.0.1:8080/v1 qwen3-8b 'What is in this folder?'
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolwright import Budget, TurnResult, open_workspace


def settings(address: str, name: str) -> Mapping[str, Any]:
    """A provider that speaks as OpenAI does, with the one model that is wanted of it."""
    model = {"limit": {"context": 32_768, "output": 4_096}, "tool_call": True}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": address}, "models": {name: model}}
    return {"provider": {"mine": provider}, "model": f"mine/{name}", "small_model": f"mine/{name}"}


async def work(address: str, name: str, text: str, folder: str | Path = ".") -> TurnResult:
    """What a small model can do: few tools, few steps, nothing changed."""
    rules = {"edit": "deny", "bash": "deny"}
    async with open_workspace(folder, config=settings(address, name), rules=rules) as workspace:
        return await workspace.prompt(text, tools=["read", "glob", "grep"], budget=Budget(steps=8, seconds=300))


if __name__ == "__main__":
    done = asyncio.run(work(sys.argv[1], sys.argv[2], sys.argv[3]))
    print(done.error or done.text)

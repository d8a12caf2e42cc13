"""A script: one prompt in a folder, one result.

python examples/script.py anthropic/claude-sonnet-4-5 "What does this project do?"
"""

import sys
from pathlib import Path

from toolwright import Model, TurnResult, run_sync


def ask(text: str, model: str | Model, folder: str | Path = ".") -> TurnResult:
    """Answer a prompt as the agent that only looks, and say what it took."""
    result = run_sync(text, folder, model=model, agent="plan", budget={"steps": 20})
    print(result.error or result.text)
    print(f"{len(result.calls)} calls, {result.tokens.total} tokens, ${result.cost:.4f}", file=sys.stderr)
    return result


if __name__ == "__main__":
    sys.exit(1 if ask(sys.argv[2], sys.argv[1]).error else 0)

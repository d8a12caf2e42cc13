"""An extension with a life of its own: it opens a journal with the workspace, brings a tool, and adds to every prompt.

python examples/extension_journal.py anthropic/claude-sonnet-4-5
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolwright import Extension, Hook, Model, TurnResult, Workspace, open_workspace


@dataclass
class Journal:
    """Notes that outlive a session, one a line, in a file of the project."""

    name: str = "journal.md"
    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> str:
        """Write down what should be known next time.

        Args:
            text: One sentence.
        """
        self.lines.append(text)
        return f"{len(self.lines)} notes"

    async def remind(self, proceed: Callable[[Any], Awaitable[Any]], prompt: Any, _session: str) -> Any:
        """Put what was noted before each prompt."""
        known = "\n".join(f"- {line}" for line in self.lines)
        return await proceed(replace(prompt, text=f"Noted so far:\n{known}\n\n{prompt.text}") if known else prompt)

    @asynccontextmanager
    async def opened(self, workspace: Workspace) -> AsyncIterator[None]:
        file = workspace.directory / self.name
        self.lines = file.read_text("utf-8").splitlines() if file.exists() else []
        yield
        file.write_text("".join(f"{line}\n" for line in self.lines), "utf-8")

    def extension(self) -> Extension:
        return Extension(name="journal", tools=[self.note], hooks=[Hook(prompt=self.remind)], start=self.opened)


async def work(text: str, model: str | Model, folder: str | Path = ".") -> TurnResult:
    extensions = [Journal().extension()]
    async with open_workspace(folder, model=model, extensions=extensions) as workspace, workspace.session() as session:
        return await session.prompt(text)


if __name__ == "__main__":
    print(asyncio.run(work("Look around, and note what I should know about this project.", sys.argv[1])).text)

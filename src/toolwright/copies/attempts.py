"""The same prompt tried several times, each in a copy of its own; which attempt the check and the evidence prefer."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from toolwright.copies.life import drop_copy, inside, make_copy
from toolwright.copies.referee import referee
from toolwright.copies.store import Copy
from toolwright.errors import ToolwrightError
from toolwright.record import record
from toolwright.session.asking import answered
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnResult
from toolwright.workspace import Workspace

MOST = 16
"""Attempts at once."""


@record(slots=True, kw_only=True)
class Attempt:
    """One of them, and what came of it."""

    copy: Copy
    session: str = ""
    result: TurnResult[Any] | None = None
    problem: str = ""
    """Why it came to nothing."""
    check: str = ""
    """Output of the check where it does not hold."""
    files: Sequence[str] = ()

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, float, int]:
        """Order attempts, the best first: ended well, changed anything, check, evidence, price, how much changed."""
        evidence = self.result.evidence if self.result else None
        doubted = evidence is not None and evidence.verdict != "proven"
        cost = self.result.cost if self.result else 0.0
        return bool(self.problem), not self.files, bool(self.check), doubted, cost, len(self.files)

    @property
    def is_good(self) -> bool:
        return not any(self.rank[:4])


async def attempts(
    workspace: Workspace, prompt: Callable[[Workspace], Prompt], purpose: str, count: int, check: str
) -> list[Attempt]:
    """Try a prompt so many times at once, and return the attempts, the best first. Their copies stay."""
    # One after the other: each is the project as it is now, and they would only wait for the disk.
    copies = [await make_copy(workspace, purpose) for _ in range(count)]
    tried = [Attempt(copy=copy) for copy in copies]
    await asyncio.gather(*(_try(workspace, one, prompt, check) for one in tried))
    return sorted(tried, key=lambda one: one.rank)


async def drop_others(workspace: Workspace, tried: Sequence[Attempt], best: Attempt | None) -> None:
    """Remove the copies of all attempts but one."""
    for attempt in tried:
        if attempt is not best:
            await drop_copy(workspace, attempt.copy)


async def _try(workspace: Workspace, attempt: Attempt, prompt: Callable[[Workspace], Prompt], check: str) -> None:
    try:
        folder = inside(attempt.copy, workspace)
        answer = workspace.inbox.answer
        async with Workspace(folder, answer=answer, trust=workspace.trusted, client="cli", keep=True) as there:
            session = there.sessions.create(title=attempt.copy.name)
            attempt.session = session.id
            attempt.result = await answered(session, prompt(there))
            if attempt.result.error is not None:
                attempt.problem = str(attempt.result.error)
        attempt.files = await attempt.copy.changed()
        if check and attempt.files:
            async with referee(attempt.copy, check) as judge:
                attempt.check = await judge()
    except ToolwrightError as error:
        attempt.problem = str(error)

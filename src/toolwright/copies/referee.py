"""The project's check as a referee over states that are tried: run in the sandbox, and nothing of it stays."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from toolwright.copies.merging import Check, restore
from toolwright.copies.store import Copy
from toolwright.proof.goal import CheckRun, Condition
from toolwright.proof.tree import TreeScanner
from toolwright.session.goals.checks import Checker
from toolwright.workspace import Workspace

SECONDS = 600.0
"""Longest time that one run of the check may take."""
_SHOWN = 1500
"""Letters of what a check printed that are shown."""


@asynccontextmanager
async def referee(trial: Copy, command: str) -> AsyncIterator[Check]:
    """Yield what runs the command in the copy that is tried; it says what is wrong, or nothing.

    Nothing of the project is trusted there: what a copy has made of its settings and plugins must not take effect.
    """
    async with Workspace(trial.folder, environment=_untrusting(), keep=False) as workspace:
        checker = Checker(home=workspace, tree=TreeScanner(trial.folder))

        async def check() -> str:
            before = await trial.tree()
            run = await checker.check(Condition(command=command), SECONDS)
            await restore(trial, before)
            return "" if run.held else _wrong(run)

        yield check


def _untrusting() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "TOOLWRIGHT_TRUST"}


def _wrong(run: CheckRun) -> str:
    ends = {"timed_out": f"did not end within {SECONDS:g} seconds", "not_run": "could not be run"}
    end = ends.get(run.status, f"ended with code {run.exit}")
    return f"`{run.command}` {end}:\n{run.output.strip()[-_SHOWN:]}"

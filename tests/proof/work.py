"""A piece of work towards a goal: a project, what an agent does to it and says of it, and the evidence at the end."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.session.trial import call, calls, says
from toolwright.models.scripted import ScriptedModel
from toolwright.proof.evidence import Evidence
from toolwright.proof.goal import goal_of
from toolwright.testing import make_workspace

Files = Mapping[str, str | None]
"""Texts by path; None for a file that is deleted. A text that begins with `#!` can be run."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """One run: what there is, what is done, and what is said of it."""

    name: str
    before: Files
    until: str
    does: Files = field(default_factory=dict[str, str | None])
    """Files that are written or deleted."""
    runs: str = ""
    """A command line of the agent's, after that."""
    says: str = "Done."
    kinds: tuple[str, ...] = ()
    """Of a cheat: kinds of reasons, any of which names it."""
    match: str = ""
    needs: str = ""
    """A program without which it is left out."""
    mutants: int = 1
    seconds: float = 100.0
    may_change: tuple[str, ...] = ()
    """Patterns of what the person lets the work change."""
    later: str = ""
    """What the agent leaves running in the background."""


def filled(text: str) -> str:
    """Name the Python that has the test runners."""
    return re.sub(r"@py\b", sys.executable, text)


def lay(root: Path, files: Files) -> None:
    for name, text in files.items():
        path = root / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text))
        if text.startswith("#!"):
            path.chmod(0o755)


async def evidence_of_work(project: Path, work: Work) -> Evidence:
    """Let a scripted agent do the work once, and return the verdict on it."""
    lay(project, work.before)
    made = [call("write", filePath=name, content=filled(text)) for name, text in work.does.items() if text is not None]
    marked = [name for name, text in work.does.items() if text is not None and text.startswith("#!")]
    gone = [name for name, text in work.does.items() if text is None]
    lines = [*(f"chmod +x {name}" for name in marked), *(f"rm -r {name}" for name in gone), filled(work.runs)]
    reads = [call("read", filePath=name) for name in work.does if (project / name).exists()]
    turns: list[Any] = []
    if reads:
        turns.append(calls(*reads))
    if made:
        turns.append(calls(*made))
    turns += [calls(call("bash", command=line)) for line in lines if line]
    if work.later:
        turns.append(calls(call("bash", command=filled(work.later), background=True)))
    turns.append(says(work.says))
    model = ScriptedModel(*turns)
    goal = goal_of(
        filled(work.until), match=work.match, seconds=work.seconds, mutants=work.mutants, may_change=work.may_change
    )
    config = {"permission": {"*": "allow"}}
    where = {"PATH": os.environ["PATH"]}
    async with (
        make_workspace(project, model=model, config=config, environment=where) as workspace,
        workspace.session() as session,
    ):
        # One round: the steps are used up then.
        result = await session.prompt("Make it work.", until=goal, budget={"steps": len(turns)})
    assert result.evidence is not None
    return result.evidence

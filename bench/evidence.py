"""What evidence costs: the ledger's share of a turn with a goal, and how long it takes to verify a long session.

python bench/evidence.py
"""

import asyncio
import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from toolwright.cli import main as tw
from toolwright.messages import ModelRef, Moment, TextPart, User
from toolwright.models.scripted import ScriptedModel, ScriptedTurn
from toolwright.proof.goal import goal_of
from toolwright.session.goals.checks_in_copies import Witnesses
from toolwright.session.goals.ledger import WorkComparison
from toolwright.testing import make_workspace
from toolwright.text.ids import new_id

FILES = 40
STEPS = 60
TURNS = 5
"""Turns whose median counts: what one of them takes depends on what else the machine does."""
PARTS = 5_000
MAX_SHARE = 0.02
MAX_SECONDS = 1.0


async def main() -> int:
    """Print the figures; 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOME"] = scratch
        await _share(Path(scratch) / "warm")
        share = median([await _share(Path(scratch) / f"project{number}") for number in range(TURNS)])
        seconds = await _verified(Path(scratch) / "other")
    print(f"the ledger's share of a turn's CPU   {share:.1%}   (target: under {MAX_SHARE:.0%})")
    print(f"to verify {PARTS:,} parts              {seconds:.2f} s   (target: under {MAX_SECONDS:g})")
    return 1 if share > MAX_SHARE or seconds > MAX_SECONDS else 0


async def _share(project: Path) -> float:
    """Of a turn with a goal and no mutants: our own processor time in the ledger against that of all of the turn."""
    project.mkdir()
    for number in range(FILES):
        (project / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n" * 20)
    (project / "test_all.py").write_text(
        "import unittest, m0\n\n\nclass Tests(unittest.TestCase):\n"
        "    def test(self):\n        self.assertEqual(m0.g(), 1)\n"
    )
    (project / "m0.py").write_text("def g():\n    return 0\n")
    reasons, look = WorkComparison.reasons, Witnesses.look
    spent, copied = _Spent(), _Spent()
    WorkComparison.reasons = spent.timed(reasons)  # type: ignore[method-assign]
    Witnesses.look = copied.timed(look)  # type: ignore[method-assign]
    turns = [_call("read", filePath=f"m{number % FILES}.py") for number in range(STEPS)]
    edit = _call("edit", filePath="m0.py", oldString="return 0", newString="return 1")
    model = ScriptedModel(*turns, edit, {"text": "The tests pass."})
    began, children = time.process_time(), os.times().children_user + os.times().children_system
    async with make_workspace(project, model=model, keep=True) as workspace, workspace.session() as session:
        goal = goal_of(f"{sys.executable} -m unittest -q", mutants=0)
        result = await session.prompt("fix it", until=goal)
    WorkComparison.reasons, Witnesses.look = reasons, look  # type: ignore[method-assign]
    assert result.evidence is not None
    whole = time.process_time() - began + os.times().children_user + os.times().children_system - children
    own, ledger = (
        f"{whole:.2f} s of CPU",
        f"{spent.seconds:.3f} in the ledger ({copied.seconds:.3f} in a copy)",
    )
    print(f"{STEPS + 2} steps and their checks: {own}, of these {ledger}; {result.evidence.verdict}")
    return spent.seconds / whole


class _Spent:
    """Processor time of our own process."""

    seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Any:
        """Return a function that notes what it takes."""

        async def timed(*given: Any, **more: Any) -> Any:
            began = time.process_time()
            try:
                return await function(*given, **more)
            finally:
                self.seconds += time.process_time() - began

        return timed


def _call(name: str, **arguments: str) -> ScriptedTurn:
    return {"tools": [{"name": name, "args": arguments}]}


async def _verified(project: Path) -> float:
    """Return the seconds that it takes to verify a session of many parts by the command line."""
    project.mkdir()
    async with make_workspace(project, keep=True) as workspace:
        session = workspace.sessions.create()
        for _ in range(PARTS // 50):
            user = User(
                id=new_id("msg"),
                session_id=session.id,
                time=Moment(created=1),
                agent="build",
                model=ModelRef(provider_id="", model_id=""),
            )
            session.conversation.add(user)
            for number in range(50):
                text = f"Part {number} " * 40
                session.conversation.put(
                    TextPart(id=new_id("prt"), session_id=session.id, message_id=user.id, text=text)
                )
        name = session.id
        data = workspace.folders.data.parent
    os.environ["XDG_DATA_HOME"] = str(data)
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        code = await asyncio.to_thread(tw, ["session", "verify", name, "--directory", str(project)])
    assert code == 0, shown.getvalue()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

"""A very long session: what is kept in memory and what a step reads and writes stay the same."""

import os
import re
import statistics
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.session.trial import calls, info_of, nothing_open, read, says
from toolwright.events import Event
from toolwright.models.info import ModelLimits
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel
from toolwright.session.budget import Budget
from toolwright.session.events import MessageUpdated
from toolwright.session.prompt import Prompt
from toolwright.testing import make_workspace

STEPS, CALLS = 1_000, 5
WARM = 100
"""Steps after which memory has to stay as it is: 500 calls."""


def _memory() -> float:
    """What this process holds, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _bytes_moved() -> int:
    """What this process has read and written so far."""
    return sum(map(int, re.findall(r"[rw]char: (\d+)", Path("/proc/self/io").read_text())))


@pytest.mark.slow
async def test_five_thousand_calls_in_one_session(project: Path) -> None:
    if not os.access("/proc/self/io", os.R_OK):
        pytest.skip("the system does not tell what this process reads and writes")
    (project / "a.txt").write_text(
        "".join(f"line {number} of the file that is read all the time\n" for number in range(40))
    )
    model = ScriptedModel(
        calls(*[read()] * CALLS, no_usage=True, repeat=STEPS),
        says("Done."),
        info=replace(DEFAULT_INFO, limits=ModelLimits(context=60_000, output=8_000)),
    )
    workspace = make_workspace(project, model=model, keep=True, config={"permission": {"doom_loop": "allow"}})
    moved: list[int] = []
    held: list[float] = []

    def watch(event: Event) -> None:
        if isinstance(event, MessageUpdated) and event.info.time.completed:
            moved.append(_bytes_moved())
            held.append(_memory())

    workspace.bus.subscribe(watch)
    turns = workspace.sessions.create(title="Long")
    message = (await turns.turns.answer(Prompt(text="Go on and on.", budget=Budget(steps=None)))).message
    assert message.text == "Done."
    stored = await workspace.sessions.messages(turns.id)
    assert sum(len(one.calls) for one in stored) == STEPS * CALLS
    assert nothing_open(*stored)
    assert sum(bool(info_of(one).summary) for one in stored if one.info.role == "assistant") > 5
    assert len(turns.conversation.messages) < 200
    assert held[-1] - held[WARM] < 12, f"{held[WARM]:.0f} MB, then {held[-1]:.0f} MB"
    steps = [later - earlier for earlier, later in pairwise(moved)]
    quarter = len(steps) // 4
    first, last = statistics.median(steps[WARM:quarter]), statistics.median(steps[-quarter:])
    assert last < 1.5 * first, f"{first} bytes, then {last} bytes"
    await workspace.close()

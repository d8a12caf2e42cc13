"""Agents in the background of one process: how many, and what memory they take.

    python bench/background.py --agents 50

A scripted model answers; each agent reads a file, runs a command and waits for the others, so that all are there at
once.
"""

import argparse
import asyncio
import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.waiting import until

from toolwright.models.scripted import ScriptedModel
from toolwright.session.prompt import Prompt
from toolwright.workspace import Workspace


def memory() -> float:
    """Return the megabytes that this process has in memory."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


async def measure(folder: Path, agents: int) -> None:
    (folder / "a.txt").write_text("hello\n" * 1000)
    task = {"description": "Look", "prompt": "Look into it.", "subagent_type": "general", "background": True}
    read = {"tools": [{"name": "read", "args": {"filePath": "a.txt"}}], "match": "^Look into it"}
    wait = {"command": "until [ -e go ]; do sleep 1; done", "description": "Wait", "timeout": 600_000}
    waits = {"tools": [{"name": "bash", "args": wait}], "match": "^Look into it"}
    done = {"text": "Seen.", "match": "^Look into it"}
    begin: Any = {"tools": [{"name": "task", "args": task} for _ in range(agents)]}
    script: list[Any] = [begin, *[read] * agents, *[waits] * agents, *[done] * agents, {"text": "Begun."}]
    model = ScriptedModel(*script, default={"text": "Heard."})
    config = {"background": {"agents": agents, "total": agents}, "sandbox": "off", "permission": {"*": "allow"}}
    environment = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
    async with Workspace(folder, model=model, config=config, environment=environment) as workspace:
        before = memory()
        session = workspace.sessions.create()
        await session.turns.answer(Prompt(text="Go.", waits=False))
        every = workspace.background.below(session.id)
        await until(lambda: sum("bash" in one.doing for one in every) == agents)
        print(f"{agents} at work at once: {memory():.0f} MB, {before:.0f} MB before them")
        (folder / "go").touch()
        await until(lambda: not session.turns.busy and all(one.state != "working" for one in every))
        states = [one.state for one in every]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"done": states.count("done"), "of": agents, "peak MB": round(peak)}))


def main() -> None:
    made = argparse.ArgumentParser()
    made.add_argument("--agents", type=int, default=50)
    options = made.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options.agents))


if __name__ == "__main__":
    main()

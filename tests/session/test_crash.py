"""Killed at any moment, a session loses nothing that was shown as done, leaves nothing running, and goes on."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.rounds import rounds
from tests.session.trial import call, calls, nothing_open, read, says, words
from tests.waiting import until
from toolwright.calls.parts import ToolPart
from toolwright.messages import TextPart
from toolwright.models.scripted import ScriptedModel, ScriptedTurn
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

KILLS = 50
LINES = 2
"""Lines between one kill and the next."""


def _long_session() -> list[ScriptedTurn]:
    """Words, reads, changes, commands and subagents, over and over, for a few seconds."""
    script: list[ScriptedTurn] = []
    for number in range(12):
        nap = call("bash", command=f"echo {number}; sleep 0.05", description="Wait a little")
        write = call("write", filePath=f"f{number}.txt", content=f"{number}\n" * 50)
        handed = call("task", description="Look", prompt=f"Sub no. {number}.", subagent_type="general")
        mark = rf"Sub no\. {number}\."
        script += [
            calls(read(), nap, text=f"Step {number}: looking at what there is.", chunk=3, gap=0.003),
            calls(write, handed, text="Now I write, and have it looked at."),
            calls(call("read", filePath=f"f{number}.txt"), match=mark),
            says(f"Sub {number} is done.", match=mark, chunk=2, gap=0.003),
        ]
    return [*script, says("All done.")]


@dataclass(kw_only=True)
class Run:
    """A run of the program in a process of its own, and the lines it has printed."""

    process: asyncio.subprocess.Process
    lines: list[Json] = field(default_factory=list)

    @classmethod
    async def start(cls, project: Path, home: Path, script: list[ScriptedTurn]) -> "Run":
        file = home / "script.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(script))
        command = ["-m", "toolwright", "run", "--yes", "--format", "json", "--model", f"scripted/{file}"]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            "--directory",
            str(project),
            "Go.",
            env={**os.environ, "HOME": str(home), "TOOLWRIGHT_TRUST": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return cls(process=process)

    async def read(self, count: int) -> None:
        """Wait until so many lines are there, or the end; a line that was cut short is none."""
        assert self.process.stdout is not None
        while len(self.lines) < count and (line := await self.process.stdout.readline()).endswith(b"\n"):
            self.lines.append(json.loads(line))

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        await self.read(sys.maxsize)
        await self.process.wait()


def _processes_of(home: Path) -> list[str]:
    """The processes that were started with this home."""
    mark = f"HOME={home}\0".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes() + b"\0":
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
    return found


async def _gone(home: Path) -> list[str]:
    """What is still there when there should be nothing any more."""
    with suppress(TimeoutError):
        await until(lambda: not _processes_of(home))
    return _processes_of(home)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, KILLS, rounds(7, 1)))
async def test_killed_at_any_moment(project: Path, number: int) -> None:
    home = project.parent / "project.home"
    (project / "a.txt").write_text("hello\nworld\n")
    run = await Run.start(project, home, _long_session())
    await run.read(number * LINES)
    await run.kill()
    assert await _gone(home) == []
    model = ScriptedModel(says("Here I am again."))
    workspace = make_workspace(project, model=model, keep=True)
    sessions = workspace.sessions
    for info in await sessions.listed():
        assert nothing_open(*await sessions.messages(info.id))
    await _nothing_is_lost(run.lines, workspace)
    assert len(run.lines) >= number * LINES, "otherwise the kill would come after the end"
    if await sessions.listed():
        session = await sessions.open((await sessions.latest()).id)
        assert (await session.prompt("Go on.", model=model.info.full_name)).text == "Here I am again."
        assert words(model.requests[0]).endswith("Go on.")
    await workspace.close()


async def _nothing_is_lost(shown: list[Json], workspace: Workspace) -> None:
    stored = {
        part.id: to_json(part)
        for session_id in {line["sessionID"] for line in shown}
        for message in await workspace.sessions.messages(session_id)
        for part in message.parts.values()
        if isinstance(part, TextPart | ToolPart)
    }
    for line in shown:
        if line["type"] in ("text", "tool_use"):
            assert stored[line["part"]["id"]] == line["part"]


@pytest.mark.slow
async def test_words_that_are_on_their_way_survive_a_kill(project: Path) -> None:
    """100, weakness 6"""
    home = project.parent / "project.home"
    run = await Run.start(project, home, [says("word " * 100_000, chunk=5, gap=0.02)])
    await run.read(1)
    workspace = make_workspace(project, model=ScriptedModel(says("Next.")), keep=True)

    async def reply() -> str:
        messages = await workspace.store.messages(run.lines[0]["sessionID"])
        return messages[-1].text if len(messages) == 2 else ""

    while not await reply():
        pass
    await run.kill()
    assert (await reply()).startswith("word word word")
    assert nothing_open(*await workspace.sessions.messages(run.lines[0]["sessionID"]))
    await workspace.close()


async def test_a_command_does_not_outlive_the_kill(project: Path) -> None:
    """99, weakness 6"""
    home = project.parent / "project.home"
    nap = call("bash", command="sleep 61.7 & sleep 61.8", description="Sleep long")
    run = await Run.start(project, home, [calls(nap)])
    await until(lambda: any("sleep 61.8" in one for one in _processes_of(home)))
    await run.kill()
    assert await _gone(home) == []

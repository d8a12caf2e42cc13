"""Killed at any moment, a session loses nothing that was shown as done, leaves nothing running, and goes on."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.session.stage import call, calls, nothing_open, read, says, words
from toolwright.messages import Message, TextPart
from toolwright.models.scripted import ScriptedModel, Turn
from toolwright.parts import ToolPart
from toolwright.testing import make_workspace
from toolwright.wire import to_json
from toolwright.workspace import Workspace

Json = dict[str, Any]

KILLS = 50
EARLIEST, LATEST = 0.15, 3.0
"""Seconds after the start between which the process is killed, evenly spread."""


def _long_session() -> list[Turn]:
    """Words, reads, changes, commands and subagents, over and over, for a few seconds."""
    script: list[Turn] = []
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


def _start(project: Path, home: Path, script: list[Turn]) -> "subprocess.Popen[bytes]":
    file = home / "script.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(script))
    command = [sys.executable, "-m", "toolwright", "run", "--yes", "--format", "json", "--model", f"scripted/{file}"]
    with (home / "lines.jsonl").open("wb") as lines:
        return subprocess.Popen(
            [*command, "--directory", str(project), "Go."],
            env={**os.environ, "HOME": str(home), "TOOLWRIGHT_TRUST": "1"},
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=subprocess.DEVNULL,
        )


def _shown(home: Path) -> list[Json]:
    """What was printed, whole lines only."""
    lines = (home / "lines.jsonl").read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


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
    """What is still there a moment later."""
    for _ in range(100):
        if not (left := _processes_of(home)):
            return []
        await asyncio.sleep(0.03)
    return left


@pytest.mark.slow
@pytest.mark.parametrize("number", range(KILLS))
async def test_killed_at_any_moment(project: Path, number: int) -> None:
    home = project.parent / "project.home"
    (project / "a.txt").write_text("hello\nworld\n")
    process = _start(project, home, _long_session())
    await asyncio.sleep(EARLIEST + (LATEST - EARLIEST) * number / KILLS)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert await _gone(home) == []
    model = ScriptedModel(says("Here I am again."))
    workspace = make_workspace(project, model=model, keep=True)
    sessions = workspace.sessions
    for info in sessions.listed():
        assert nothing_open(*sessions.messages(info.id))
    _nothing_is_lost(_shown(home), workspace)
    if sessions.listed():
        turns = sessions.open(sessions.latest().id)
        assert (await turns.prompt("Go on.", model=model.info.full_name)).text == "Here I am again."
        assert words(model.requests[0]).endswith("Go on.")
    await workspace.close()


def _nothing_is_lost(shown: list[Json], workspace: Any) -> None:
    if not shown:
        return
    stored = {
        part.id: to_json(part)
        for message in workspace.sessions.messages(shown[0]["sessionID"])
        for part in message.parts.values()
        if isinstance(part, TextPart | ToolPart)
    }
    for line in shown:
        if line["type"] in ("text", "tool_use"):
            assert stored[line["part"]["id"]] == line["part"]


@pytest.mark.slow
async def test_the_long_session_is_as_long_as_it_claims(project: Path) -> None:
    """Otherwise the kills would come after the end."""
    home = project.parent / "project.home"
    (project / "a.txt").write_text("hello\nworld\n")
    started = time.monotonic()
    process = _start(project, home, _long_session())
    assert process.wait(60) == 0
    assert time.monotonic() - started > LATEST * 0.8
    assert [line["part"]["text"] for line in _shown(home) if line["type"] == "text"][-1] == "All done."


@pytest.mark.slow
async def test_words_that_were_streamed_for_more_than_a_second_survive_a_kill(project: Path) -> None:
    """100, weakness 6"""
    home = project.parent / "project.home"
    process = _start(project, home, [says("word " * 100_000, chunk=5, gap=0.02)])
    async with make_workspace(project, keep=True) as onlooker:
        while not any("word word" in one.text for one in _stored(onlooker)):
            assert process.poll() is None
            await asyncio.sleep(0.1)
    process.kill()
    process.wait()
    async with make_workspace(project, model=ScriptedModel(says("Next.")), keep=True) as workspace:
        [_, reply] = _stored(workspace)
        assert reply.text.startswith("word word word")
        assert nothing_open(reply)


def _stored(workspace: Workspace) -> list[Message]:
    """The messages of all sessions that are on disk by now."""
    return [one for info in workspace.sessions.listed() for one in workspace.sessions.messages(info.id)]


async def test_a_command_does_not_outlive_the_kill(project: Path) -> None:
    """99, weakness 6"""
    home = project.parent / "project.home"
    nap = call("bash", command="sleep 61.7 & sleep 61.8", description="Sleep long")
    process = _start(project, home, [calls(nap)])
    for _ in range(400):
        if any("sleep 61.8" in one for one in _processes_of(home)):
            break
        await asyncio.sleep(0.02)
    else:
        pytest.fail("the command never started")
    process.kill()
    process.wait()
    assert await _gone(home) == []

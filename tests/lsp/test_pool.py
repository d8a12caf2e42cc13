"""How long servers live."""

import asyncio
import os
import select
import signal
import sys
from pathlib import Path

import pytest

from tests.lsp.stage import is_gone, notes_of, stage, started
from toolwright.lsp.pool import IDLE
from toolwright.protocols.json_types import Json


async def test_a_server_that_nobody_asks_is_ended_and_started_again_when_wanted(project: Path) -> None:
    async with stage(project, boxed=False) as workspace:
        await workspace.call("write", filePath="a.scr", content="fine\n")
        pool = workspace.languages.pool
        await pool.tidy(asyncio.get_running_loop().time())
        assert not is_gone(started(project)[0])
        await pool.tidy(asyncio.get_running_loop().time() + IDLE + 1)
        assert is_gone(started(project)[0])
        result = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert "bad: BAD" in result.output
        assert len(started(project)) == 2


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to tell how much memory is taken")
async def test_a_server_that_has_grown_too_large_is_ended_and_the_reason_is_told(project: Path) -> None:
    async with stage(project, boxed=False) as workspace:
        await workspace.call("write", filePath="a.scr", content="fine\n")
        workspace.languages.pool.largest = 1
        await workspace.languages.pool.tidy(asyncio.get_running_loop().time())
        assert is_gone(started(project)[0])
        result = await workspace.call("write", filePath="a.scr", content="BAD\n")
        assert "MB of memory" in result.output


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to tell how much memory is taken")
@pytest.mark.parametrize("boxed", [True, False])
async def test_how_much_memory_a_server_takes_is_known_in_its_box_too(project: Path, boxed: bool) -> None:
    async with stage(project, boxed=boxed) as workspace:
        await workspace.call("write", filePath="a.scr", content="fine\n")
        [slot] = workspace.languages.pool.slots.values()
        assert slot.client is not None
        memory = slot.client.running.memory()
    assert memory is not None
    assert memory > 1_000_000


async def test_a_change_waits_for_those_before_it_no_longer_than_for_the_server(project: Path) -> None:
    async with stage(project) as workspace:
        [found] = workspace.languages.finder.for_file(project / "a.scr")
        slot = workspace.languages.pool.slot(found)
        async with slot.turn():
            slot.patience = 0.01
            async with slot.turn():
                assert slot.looking.locked()
        assert not slot.looking.locked()


async def test_whoever_listens_hears_of_servers_that_come_and_go_and_of_what_they_find(project: Path) -> None:
    async with stage(project) as workspace:
        heard, pool = list[Json](), workspace.languages.pool
        workspace.bus.subscribe(lambda event: heard.append(event.to_json()) if event.type.startswith("lsp.") else None)
        states = list[str]()
        pool.on_change.append(lambda: states.extend(slot.state for slot in pool.slots.values()))
        for text in ("BAD\n", "BAD\n\n", "fine\n"):
            await workspace.call("write", filePath="a.scr", content=text)
        await pool.tidy(asyncio.get_running_loop().time() + IDLE + 1)
    assert states == ["starting", "running", "ended"]
    found = {"type": "lsp.client.diagnostics", "properties": {"serverID": "scripted", "path": f"{project}/a.scr"}}
    updated = {"type": "lsp.updated", "properties": {}}
    assert heard == [updated, updated, found, found, updated]


async def test_whoever_listens_hears_of_a_server_that_dies(project: Path) -> None:
    async with stage(project, "dies") as workspace:
        states, pool = list[str](), workspace.languages.pool
        pool.on_change.append(lambda: states.extend(slot.state for slot in pool.slots.values()))
        await workspace.call("write", filePath="a.scr", content="fine\n")
    assert states == ["starting", "running", "waiting"]


async def test_a_workspace_that_uses_no_server_starts_none(project: Path) -> None:
    async with stage(project) as workspace:
        await workspace.call("glob", pattern="*")
        assert "languages" not in workspace.__dict__ or not workspace.languages.pool.slots


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a kernel that tells when a process has ended")
def test_killing_our_process_leaves_no_server(project: Path) -> None:
    script = f"""
import asyncio, sys
from pathlib import Path
from toolwright.protocols.json_types import Json
from tests.lsp.stage import stage
async def main():
    async with stage(Path({str(project)!r}), "lingers", boxed=False) as workspace:
        await workspace.call("write", filePath="a.scr", content="fine\\n")
        print("ready", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
    ours, theirs = os.pipe()
    root = str(Path(__file__).parents[2])
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", script],
        {**os.environ, "PYTHONPATH": root},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 1)],
    )
    os.close(theirs)
    assert os.read(ours, 100).startswith(b"ready")
    os.close(ours)
    [server] = started(project)
    watched = os.pidfd_open(server)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    select.select([watched], [], [])
    os.close(watched)
    assert "exit" not in notes_of(project).read_text()

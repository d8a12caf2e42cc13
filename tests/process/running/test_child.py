"""Small programs beside us: they end in time, and whatever ends us ends them and all that they have started."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.process.at_work import KINDS
from tests.waiting import patience, until
from toolwright.process.running.child import Child, Ran, run_child, run_child_sync

ROOT = Path(__file__).parents[3]
TIES = sys.platform == "linux"
FAMILY = ["/bin/sh", "-c", "sleep 1000 & echo $! $$; wait"]
"""Two processes that tell their numbers."""
MASTER = """
import sys, time
from toolwright.process.running.child import Child
child = Child(sys.argv[2:])
print(child.stdout.readline().decode(), flush=True)
if sys.argv[1] == "leave":
    child.wait()
    child.leave()
if sys.argv[1] != "end":
    sys.stdin.read()
"""


def runs(pid: int) -> bool:
    """Tell whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def numbers(child: "subprocess.Popen[bytes]") -> list[int]:
    assert child.stdout is not None
    return [int(word) for word in child.stdout.readline().split()]


async def gone(pids: list[int]) -> bool:
    await until(lambda: not any(map(runs, pids)))
    return True


def test_what_a_program_prints_and_how_it_ends() -> None:
    assert run_child_sync(["/bin/sh", "-c", "cat; echo no >&2; exit 3"], data=b"in", seconds=None) == Ran(
        3, b"in", b"no\n"
    )
    assert run_child_sync(["/bin/sh", "-c", "kill -9 $$"], seconds=None).code == -9
    with pytest.raises(FileNotFoundError):
        run_child_sync(["/nowhere"], seconds=None)


async def test_a_program_whose_time_is_over_is_ended_with_all_that_it_started() -> None:
    child = Child(FAMILY)
    pids = numbers(child)
    with pytest.raises(TimeoutError):
        await asyncio.to_thread(child.finish, None, 0.01)
    assert await gone(pids)


async def test_a_caller_that_is_cancelled_ends_the_program(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    task = asyncio.create_task(run_child(["/bin/sh", "-c", f"sleep 1000 & echo $! $$ > {note}; wait"], seconds=None))
    await until(lambda: note.exists() and note.read_text().endswith("\n"))
    pids = [int(word) for word in note.read_text().split()]
    assert all(map(runs, pids))
    task.cancel()
    async with patience():
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await gone(pids)


@pytest.mark.skipif(not TIES, reason="only Linux ends a group with us")
async def test_what_a_program_has_left_running_ends_with_it() -> None:
    with Child(["/bin/sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"]) as child:
        pids = numbers(child)
        child.wait()
        assert all(map(runs, pids))
    assert await gone(pids)


@pytest.mark.skipif(not TIES, reason="only Linux ends a group with us")
@pytest.mark.parametrize("way", ["KILL", "end", "leave"])
async def test_whatever_ends_us_ends_it(way: str) -> None:
    family = ["/bin/sh", "-c", "sleep 1000 & echo $!"] if way == "leave" else FAMILY
    master = subprocess.Popen(
        [sys.executable, "-c", MASTER, way, *family], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    pids = await asyncio.to_thread(numbers, master)
    if way != "end":
        assert all(map(runs, pids))
        master.send_signal(signal.SIGKILL)
    await asyncio.to_thread(master.communicate)
    assert await gone(pids)


@pytest.mark.skipif(not TIES, reason="only Linux ends a group with us")
@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_left_of_a_killed_toolwright(outside: Path, kind: str) -> None:
    if "PDF" in kind and find_spec("pypdfium2") is None:
        pytest.skip("pypdfium2 is not installed")
    if "JavaScript" in kind and shutil.which("node") is None:
        pytest.skip("node is not installed")
    command = [sys.executable, "-m", "tests.process.at_work", kind, str(outside)]
    master = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    note = outside / "pids"
    await until(lambda: (note.exists() and note.read_text().endswith("\n")) or master.poll() is not None)
    assert master.poll() is None, master.communicate()[1].decode()
    pids = [int(word) for word in note.read_text().split()]
    assert all(map(runs, pids))
    os.kill(master.pid, signal.SIGKILL)
    await asyncio.to_thread(master.communicate)
    assert await gone(pids)

"""Nothing survives: whoever is killed or stopped, the kernel or the next one up ends all that was started."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.places import ours_of
from tests.waiting import until
from toolwright.errors import ToolError
from toolwright.process.box.box import Wrapped
from toolwright.process.keeper.family import descendants
from toolwright.process.running.scope import Program, Scope, Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes tried here are those of Linux")

LEFT = "setsid sleep 271828 & (sleep 271828 &) ; nohup sleep 271828 >/dev/null 2>&1 & echo begun; {}"
LEAVES = {"while the shell runs": LEFT.format("sleep 271828"), "after the shell has ended": LEFT.format("exit 0")}


@pytest.fixture(params=["bubblewrap", "landlock"])
async def boxed(request: pytest.FixtureRequest, project: Path, tmp_path: Path) -> AsyncIterator[Any]:
    """Starts a command in a box, and gives its scope with all processes from the keeper down."""
    scopes = Scopes()
    settings = SandboxSettings(mode=request.param)
    sandbox = Sandbox(
        settings, directory=project, root=project, ours=ours_of(tmp_path / "home", tmp_path / "data"), scopes=scopes
    )

    async def start(command: str) -> tuple[Scope, list[int]]:
        try:
            box = await sandbox.box()
        except ToolError as error:
            pytest.skip(str(error))
        if not box.anchored:
            pytest.skip("this machine has no namespaces for processes")
        wrapped = sandbox.wrap(box, ["/bin/bash", "-c", command], project)
        scope = await scopes.start(Program.of(wrapped, cwd=project, env={"PATH": os.environ["PATH"]}))
        await until(lambda: _sleepers(scopes) >= 3)
        return scope, descendants(scopes._keepers[True]._pid)

    yield scopes, start
    await scopes.close()
    sandbox.close()


def _sleepers(scopes: Scopes) -> int:
    return sum("271828" in _command(pid) for pid in descendants(scopes._keepers[True]._pid))


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _alive(pids: list[int]) -> list[int]:
    """Those that still run; one that is dead and waits to be noticed does not."""
    return [pid for pid in pids if "271828" in _command(pid)]


@pytest.mark.parametrize("command", LEAVES.values(), ids=LEAVES)
@pytest.mark.parametrize(
    "victims", [("toolwright-keep", "toolwright-lead"), ("toolwright-lead",), ("toolwright-keep",)]
)
async def test_whoever_is_killed_all_below_goes(boxed: Any, command: str, victims: tuple[str, ...]) -> None:
    scopes, start = boxed
    _, pids = await start(command)
    family = [scopes._keepers[True]._pid, *pids]
    for pid in [pid for pid in family if _name(pid) in victims]:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not _alive(pids))


@pytest.mark.parametrize("command", LEAVES.values(), ids=LEAVES)
async def test_a_leader_that_is_stopped_is_killed_with_all_below(boxed: Any, command: str) -> None:
    _, start = boxed
    _, pids = await start(command)
    for pid in [pid for pid in pids if _name(pid) == "toolwright-lead"]:
        os.kill(pid, signal.SIGSTOP)
    await until(lambda: not _alive(pids))


KILL_ALL = """
import asyncio, os, signal, sys
from pathlib import Path
from toolwright.machine.own_files import Ours
from toolwright.process.keeper.family import descendants
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings
from toolwright.process.running.scope import Program, Scopes

async def main():
    scopes, here = Scopes(), Path(sys.argv[2])
    settings = SandboxSettings(mode=sys.argv[1])
    sandbox = Sandbox(settings, directory=here, root=here, ours=Ours.of({"HOME": str(here)}), scopes=scopes)
    box = await sandbox.box()
    wrapped = sandbox.wrap(box, ["/bin/bash", "-c", "setsid sleep 314159 & sleep 314159"], here)
    await scopes.start(Program.of(wrapped, cwd=here, env={"PATH": os.environ["PATH"]}))
    keeper = scopes._keepers[True]._pid
    if not box.anchored or not Path(f"/proc/{keeper}/cmdline").read_text():
        return print(False)  # an ordinary user may have no namespaces: the anchored keeper has ended at once
    while sum("314159" in Path(f"/proc/{pid}/cmdline").read_text() for pid in descendants(keeper)) < 2:
        await asyncio.sleep(0.01)
    below = descendants(keeper)
    print(box.anchored, *below, flush=True)
    ours = [pid for pid in below if Path(f"/proc/{pid}/comm").read_text().startswith("toolwright-lead")]
    for pid in (keeper, *ours, os.getpid()):
        os.kill(pid, signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
async def test_even_if_all_of_us_are_killed_at_once(project: Path, rung: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILL_ALL, rung, str(project)], capture_output=True, text=True, check=False
    )
    if not done.stdout.startswith("True"):
        pytest.skip(f"this machine has no namespaces for processes, or no {rung}")
    pids = [int(word) for word in done.stdout.split()[1:]]
    await until(lambda: not any("314159" in _command(pid) for pid in pids))


async def test_what_takes_too_much_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolwright.process.running.quota import Quota

    monkeypatch.setattr("toolwright.process.running.keeper_client.make_quota", lambda **_: Quota(processes=True))
    scopes = Scopes(memory=64 * 1024 * 1024)
    try:
        hog = "import time; x = bytearray(200_000_000); time.sleep(60)"
        greedy = Program(argv=[sys.executable, "-c", hog], cwd=tmp_path, env={"PATH": os.environ["PATH"]})
        assert (await (await scopes.start(greedy)).ended()).excess == "memory"
    finally:
        await scopes.close()


async def test_what_has_too_many_temporary_files_is_ended(tmp_path: Path) -> None:
    scopes = Scopes(temp=4 * 1024 * 1024)
    try:
        temp = tmp_path / "temp"
        temp.mkdir()
        fill = f"import time\nopen({str(temp / 'x')!r}, 'wb').write(b'x' * 9_000_000)\ntime.sleep(600)"
        greedy = Program(
            argv=[sys.executable, "-c", fill],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            walls=Wrapped(argv=(), temp=temp),
        )
        assert (await (await scopes.start(greedy)).ended()).excess == "temp"
    finally:
        await scopes.close()


async def test_what_has_few_of_them_goes_on(tmp_path: Path) -> None:
    scopes = Scopes(temp=64 * 1024 * 1024)
    try:
        write = f"open({str(tmp_path / 'x')!r}, 'wb').write(b'x' * 9_000_000); import time; time.sleep(0.5)"
        modest = Program(
            argv=[sys.executable, "-c", write],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            walls=Wrapped(argv=(), temp=tmp_path),
        )
        assert (await (await scopes.start(modest)).ended()).code == 0
    finally:
        await scopes.close()

"""Commands: what a short one costs, how a flood of output fares, how soon a timeout is over.

Run as `python bench/shell.py`. Each figure stands beside its limit: bare bash, a bare pipe, the deadline itself.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolwright.definition import Result
from toolwright.inbox import Question, Reply
from toolwright.workspace import Workspace, open_workspace

COMMANDS = 200
GIGABYTE = f"yes {'0123456789' * 7} | head -c 1000000000"
WRITES = "import os\nfor _ in range(100_000): os.write(1, b'x' * 100)\n"
TREE = "sleep 60 & setsid sleep 60 & nohup sleep 60 & (sleep 60 &) ; trap '' TERM; sleep 60"
TIMEOUT = 1000


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        (base / "writes.py").write_text(WRITES)
        print(f"{'':34}{'ours':>12}{'limit':>12}{'ratio':>8}{'growth':>10}")
        for mode, limit in (("off", 4.0), ("bubblewrap", 25.0), ("landlock", 25.0)):
            await short_commands(base, mode, limit)
        async with workspace(base, "off") as opened:
            await flood(opened, "1 GB of output", GIGABYTE)
            await flood(opened, "10 MB in 100,000 writes", f"{sys.executable} -S writes.py")
            await deadline(opened)


async def short_commands(base: Path, mode: str, target: float) -> None:
    async with workspace(base, mode) as opened:
        first = await opened.call("bash", command="true")
        if first.error is not None:
            print(f"short command, {mode}: {first.output}")
            return
        bare, ours = [], []
        for _ in range(COMMANDS):
            bare.append(await timed(asyncio.to_thread(_bare, "true")))
            ours.append(await timed(opened.call("bash", command="true")))
    name = f"short command, {mode} (target {target:g})"
    row(name, statistics.median(ours) * 1000, statistics.median(bare) * 1000, "ms")


async def flood(opened: Workspace, name: str, command: str) -> None:
    folder = opened.config.directory
    bare = min([await timed(asyncio.to_thread(_through_pipe, command, folder)) for _ in range(3)])
    before = resident()
    ours = min([await timed(opened.call("bash", command=command)) for _ in range(3)])
    row(name, ours, bare, "s", resident() - before)


async def deadline(opened: Workspace) -> None:
    took = await timed(opened.call("bash", command=TREE, timeout=TIMEOUT))
    row("a tree of five, timed out", took, TIMEOUT / 1000, "s")


def row(name: str, ours: float, limit: float, unit: str, growth: float | None = None) -> None:
    grown = f"{growth:7.1f} MB" if growth is not None else ""
    print(f"{name:34}{ours:9.2f} {unit:2}{limit:9.2f} {unit:2}{ours / limit:7.1f}x{grown:>10}")


async def timed(work: Awaitable[Any]) -> float:
    started = time.perf_counter()
    result = await work
    if isinstance(result, Result) and result.error is not None:
        raise SystemExit(f"A call failed: {result.output}")
    return time.perf_counter() - started


def _bare(command: str) -> None:
    subprocess.run(["bash", "-c", command], check=True)


def _through_pipe(command: str, folder: Path) -> None:
    subprocess.run(f"{command} | cat > /dev/null", shell=True, check=True, cwd=folder)


def resident() -> float:
    """Megabytes of this process, at their highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


@asynccontextmanager
async def workspace(base: Path, mode: str) -> AsyncIterator[Workspace]:
    home = base / "home"
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "TOOLWRIGHT_CONFIG_CONTENT": f'{{"sandbox": "{mode}"}}'}
    async with open_workspace(base, answer=_yes, trust=True, environment=environment) as opened:
        yield opened


def _yes(_: Question) -> Reply:
    return Reply(kind="once")


if __name__ == "__main__":
    asyncio.run(main())

"""What extensions cost: a start that waits for none, the first call and the hundredth, the bare process beside them.

python bench/extensions.py
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

CALLS = 100
OVERHEAD = 2.0
"""Milliseconds that a warm call may cost beyond what the server itself takes."""
RUNS = 5
SERVER = Path(__file__).parent.parent / "tests" / "mcp" / "scripted.py"
COMMAND = [sys.executable, "-I", "-S", str(SERVER)]


def main() -> int:
    """Print the table; 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        project.mkdir()
        started = _start(project, Path(scratch, "home"))
        warm = asyncio.run(_mcp(project))
    return 1 if warm > OVERHEAD or not started else 0


def _start(project: Path, home: Path) -> bool:
    """`tw tool list` with two servers, one of which never answers, beside none."""
    tw = str(Path(sys.executable).parent / "tw")
    servers = {"good": {"type": "local", "command": COMMAND}, "slow": {"type": "local", "command": [*COMMAND, "hangs"]}}
    without = _fastest([tw, "tool", "list"], project, home)
    (project / "toolwright.json").write_text(json.dumps({"mcp": servers}))
    beside = _fastest([tw, "tool", "list", "--trust"], project, home)
    print(f"{'tw tool list':<36}{without:8.0f} ms CPU")
    print(f"{'  with two MCP servers':<36}{beside:8.0f} ms CPU")
    (project / "toolwright.json").unlink()
    return beside < 3 * without


def _fastest(command: list[str], project: Path, home: Path) -> float:
    """The least processor time of some runs, children included, in milliseconds."""
    spent = []
    for _ in range(RUNS):
        before = os.times()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(spent) * 1000


async def _mcp(project: Path) -> float:
    """The first call of an MCP tool and the hundredth; returns what a warm one costs beyond the bare process."""
    bare_first, bare_warm = await asyncio.to_thread(_bare)
    config = {"mcp": {"s": {"type": "local", "command": COMMAND}}}
    async with make_workspace(project, config=config) as workspace:
        first = await _timed(lambda: _call(workspace))
        times = [await _timed(lambda: _call(workspace)) for _ in range(CALLS)]
    warm = statistics.median(times[CALLS // 2 :])
    print(f"{'MCP tool, first call':<36}{first:8.1f} ms   bare process {bare_first:.1f} ms")
    print(f"{f'MCP tool, call {CALLS}':<36}{warm:8.2f} ms   bare process {bare_warm:.2f} ms")
    return warm - bare_warm


async def _call(workspace: Workspace) -> None:
    result = await workspace.call("s_echo", text="x")
    assert result.output == "x", result.output


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


def _bare() -> tuple[float, float]:
    """The same server, spoken to by hand: the time to its first answer, and the median of many."""
    started = time.perf_counter()
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(method: str, params: object) -> None:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            server.stdout.readline()

        ask("initialize", {"protocolVersion": "2025-11-25"})
        call = {"name": "echo", "arguments": {"text": "x"}}
        ask("tools/call", call)
        first = (time.perf_counter() - started) * 1000
        times = []
        for _ in range(CALLS):
            begun = time.perf_counter()
            ask("tools/call", call)
            times.append((time.perf_counter() - begun) * 1000)
        server.stdin.close()
    return first, statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())

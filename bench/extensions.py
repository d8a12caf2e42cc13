"""What extensions cost: a start that waits for none, the first call and the hundredth, the bare process beside them.

python bench/extensions.py
"""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from toolwright.testing import make_workspace

CALLS = 100
OVERHEAD = 2.0
"""Milliseconds that a warm call may cost beyond what the bare process itself takes."""
RUNS = 5
SERVER = Path(__file__).parent.parent / "tests" / "mcp" / "scripted.py"
COMMAND = [sys.executable, "-I", "-S", str(SERVER)]
SERVERS = {"good": {"type": "local", "command": COMMAND}, "slow": {"type": "local", "command": [*COMMAND, "hangs"]}}

PYTHON = (
    "default = {'description': 'd', 'args': {'text': {'type': 'string'}}, 'execute': lambda args, ctx: args['text']}\n"
)
JAVASCRIPT = (
    "export default { description: 'd', args: { text: { type: 'string' } }, execute: async (args) => args.text }\n"
)
PROGRAM = {
    "description": "d",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    "command": ["/bin/cat"],
}
PLUGIN = "def plugin(host):\n    return {'shell.env': lambda given, output: None}\n"

PYTHON_ECHO = [sys.executable, "-I", "-S", "-c", "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"]
NODE_ECHO = ["node", "-e", "process.stdin.on('data', (data) => process.stdout.write(data))"]

Bare = tuple[float, float]
"""Milliseconds to the first answer of a bare process, and for one of many."""


def main() -> int:
    """Print the table; 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        _lay_out(project)
        started = _start(project, Path(scratch, "home"))
        worst = asyncio.run(_calls(project))
    print(f"{'most that a warm call adds':<44}{worst:8.2f} ms   target {OVERHEAD:g} ms")
    return 0 if started and worst <= OVERHEAD else 1


def _lay_out(project: Path) -> None:
    """Ten tools of three kinds and two plugins."""
    tools, plugins = project / ".opencode/tool", project / ".opencode/plugin"
    tools.mkdir(parents=True)
    plugins.mkdir()
    for number in range(8):
        (tools / f"python{number}.py").write_text(PYTHON)
    (tools / "javascript.js").write_text(JAVASCRIPT)
    (tools / "program.json").write_text(json.dumps(PROGRAM))
    for number in range(2):
        (plugins / f"plugin{number}.py").write_text(PLUGIN)


def _start(project: Path, home: Path) -> bool:
    """`tw tool list` with all of it, one server of which never answers, beside none."""
    tw = str(Path(sys.executable).parent / "tw")
    without = _fastest([tw, "tool", "list", "--directory", str(project.parent)], project, home)
    (project / "toolwright.json").write_text(json.dumps({"mcp": SERVERS}))
    command = [tw, "tool", "list", "--trust"]
    loaded = _fastest(command, project, home, runs=1)
    beside = _fastest(command, project, home)
    (project / "toolwright.json").unlink()
    print(f"{'tw tool list':<44}{without:8.0f} ms")
    print(f"{'  ten tools, two plugins, two servers':<44}{beside:8.0f} ms   {loaded:.0f} ms the very first time")
    return beside < 3 * without


def _fastest(command: list[str], project: Path, home: Path, runs: int = RUNS) -> float:
    """The shortest of some runs, in milliseconds."""
    spent = []
    for _ in range(runs):
        begun = time.perf_counter()
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
        spent.append(time.perf_counter() - begun)
    return min(spent) * 1000


async def _calls(project: Path) -> float:
    """The first call of each kind of tool and the hundredth; returns what a warm one costs at most beyond the bare."""
    kinds: dict[str, Callable[[], Bare]] = {
        "python0": lambda: _bare_echo(PYTHON_ECHO),
        "javascript": lambda: _bare_echo(NODE_ECHO),
        "program": _bare_program,
        "good_echo": lambda: _bare_echo(COMMAND, _initialize),
    }
    if shutil.which("node") is None:
        del kinds["javascript"]
    added = []
    for name, measure in kinds.items():
        bare_first, bare_warm = await asyncio.to_thread(measure)
        first, warm = await _called(project, name)
        print(f"{name + ', first call':<44}{first:8.1f} ms   bare process {bare_first:.1f} ms")
        print(f"{f'{name}, call {CALLS}':<44}{warm:8.2f} ms   bare process {bare_warm:.2f} ms")
        added.append(warm - bare_warm)
    return max(added)


async def _called(project: Path, name: str) -> tuple[float, float]:
    times = []
    async with make_workspace(project, config={"mcp": {"good": SERVERS["good"]}}, pure=True) as workspace:
        session = workspace.session()
        for _ in range(CALLS):
            begun = time.perf_counter()
            result = await session.call(name, text="x")
            times.append((time.perf_counter() - begun) * 1000)
            assert result.error is None, result.output
    return times[0], _usual(times[CALLS // 2 :])


def _bare_echo(command: list[str], begin: "Callable[[subprocess.Popen[str]], None] | None" = None) -> Bare:
    """A process that answers lines, spoken to by hand."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        if begin is not None:
            begin(process)
        _ask(process, "tools/call", {"name": "echo", "arguments": {"text": "x"}})
        first = (time.perf_counter() - begun) * 1000
        times = []
        for _ in range(CALLS):
            begun = time.perf_counter()
            _ask(process, "tools/call", {"name": "echo", "arguments": {"text": "x"}})
            times.append((time.perf_counter() - begun) * 1000)
        process.stdin.close()
    return first, _usual(times)


def _initialize(process: "subprocess.Popen[str]") -> None:
    _ask(process, "initialize", {"protocolVersion": "2025-11-25"})


def _ask(process: "subprocess.Popen[str]", method: str, params: object) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    process.stdin.flush()
    process.stdout.readline()


def _bare_program() -> Bare:
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        subprocess.run(["/bin/cat"], input=b"x", capture_output=True, check=True)
        times.append((time.perf_counter() - begun) * 1000)
    return times[0], _usual(times)


def _usual(times: list[float]) -> float:
    """What a call takes when the machine does nothing else: of many the tenth part is faster."""
    return statistics.quantiles(times, n=10)[0]


if __name__ == "__main__":
    sys.exit(main())

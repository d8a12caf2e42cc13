"""What tools in files cost: a list of ten, the first call and the later ones of each kind, beside a bare process."""

import asyncio
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from toolwright.testing import make_workspace

CALLS = 100
PYTHON = "default = {'description': 'd', 'args': {}, 'execute': lambda args, ctx: 'x'}\n"
JAVASCRIPT = "export default { description: 'd', args: {}, execute: async () => 'x' }\n"
PLUGIN = "def plugin(host):\n    return {'shell.env': lambda given, output: None}\n"


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        _lay_out(project)
        await _listed(project, "ten tools and two plugins listed, first time")
        await _listed(project, "the same, remembered")
        for name in ("python0", *(("js",) if shutil.which("node") else ()), "program"):
            await _called(project, name)
        _bare("bare process", ["/bin/echo", "x"])


def _lay_out(project: Path) -> None:
    tools, plugins = project / ".opencode/tool", project / ".opencode/plugin"
    tools.mkdir(parents=True)
    plugins.mkdir()
    for number in range(8):
        (tools / f"python{number}.py").write_text(PYTHON)
    if shutil.which("node"):
        (tools / "js.js").write_text(JAVASCRIPT)
    (tools / "program.json").write_text(json.dumps({"description": "d", "command": ["/bin/echo", "x"]}))
    for number in range(2):
        (plugins / f"plugin{number}.py").write_text(PLUGIN)


async def _listed(project: Path, what: str) -> None:
    started = time.perf_counter()
    async with make_workspace(project) as workspace:
        await workspace.registry.tools("", "", workspace.session().ruled_agent)
        print(f"{what:<50} {(time.perf_counter() - started) * 1000:8.1f} ms")


async def _called(project: Path, name: str) -> None:
    async with make_workspace(project, pure=True) as workspace:
        session = workspace.session()
        times = []
        for _ in range(CALLS):
            started = time.perf_counter()
            result = await session.call(name)
            times.append((time.perf_counter() - started) * 1000)
            assert result.error is None, result.output
        print(f"{name + ': first call':<50} {times[0]:8.1f} ms")
        print(f"{name + ': median of the last half':<50} {sorted(times[CALLS // 2 :])[CALLS // 4]:8.2f} ms")


def _bare(what: str, argv: list[str]) -> None:
    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
    print(f"{what:<50} {(time.perf_counter() - started) * 1000:8.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())

"""Code of others that does not come to its end while it is loaded: it is left out, and nobody else waits for it."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Tw, home, tw
from tests.extensions.loading import HAS_NODE, have_all_loaded, needs_node
from tests.waiting import PATIENCE, patience, until
from toolwright.extension import Extension
from toolwright.extensions import environments
from toolwright.extensions.environments import Needs
from toolwright.machine.folders import Folders
from toolwright.process.programs.lookup import Lookup
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

__all__ = ["home", "tw"]

SPINNING = {
    "a spinning JavaScript file": ("a.js", "while (true) {}"),
    "a JavaScript file that waits": ("a.mjs", "await new Promise(() => setTimeout(() => {}, 1e9)); export default {}"),
    "a spinning Python file": ("a.py", "while True:\n    pass\n"),
    "a Python file that sleeps": ("a.py", "import time\ntime.sleep(100000)\n"),
}
GOOD = {
    ".js": "export default { description: 'd', args: {}, async execute() { return 'fine' } }\n",
    ".py": "good = {'description': 'd', 'args': {}, 'execute': lambda arguments, ctx: 'fine'}\n",
}


def write(project: Path, name: str, text: str) -> Path:
    file = project / ".toolwright" / "tool" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def left_out(workspace: Workspace) -> dict[str, str]:
    return {Path(one.name).name: one.reason for one in workspace.left_out()}


def hosts() -> list[int]:
    """The programs that load files for the workspaces of this process."""
    mine, parents = [], {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"python_host" in words or b"host.mjs" in words:
                mine.append(int(entry.name))
    return [pid for pid in mine if os.getpid() in ancestors(pid, parents)]


def ancestors(pid: int, parents: Mapping[int, int]) -> set[int]:
    above = set()
    while (pid := parents.get(pid, 0)) > 1:
        above.add(pid)
    return above


@pytest.fixture(params=SPINNING)
def spinning(request: pytest.FixtureRequest, project: Path) -> Path:
    name, text = SPINNING[request.param]
    if name.endswith("js") and not HAS_NODE:
        pytest.skip("node is not installed")
    return write(project, name, text)


async def test_a_file_that_cannot_be_loaded_in_time_is_left_out_and_ended(
    project: Path, spinning: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.extensions.host.STARTING", 0.5)
    async with make_workspace(project) as workspace, patience():
        result = await workspace.call("a")
        assert result.output.endswith(f"{spinning} is left out: it was not loaded within 0.5 seconds.")
        assert left_out(workspace) == {spinning.name: "it was not loaded within 0.5 seconds"}
        await until(lambda: hosts() == [])


async def test_others_go_on_meanwhile(project: Path, spinning: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.extensions.host.TURN", 0.1)
    ending = ".py" if spinning.suffix == ".py" else ".js"
    write(project, f"good{ending}", GOOD[ending])
    async with make_workspace(project) as workspace, patience():
        assert (await workspace.call("good")).output == "fine"
        assert left_out(workspace) == {spinning.name: "it is still being loaded"}
        assert (await workspace.call("good")).output == "fine"
    assert hosts() == []


async def test_a_list_goes_without_a_file_that_is_still_being_loaded_and_has_it_later(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.extensions.tool_files.PATIENCE", 0.1)
    mark = tmp_path / "mark"
    waits = f"import os, time\nwhile not os.path.exists({str(mark)!r}):\n    time.sleep(0.01)\n"
    write(project, "good.py", waits + GOOD[".py"])
    async with make_workspace(project) as workspace, patience():
        await have_all_loaded(workspace)
        assert "good" not in workspace.registry
        mark.touch()
        assert (await workspace.call("good")).output == "fine"
        assert workspace.left_out() == []


def test_a_call_of_a_built_in_tool_does_not_wait_for_it(
    project: Path, spinning: Path, tw: Tw, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = list[Path]()
    monkeypatch.setattr("toolwright.extensions.hosts.Hosts.load", lambda _, path: loaded.append(path))
    (project / "a.txt").write_text("text\n")
    assert "text" in tw("--trust", "tool", "call", "read", "a.txt").out
    assert tw("--trust", "tool", "show", "read").code == 0
    assert loaded == []


@needs_node
async def test_packages_that_do_not_come_in_time_are_told_and_their_installation_is_ended(
    project: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.extensions.environments.INSTALLING", 0.5)
    for name in ("uv", "npm", "bun"):
        program = outside / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho $$ >> {outside}/pids\nexec sleep 1000\n")
        program.chmod(0o755)
    # With a bun that installs nothing there is none that runs anything either.
    (outside / "bin" / "bun").unlink()
    write(project, "a.py", "# /// script\n# dependencies = ['x']\n# ///\n" + GOOD[".py"])
    write(project, "b.js", GOOD[".js"])
    (project / ".toolwright" / "package.json").write_text('{"dependencies": {"x": "1"}}')
    environment = {**os.environ, "PATH": f"{outside / 'bin'}:{os.environ['PATH']}"}
    async with make_workspace(project, environment=environment) as workspace, patience():
        await have_all_loaded(workspace)
        assert left_out(workspace) == {
            "a.py": "The packages that it needs were not installed within 0.5 seconds",
            "b.js": f"The packages of {project / '.toolwright' / 'package.json'} were not installed within 0.5 seconds",
        }
        pids = (outside / "pids").read_text().split()
        assert len(pids) == 2
        await until(lambda: not any(Path("/proc", pid).exists() for pid in pids))


async def test_a_plugin_whose_packages_are_still_being_installed_is_left_out_until_they_are(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.extensions.plugins.STARTING", 0.3)
    mark = tmp_path / "mark"

    async def command(needs: Needs, folders: Folders, lookup: Lookup, environment: Mapping[str, str]) -> Sequence[str]:
        await until(mark.exists)
        return await original(needs, folders, lookup, environment)

    original = environments.python_command
    monkeypatch.setattr("toolwright.extensions.hosts.python_command", command)
    plugin = project / ".toolwright" / "plugin" / "mine.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(GOOD[".py"] + "def plugin(host):\n    return {'tool': {'good': good}}\n")
    async with make_workspace(project) as workspace, patience():
        await have_all_loaded(workspace)
        assert "good" not in workspace.registry
        assert left_out(workspace) == {"mine.py": "it is left out until its packages are installed"}
        mark.touch()
        monkeypatch.setattr("toolwright.extensions.plugins.STARTING", float(PATIENCE))
        await until(lambda: not workspace.hosts.of(plugin).is_preparing)
        assert (await workspace.call("good")).output == "fine"
        assert workspace.left_out() == []


async def test_an_extension_that_does_not_start_in_time_is_left_out(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.extension.STARTING", 0.1)

    @asynccontextmanager
    async def start(_: Workspace) -> AsyncIterator[None]:
        await until(lambda: False)
        yield

    async with make_workspace(project, extensions=[Extension(name="slow", start=start)]) as workspace:
        assert left_out(workspace) == {"slow": "TimeoutError: it did not start within 0.1 seconds"}


async def test_an_extension_that_does_not_end_in_time_keeps_nothing_from_ending(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.extension.LEAVING", 0.1)

    @asynccontextmanager
    async def start(_: Workspace) -> AsyncIterator[None]:
        yield
        await until(lambda: False)

    async with patience(), make_workspace(project, extensions=[Extension(name="slow", start=start)]) as workspace:
        pass
    assert workspace.closed


@pytest.mark.parametrize("kind", ["a file", "an executable"])
async def test_a_call_that_takes_too_long_is_ended(project: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "a file":
        monkeypatch.setattr("toolwright.extensions.host.CALLING", 0.5)
        sleeps = "import time\na = {'description': 'd', 'args': {}, 'execute': lambda *_: time.sleep(1000)}\n"
        write(project, "a.py", sleeps)
    else:
        monkeypatch.setattr("toolwright.extensions.manifests.CALLING", 0.5)
        write(project, "a.json", '{"description": "d", "command": ["sleep", "1000"]}')
    async with make_workspace(project) as workspace, patience():
        result = await workspace.call("a")
        assert result.error is not None
        assert result.error.kind == "timeout"
        assert "minutes and was stopped" in result.output
        await until(lambda: hosts() == [])


async def test_what_a_person_is_asked_takes_no_time_of_a_call(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.extensions.host.CALLING", 0.5)
    text = "async def execute(arguments, ctx):\n    await ctx.ask('deploy', 'x')\n    return 'fine'\n"
    write(project, "a.py", text + "a = {'description': 'd', 'args': {}, 'execute': execute}\n")
    write(project, "b.json", '{"description": "d", "command": ["sleep", "1000"]}')
    monkeypatch.setattr("toolwright.extensions.manifests.CALLING", 1.0)

    async def answer(_: object) -> str:
        other = await workspace.call("b")
        assert other.error is not None
        assert other.error.kind == "timeout"
        return "once"

    config = {"permission": {"deploy": "ask"}}
    async with make_workspace(project, config=config, user=answer) as workspace, patience():
        assert (await workspace.call("a")).output == "fine"

"""Code of a project that its tools import: what a command changes in it does not run until somebody has looked."""

import asyncio
import os
import py_compile
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from toolwright.cli.commands import trust_command
from toolwright.config.content import content_of
from toolwright.config.trust import Trust, is_trusted
from toolwright.machine.folders import Folders
from toolwright.testing import ScriptedUser
from toolwright.workspace import Workspace, open_workspace

TOOL = """import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
import projlib

def execute(args, ctx):
    return projlib.word()

default = {"description": "d", "args": {}, "execute": execute}
"""
LIBRARY = "import deep.er\n\ndef word():\n    return deep.er.WORD\n"
EVIL = "open({mark!r}, 'w').close()\nWORD = 'evil'\n"
LATE = "def word():\n    import late\n    return late.WORD\n"


class Place:
    """A project whose tool imports from its sources."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project, self.home, self.mark = folder / "project", folder / "home", folder / "mark"
        self.home.mkdir()
        self.put(".toolwright/tool/mine.py", TOOL)
        self.put("src/projlib.py", LIBRARY)
        self.put("src/deep/__init__.py", "")
        self.put("src/deep/er.py", "WORD = 'plain'\n")
        monkeypatch.setenv("HOME", str(self.home))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            monkeypatch.delenv(name, raising=False)

    def put(self, name: str, text: str) -> None:
        (self.project / name).parent.mkdir(parents=True, exist_ok=True)
        (self.project / name).write_text(text)

    async def trust(self, *options: str) -> int:
        return await asyncio.to_thread(trust_command.main, ["--directory", str(self.project), *options])

    def open(self, **more: Any) -> Workspace:
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], **more.pop("environment", {})}
        config = {"permission": "allow", "sandbox": {"mode": "off"}}
        return open_workspace(
            self.project, config=config, environment=environment, answer=ScriptedUser.saying(*["once"] * 9), **more
        )

    async def word(self) -> str:
        """Return what the tool says in a workspace of its own."""
        async with self.open() as workspace:
            return (await workspace.call("mine")).output


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


async def test_what_a_tool_imports_is_looked_at_with_the_trust(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await place.trust() == 0
    shown = capsys.readouterr().out
    assert "imported  src/projlib.py" in shown
    assert "imported  src/deep/er.py" in shown
    assert await place.word() == "plain"
    assert await place.trust("--check") == 0


async def test_a_change_in_it_does_not_run_and_is_asked_about(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    await place.trust()
    assert await place.word() == "plain"
    place.put("src/deep/er.py", EVIL.format(mark=str(place.mark)))
    capsys.readouterr()
    async with place.open() as workspace:
        result = await workspace.call("mine")
        assert result.error is not None
        [left] = [one for one in workspace.left_out() if one.name.endswith("mine.py")]
        assert "src/deep/er.py has changed since you trusted the project" in left.reason
    assert not place.mark.exists()
    assert await place.trust("--check") == 1
    assert "changed src/deep/er.py" in capsys.readouterr().out
    assert is_trusted(place.project, Folders.of()), "all else counts as before"
    assert await place.trust() == 0
    assert await place.word() == "evil"


async def test_a_change_between_two_calls_of_one_workspace_does_not_run_either(place: Place) -> None:
    await place.trust()
    async with place.open() as workspace:
        assert (await workspace.call("mine")).output == "plain"
        place.put("src/deep/er.py", EVIL.format(mark=str(place.mark)))
        result = await workspace.call("mine")
        assert result.error is not None
    assert not place.mark.exists()


async def test_what_is_imported_only_when_the_tool_runs_is_refused_and_looked_at_the_next_time(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.put("src/projlib.py", LATE)
    place.put("src/late.py", "WORD = 'late'\n")
    await place.trust()
    async with place.open() as workspace:
        result = await workspace.call("mine")
    assert result.error is not None
    assert "src/late.py has changed since you trusted the project, or was no part of it" in result.output
    capsys.readouterr()
    assert await place.trust() == 0
    assert "src/late.py" in capsys.readouterr().out
    assert await place.word() == "late"


async def test_bytecode_beside_what_is_imported_is_not_run(place: Place) -> None:
    await place.trust()
    module = place.project / "src" / "deep" / "er.py"
    before, text = module.stat(), module.read_text()
    evil = EVIL.format(mark=str(place.mark)).ljust(before.st_size)
    module.write_text(evil)
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    py_compile.compile(str(module), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    module.write_text(text)
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert await place.word() == "plain"
    assert not place.mark.exists()


@pytest.mark.parametrize("plant", ["src/json.py", "src/projlib/__init__.py", "src/deep/er/__init__.py"])
async def test_a_module_that_comes_before_one_that_was_looked_at_does_not_run(place: Place, plant: str) -> None:
    await place.trust()
    place.put(plant, EVIL.format(mark=str(place.mark)))
    await place.word()
    assert not place.mark.exists()


async def test_a_module_without_its_source_does_not_run(place: Place) -> None:
    await place.trust()
    place.put("src/evil.py", EVIL.format(mark=str(place.mark)))
    compiled = str(place.project / "evil.pyc")
    py_compile.compile(str(place.project / "src/evil.py"), cfile=compiled, doraise=True)
    (place.project / "src/deep/er.py").unlink()
    shutil.copy(str(compiled), place.project / "src/deep/er.pyc")
    await place.word()
    assert not place.mark.exists()


async def test_in_a_project_that_nobody_trusts_a_tool_of_the_users_imports_nothing_of_it(place: Place) -> None:
    tool = place.home / ".config" / "toolwright" / "tool" / "theirs.py"
    tool.parent.mkdir(parents=True)
    tool.write_text("import projlib\ndefault = {'description': 'd', 'args': {}, 'execute': lambda args, ctx: 'x'}\n")
    place.put("src/projlib.py", EVIL.format(mark=str(place.mark)))
    async with place.open(environment={"PYTHONPATH": str(place.project / "src")}) as workspace:
        result = await workspace.call("theirs")
    assert result.error is not None
    assert not place.mark.exists()


async def test_who_trusts_whatever_is_there_is_asked_nothing(place: Place) -> None:
    async with place.open(trust=True) as workspace:
        assert (await workspace.call("mine")).output == "plain"
        place.put("src/deep/er.py", "WORD = 'longer'\n")
        assert (await workspace.call("mine")).output == "longer"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_the_same_holds_for_javascript(place: Place) -> None:
    text = "export default { description: 'd', args: {}, execute: async () => word }\n"
    text = f"import {{ word }} from '../../src/lib.js'\n{text}"
    place.put(".toolwright/tool/other.js", text)
    place.put("src/lib.js", "import { inner } from './inner'\nexport const word = inner\n")
    place.put("src/inner.mjs", "export const inner = 'plain'\n")
    await place.trust()
    async with place.open() as workspace:
        assert (await workspace.call("other")).output == "plain"
    place.put(
        "src/inner.mjs",
        f"import fs from 'node:fs'\nfs.writeFileSync('{place.mark}', '')\nexport const inner = 'evil'\n",
    )
    async with place.open() as workspace:
        result = await workspace.call("other")
        assert result.error is not None
    assert not place.mark.exists()
    await place.trust()
    async with place.open() as workspace:
        assert (await workspace.call("other")).output == "evil"


async def test_the_same_holds_for_a_plugin_that_is_an_extension_itself(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    text = (
        TOOL.partition("def execute")[0]
        + "from toolwright import Extension\nextension = Extension(name=projlib.word())\n"
    )
    place.put(".toolwright/plugin/typed.py", text)
    await place.trust()
    async with place.open() as workspace:
        assert "plain" in {one.name for one in workspace.extensions}
    for name in ("projlib", "deep", "deep.er"):
        del sys.modules[name]
    place.put("src/deep/er.py", EVIL.format(mark=str(place.mark)))
    async with place.open() as workspace:
        assert any("has changed since you trusted the project" in one.reason for one in workspace.left_out())
    assert not place.mark.exists()
    assert "projlib" not in sys.modules


async def test_what_is_trusted_again_for_another_reason_keeps_what_was_imported(place: Place) -> None:
    await place.trust()
    folders = Folders.of()
    trust = Trust(folders.trust)
    place.put(".toolwright/agent/new.md", "Be new.\n")
    trust.add(content_of(place.project, folders, trust.imported(place.project)))
    assert await place.word() == "plain"

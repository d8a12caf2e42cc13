"""The programs in examples/ do what they say, with a scripted model in the place of a real one."""

import os
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolwright.testing import ScriptedModel, make_workspace

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def fresh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_every_program_says_how_it_is_used(program: Path) -> None:
    first = program.read_text("utf-8")
    assert f"python examples/{program.name}" in first


def test_a_script(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = load("script").ask("What is this?", ScriptedModel({"text": "A project."}), project)
    assert result.error is None
    assert capsys.readouterr().out == "A project.\n"


async def test_a_chat(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await load("chat").chat(["Hi.", "And you?"], ScriptedModel({"text": "Hello."}, {"text": "Fine."}), project)
    assert capsys.readouterr().out == "Hello.\nFine.\n"


async def test_an_approval_service(project: Path) -> None:
    def bash(command: str) -> dict[str, object]:
        return {"name": "bash", "args": {"command": command, "description": "x"}}

    script: list[Any] = [{"tools": [bash("echo fine")]}, {"tools": [bash("rm -rf build")]}, {"text": "Done."}]
    result = await load("approvals").work("Clean up.", ScriptedModel(*script), project)
    assert [call.result.error is None for call in result.calls] == [True, False]
    assert "trash folder" in result.calls[1].result.output
    assert result.text == "Done."


async def test_a_custom_tool(project: Path) -> None:
    model = ScriptedModel(
        {"tools": [{"name": "tickets", "args": {"state": "open"}}]},
        {"tools": [{"name": "close_ticket", "args": {"id": "1", "reason": "fixed"}}]},
        {"text": "Closed."},
    )
    result = await load("custom_tool").work("Close what is done.", model, project)
    assert "Login fails on Mondays" in result.calls[0].result.output
    assert result.calls[1].result.output == "Ticket 1 is closed: fixed"


async def test_an_extension_that_redacts(project: Path) -> None:
    (project / "notes.txt").write_text("the key is sk-abcdefgh1234\n")
    redact = load("extension_redact")
    shown = await redact.show("notes.txt", project)
    assert "sk-…" in shown
    assert "abcdefgh" not in shown
    async with make_workspace(project, extensions=[redact.extension]) as workspace:
        result = await workspace.call("webfetch", url="https://example.com/?k=sk-abcdefgh1234")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_an_extension_with_a_life_of_its_own(project: Path) -> None:
    model = ScriptedModel({"tools": [{"name": "note", "args": {"text": "Tests live in t/."}}]}, {"text": "Noted."})
    await load("extension_journal").work("Look around.", model, project)
    assert (project / "journal.md").read_text() == "Tests live in t/.\n"
    again = ScriptedModel({"text": "Yes.", "match": "Noted so far:\\n- Tests live in t/.\\n\\nAnything\\?"})
    assert (await load("extension_journal").work("Anything?", again, project)).text == "Yes."


async def test_structured_output(project: Path) -> None:
    said = '{"verdict": "approve", "summary": "Fine.", "files": ["a.py"]}'
    review = await load("structured").review(ScriptedModel({"text": said}), project)
    assert (review.verdict, review.files) == ("approve", ["a.py"])


async def test_ten_agents_at_once(project: Path) -> None:
    names = [f"{number}.txt" for number in range(10)]
    for name in names:
        (project / name).write_text(f"the file {name}\n")
    model = ScriptedModel({"text": "It is a file.", "repeat": 10})
    results = await load("ten_agents").explain_all(names, model, project)
    assert [result.text for result in results] == ["It is a file."] * 10
    assert len({result.session_id for result in results}) == 10


@pytest.mark.slow
def test_the_programs_are_clean_for_a_strict_type_checker() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, PROGRAMS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLES.parent,
    )
    assert done.returncode == 0, done.stdout


_PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
PYRIGHT = shutil.which("basedpyright", path=_PATH) or shutil.which("pyright", path=_PATH)


@pytest.mark.slow
@pytest.mark.skipif(not PYRIGHT, reason="neither basedpyright nor pyright is installed")
def test_the_programs_are_clean_for_the_other_type_checker() -> None:
    done = subprocess.run(
        [str(PYRIGHT), "--level", "error", "--pythonpath", sys.executable, *map(str, PROGRAMS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLES.parent,
    )
    assert done.returncode == 0, done.stdout

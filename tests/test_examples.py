"""The programs in examples/ do what they say, with a scripted model in the place of a real one."""

import ast
import asyncio
import os
import re
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
TYPED = Path(__file__).with_name("test_typed.py")


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


async def test_subagents(project: Path) -> None:
    def task(name: str) -> dict[str, Any]:
        return {"name": "task", "args": {"description": "Review", "prompt": "Review it.", "subagent_type": name}}

    write: Any = {"name": "write", "args": {"filePath": "x.txt", "content": "x"}}
    tasks: Any = [task("security"), task("style")]
    lead = ScriptedModel({"tools": tasks}, {"text": "Both are content."})
    helper = ScriptedModel({"tools": [write]}, default={"text": "Fine."})
    result = await load("subagents").review(lead, helper, project)
    assert result.text == "Both are content."
    assert [call.tool for call in result.refused] == ["write"]
    assert not (project / "x.txt").exists()


async def test_mcp_both_ways(project: Path) -> None:
    example, told = load("mcp_both_ways"), asyncio.Queue[str]()
    async with example.opened(project) as workspace:
        serving = asyncio.create_task(example.serve(workspace, 0, told.put_nowait))
        assert "http://127.0.0.1:" in await told.get() + await told.get()
        serving.cancel()
        assert (await example.ask_server(workspace, "stock", article="tea")).output == "5 tea"


async def test_a_loop_of_ones_own(project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    function = {"name": "read", "arguments": '{"filePath": "a.txt"}'}
    replies: list[Any] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]},
        {"role": "assistant", "content": "It says hello."},
    ]
    seen: list[Any] = []

    async def model(messages: list[Any], offered: list[Any]) -> Any:
        seen.append((list(messages), [one["function"]["name"] for one in offered]))
        return replies.pop(0)

    assert await load("own_loop").work("What does it say?", model, project) == "It says hello."
    assert "hello" in seen[1][0][-1]["content"]
    assert "read" in seen[0][1]
    assert "write" not in seen[0][1]


async def test_an_evaluation(project: Path) -> None:
    def writing(name: str, content: str) -> Any:
        return {"tools": [{"name": "write", "args": {"filePath": name, "content": content}}]}

    example = load("evaluate_two")
    able = ScriptedModel(writing("greeting.txt", "hello\n"), default={"text": "Done."})
    unable = ScriptedModel(default={"text": "No."})
    results = await example.tried(able, example.TASKS[:1], 1)
    assert [one.passed for one in results] == [True]
    assert "may be noise" in await example.main(unable, unable)


async def test_an_approval_after_a_restart(project: Path) -> None:
    example = load("approve_later")
    write: Any = {"name": "write", "args": {"filePath": "notes.md", "content": "Hello.\n"}}
    [asked] = await example.ask(ScriptedModel({"tools": [write]}), "Publish the notes.", project)
    assert [one.id for one in await example.listed(project)] == [asked.id]
    assert (await example.go_on(ScriptedModel({"text": "Published."}), asked.id, "once", project)).text == "Published."
    assert (project / "notes.md").read_text() == "Hello.\n"


async def test_a_bot_on_a_server(tmp_path: Path) -> None:
    from tests.server.harness import TOKEN, served
    from toolwright.client import Client

    calls: Any = [{"name": "bash", "args": {"command": one, "description": "x"}} for one in ("ls", "make deploy")]
    async with (
        served(tmp_path / "p", {"tools": calls}, {"text": "Never."}, config={"permission": {"bash": "ask"}}) as server,
        Client(server.url, token=TOKEN) as client,
    ):
        result = await load("server_bot").work(client, "Go.")
    assert result.finish == "refused"
    assert [call.result.error is None for call in result.calls][1] is False


def test_a_local_model(project: Path) -> None:
    from toolwright import open_workspace

    example = load("local_model")
    workspace = open_workspace(project, config=example.settings("http://127.0.0.1:1/v1", "small"))
    assert workspace.default_model == "mine/small"
    assert workspace.connections.open("mine/small").info.limits.context == 32_768
    assert workspace.config.warnings == ()


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (
            ['{"kind": "refund", "order": "A1", "amount": 99}', '{"kind": "refund", "order": "A1", "amount": 12.5}'],
            "12.50 for A1",
        ),
        (['{"kind": "refusal", "reason": "It was paid once."}'], "It was paid once."),
    ],
)
async def test_types_from_end_to_end(project: Path, answers: list[str], told: str) -> None:
    example = load("typed_triage")
    look: Any = {"tools": [{"name": "order", "args": {"number": "A1"}}]}
    said: list[Any] = [{"text": one} for one in answers]
    model = ScriptedModel(look, *said)
    assert await example.triage("I was charged twice.", model, example.Orders(paid={"A1": 12.5}), project) == told


def lines_of(program: Path) -> int:
    """Lines that are neither blank nor the heading."""
    text = program.read_text("utf-8")
    heading = ast.get_docstring(ast.parse(text), clean=False) or ""
    return sum(bool(line.strip()) for line in text.replace(f'"""{heading}"""', "", 1).splitlines())


def test_the_table_of_programs_says_how_long_they_are() -> None:
    page = (EXAMPLES.parent / "docs" / "moving.md").read_text("utf-8")
    rows = re.findall(r"\[(\w+)\.py\]\([^)]*\), (\d+)", page)
    assert len(rows) >= 12
    assert {name: int(count) for name, count in rows} == {name: lines_of(EXAMPLES / f"{name}.py") for name, _ in rows}


def test_every_program_is_short() -> None:
    assert [one.name for one in PROGRAMS if len(one.read_text("utf-8").splitlines()) >= 60] == []


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
        [str(PYRIGHT), "--level", "error", "--pythonpath", sys.executable, *map(str, (*PROGRAMS, TYPED))],
        capture_output=True,
        text=True,
        check=False,
        cwd=EXAMPLES.parent,
    )
    assert done.returncode == 0, done.stdout

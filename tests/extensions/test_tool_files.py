"""Tools in files: found, described, run in a host of their own, found again when they change."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.loading import have_all_loaded, needs_node
from tests.extensions.twins import HEAD, TWINS
from tests.files.tool_case import lay_out, rows
from tests.waiting import until
from toolwright.extensions.tool_files import tool_id, with_defaults
from toolwright.process.programs import nodejs
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.workspace import Workspace

ROWS = list(rows("custom_tools"))


RENAMED = {"v1.2": "v1_2", ".secret": "secret"}
"""Names that no provider takes become names that all do."""
CHOSEN: dict[str, list[str]] = {
    "custom-0012": ["ok", "ok"],  # a name is found in any case
    "custom-0020": ["ok"],  # what is no text is told as JSON
    "custom-0022": ["ok"],
    "custom-0023": ["ok"],
    "custom-0026": ["ok"],
    "custom-0027": ["ok", "schema", "schema"],
    "custom-0028": ["ok", "ok"],
    "custom-0031": ["ok", "schema"],
    "custom-0032": ["ok", "schema"],
    "custom-0034": ["schema", "ok"],
}
"""What becomes of the rows whose recorded outcome is an accident: arguments are checked, values told as JSON."""


@needs_node
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(project: Path, row: Json) -> None:
    if any(name.endswith(".ts") for name in row["files"]) and not _strips_types():
        pytest.skip("this node cannot run TypeScript")
    lay_out(project, row["files"])
    await _hold(project, row)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["id"] in TWINS], ids=lambda row: f"{row['id']} {row['note']}"
)
async def test_recorded_rows_as_the_same_tools_in_python(project: Path, row: Json) -> None:
    files = dict(zip((name.replace(".js", ".py") for name in row["files"]), TWINS[row["id"]], strict=True))
    lay_out(project, {name: HEAD + text for name, text in files.items()})
    await _hold(project, row)


async def _hold(project: Path, row: Json) -> None:
    """What is recorded of the tools in a project is so."""
    user = ScriptedUser.saying("once", "once")
    async with make_workspace(project, config=row.get("config"), user=user) as workspace:
        before = set(workspace.registry.ids())
        session = workspace.session()
        tools = await workspace.registry.tools("", "", session.ruled_agent)
        added = {tool.id for tool in tools} - before
        assert added == {RENAMED.get(name, name) for name in row["tools_added"]}
        for number, (call, expected) in enumerate(zip(row["calls"], row["results"], strict=True)):
            result = await session.call(call["tool"], **call["args"])
            _check(result, expected, CHOSEN.get(row["id"], [])[number : number + 1])
        asked = [one for one in user.questions if one.permission != row.get("id")]
        expected_questions = [one["permission"] for one in row["asked"]]
        if row["id"] != "custom-0045":  # a rule that says ask is asked by us
            assert [one.permission for one in asked] == expected_questions


def _check(result: Any, expected: Json, chosen: list[str]) -> None:
    wanted = chosen[0] if chosen else expected["status"]
    if wanted == "ok":
        assert result.error is None, result.output
        if not chosen:
            assert (result.output, result.title) == (expected["output"], expected["title"])
    elif wanted == "schema":
        assert result.error is not None
        assert result.error.kind == "schema"
    else:
        assert result.error is not None
        assert expected.get("message", "") in result.output


def _strips_types() -> bool:
    import subprocess

    if shutil.which("bun") is not None:
        return True
    if shutil.which("node") is None:
        return True
    said = subprocess.run(
        ["node", "-p", "!!require('module').stripTypeScriptTypes"], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() == "true"


@needs_node
@pytest.mark.skipif(_strips_types(), reason="this machine runs TypeScript by itself")
@pytest.mark.parametrize("beside", [True, False])
async def test_typescript_on_an_old_node_needs_a_package_beside_it(
    project: Path, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodejs, "PACKAGE", "nothing_of_this_name")
    _write(
        project, "z.ts", "const x: number = 2\nexport default { description: 'd', args: {}, execute: () => `${x}` }\n"
    )
    if beside:
        package = project / ".opencode" / "node_modules" / "sucrase"
        package.mkdir(parents=True)
        (package / "index.js").write_text("exports.transform = (text) => ({ code: text.replace(': number', '') })\n")
    async with make_workspace(project) as workspace:
        result = await workspace.call("z")
        told = [one.reason for one in workspace.left_out()]
    if beside:
        assert (result.output, told) == ("2", [])
    else:
        assert (
            "TypeScript needs bun, or node 22.18 or newer (pip install 'toolwright[js]' brings one), or one of esbuild"
            in told[0]
        )


PYTHON = """
import asyncio
import os
from pathlib import Path

async def _ask(args, ctx):
    await ctx.ask({"permission": "launch", "patterns": ["x", "y"], "always": ["x*"], "metadata": {"why": 1}})
    return "went"

async def _wait(args, ctx):
    ctx.metadata({"title": "waiting", "metadata": {"step": 1}})
    Path(args["mark"]).write_text("begun")
    try:
        await asyncio.sleep(3600)
    finally:
        Path(args["mark"]).write_text(f"aborted {ctx.abort.aborted}")

def _throw(args, ctx):
    raise RuntimeError("no token")

def _record(action):
    return {"description": "d", "args": {}, "execute": action}

default = _record(lambda args, ctx: "add")
mul = _record(lambda args, ctx: "mul")
bad = _record(_throw)
listed = _record(lambda args, ctx: ["a", "b"])
shown = _record(lambda args, ctx: {"output": "o", "title": "t", "metadata": {"k": 1},
    "attachments": [{"mime": "image/png", "url": "data:image/png;base64,aa"}]})
typed = {"description": "d", "args": {"n": {"type": "number", "minimum": 1, "maximum": 5},
    "m": {"type": "integer", "default": 10}}, "execute": lambda args, ctx: repr(sorted(args.items()))}
context = _record(lambda args, ctx: ",".join([ctx.agent, str(ctx.abort.aborted), str(Path(ctx.directory).is_dir())]))
ask = _record(_ask)
wait = {"description": "d", "args": {"mark": {"type": "string"}}, "execute": _wait}
leave = _record(lambda args, ctx: os._exit(3))
number, helper = 5, _throw
"""


async def test_the_same_tools_in_python(project: Path) -> None:
    _write(project, "math.py", PYTHON)
    user = ScriptedUser.saying("once")
    async with _opened(project, {"permission": {"launch": "ask"}}, user) as workspace:
        session = workspace.session()
        assert await _outputs(session, "math", "math_mul", "math_bad", "math_listed") == [
            "add",
            "mul",
            "no token",
            '["a", "b"]',
        ]
        shown = await session.call("math_shown")
        assert (shown.title, shown.metadata["k"], shown.attachments[0].mime) == ("t", 1, "image/png")
        assert (await session.call("math_context")).output == "build,False,True"
        assert (await session.call("math_ask")).output == "went"
        assert [(one.permission, one.patterns) for one in user.questions] == [("launch", ("x", "y"))]
        assert "math_number" not in workspace.registry
        assert "math_helper" not in workspace.registry


async def test_arguments_are_checked_and_defaults_filled_in_before_the_tool_runs(project: Path) -> None:
    _write(project, "math.py", PYTHON)
    async with _opened(project) as workspace:
        session = workspace.session()
        wrong = await session.call("math_typed", n=0)
        assert wrong.error is not None
        assert wrong.error.kind == "schema"
        assert (await session.call("math_typed", n=3)).output == "[('m', 10), ('n', 3)]"


async def test_a_tool_made_of_a_function_keeps_its_schema_and_its_forms(project: Path) -> None:
    _write(
        project,
        "shop.py",
        "from datetime import date\nfrom toolwright import tool, ToolContext, ToolError\n"
        "@tool\nasync def due(ctx: ToolContext, ship_by: date) -> str:\n"
        '    """When."""\n    if ship_by.year < 2000:\n        raise ToolError("too early", "not_found")\n'
        "    return f'{ship_by:%d.%m.} {ctx.agent}'\n",
    )
    async with _opened(project) as workspace:
        session = workspace.session()
        assert (await session.call("shop_due", shipBy="2026-01-31")).output == "31.01. build"
        early = await session.call("shop_due", shipBy="1999-01-31")
        assert early.error is not None
        assert (early.output, early.error.kind) == ("too early", "not_found")
        wrong = await session.call("shop_due", shipBy="soon")
        assert wrong.error is not None
        assert wrong.error.kind == "schema"


async def test_a_rule_for_the_id_asks_unless_the_tool_asks_itself(project: Path) -> None:
    _write(project, "math.py", PYTHON)
    user = ScriptedUser.saying("once", "once")
    async with _opened(project, {"permission": {"math*": "ask", "launch": "ask"}}, user) as workspace:
        session = workspace.session()
        await _outputs(session, "math_mul", "math_ask")
    assert [one.permission for one in user.questions] == ["math_mul", "launch"]


async def test_a_denied_tool_is_not_offered_and_not_run(project: Path) -> None:
    _write(project, "math.py", PYTHON)
    async with _opened(project, {"permission": {"math_mul": "deny"}}) as workspace:
        session = workspace.session()
        assert "math_mul" not in {one.id for one in await workspace.registry.tools("", "", session.ruled_agent)}
        result = await session.call("math_mul")
        assert result.error is not None
        assert result.error.kind == "denied"


async def test_changed_new_and_removed_files_count_from_the_next_call(project: Path) -> None:
    file = _write(project, "word.py", _saying("one"))
    async with _opened(project) as workspace:
        session = workspace.session()
        assert (await session.call("word")).output == "one"
        _write(project, "word.py", _saying("two and more"))
        assert (await session.call("word")).output == "two and more"
        _write(project, "other.py", _saying("new"))
        assert (await session.call("other")).output == "new"
        file.unlink()
        gone = await session.call("word")
        assert gone.error is None or gone.error.kind == "unknown_tool"
        assert "There is no tool 'word'" in gone.output


async def test_a_changed_helper_file_changes_the_tool(project: Path) -> None:
    helper = project / ".opencode/lib/words.py"
    helper.parent.mkdir(parents=True)
    helper.write_text("WORD = 'first'\n")
    _write(project, "word.py", "from lib.words import WORD\n" + _saying("x").replace("'x'", "WORD"))
    async with _opened(project) as workspace:
        session = workspace.session()
        assert (await session.call("word")).output == "first"
        helper.write_text("WORD = 'second one'\n")
        assert (await session.call("word")).output == "second one"


async def test_a_broken_file_is_told_with_its_line_and_stops_nothing_else(project: Path) -> None:
    _write(project, "good.py", _saying("fine"))
    _write(project, "raises.py", "x = 1\nraise ValueError('not today')\n")
    _write(project, "broken.py", "x = (\n")
    _write(project, "empty.py", "x = 1\n")
    async with _opened(project) as workspace:
        session = workspace.session()
        assert (await session.call("good")).output == "fine"
        await have_all_loaded(workspace)
        told = {Path(one.name).name: one.reason for one in workspace.left_out()}
    assert told["raises.py"] == "2: ValueError: not today"
    assert told["broken.py"].startswith("1: SyntaxError")
    assert "exports no tool" in told["empty.py"]


async def test_the_name_of_a_built_in_is_never_taken(project: Path) -> None:
    _write(project, "read.py", _saying("mine"))
    (project / "a.txt").write_text("text\n")
    async with _opened(project) as workspace:
        session = workspace.session()
        await have_all_loaded(workspace)
        assert "text" in (await session.call("read", filePath="a.txt")).output
        assert "already has that name" in workspace.left_out()[0].reason


async def test_a_second_list_starts_no_process(project: Path) -> None:
    _write(project, "word.py", _saying("one"))
    async with _opened(project) as workspace:
        await workspace.registry.tools("", "", workspace.session().ruled_agent)
    async with _opened(project) as workspace:
        tools = await workspace.registry.tools("", "", workspace.session().ruled_agent)
        assert "word" in {tool.id for tool in tools}
        assert not any(host.is_running for host in workspace.hosts._hosts.values())


async def test_a_tool_that_ends_its_process_fails_alone(project: Path) -> None:
    _write(project, "math.py", PYTHON)
    async with _opened(project) as workspace:
        session = workspace.session()
        ended = await session.call("math_leave")
        assert "ended with code 3" in ended.output
        assert (await session.call("math_mul")).output == "mul"


async def test_a_stopped_call_reaches_the_tool(project: Path, tmp_path: Path) -> None:
    _write(project, "math.py", PYTHON)
    mark = tmp_path / "mark"
    async with _opened(project) as workspace:
        session = workspace.session()
        waiting = asyncio.create_task(session.call("math_wait", mark=str(mark)))
        await until(mark.exists)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert mark.read_text() == "aborted True"


async def test_what_a_tool_prints_is_no_part_of_the_answer(project: Path) -> None:
    _write(project, "word.py", "print('noise')\nimport os\nos.write(1, b'{\"noise\": 1}\\n')\n" + _saying("one"))
    async with _opened(project) as workspace:
        assert (await workspace.call("word")).output == "one"


async def test_a_long_output_is_truncated_as_any_other(project: Path) -> None:
    _write(project, "long.py", _saying("x").replace("'x'", "'line\\n' * 5000"))
    async with _opened(project) as workspace:
        result = await workspace.call("long")
        assert result.metadata["truncated"] is True
        assert Path(result.metadata["outputPath"]).read_text().count("line") == 5000


async def test_an_executable_with_a_manifest(project: Path) -> None:
    manifest = {
        "description": "d",
        "parameters": {
            "properties": {"q": {"type": "string"}, "n": {"type": "integer", "default": 4}},
            "required": ["q"],
        },
        "command": ["./run.sh"],
    }
    _write(project, "up.json", json.dumps(manifest))
    script = _write(
        project, "run.sh", '#!/bin/sh\nread line\ncase "$line" in *fail*) echo oh no >&2; exit 3;; esac\necho "$line"\n'
    )
    script.chmod(0o755)
    async with _opened(project) as workspace:
        session = workspace.session()
        assert json.loads((await session.call("up", q="word")).output) == {"q": "word", "n": 4}
        failed = await session.call("up", q="fail")
        assert failed.error is not None
        assert "ended with code 3: oh no" in failed.output
        wrong = await session.call("up")
        assert wrong.error is not None
        assert wrong.error.kind == "schema"


async def test_an_untrusted_project_brings_no_tools(project: Path) -> None:
    mark = project / "mark"
    _write(project, "evil.py", f"open({str(mark)!r}, 'w').close()\n" + _saying("evil"))
    _write(project, "run.json", json.dumps({"description": "d", "command": ["touch", str(mark)]}))
    (project / ".opencode/package.json").write_text('{"dependencies": {"left-pad": "1"}}')
    async with make_workspace(project, trust=False) as workspace:
        session = workspace.session()
        await workspace.registry.tools("", "", session.ruled_agent)
        for name in ("evil", "run"):
            assert "There is no tool" in (await session.call(name)).output
    assert not mark.exists()
    assert not (project / ".opencode/node_modules").exists()


async def test_what_changes_after_it_was_trusted_does_not_run(project: Path) -> None:
    from toolwright.config.content import content_of
    from toolwright.config.trust import Trust

    _write(project, "word.py", _saying("one"))
    async with make_workspace(project, trust=False) as probe:
        Trust(probe.folders.trust).add(content_of(project, probe.folders))
    async with make_workspace(project, trust=False) as workspace:
        session = workspace.session()
        assert (await session.call("word")).output == "one"
        _write(project, "word.py", _saying("another"))
        assert "There is no tool" in (await session.call("word")).output
        assert "changed since you trusted" in workspace.left_out()[0].reason


async def test_the_users_own_tools_need_no_trust(project: Path) -> None:
    home = project.parent / f"{project.name}.home"
    folder = home / ".config/toolwright/tools"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text(_saying("mine"))
    async with make_workspace(project, trust=False) as workspace:
        assert (await workspace.call("mine")).output == "mine"


@pytest.mark.slow
async def test_a_file_gets_the_packages_it_asks_for_in_an_environment_of_its_own(project: Path, tmp_path: Path) -> None:
    wheel = _wheel(tmp_path, "yaml", "VERSION = 'not ours'\n")
    header = f'# /// script\n# dependencies = ["yaml @ {wheel.as_uri()}"]\n# ///\n'
    asking = "async def _ask(args, ctx):\n    await ctx.ask('launch', 'x')\n    return yaml.VERSION\n"
    _write(
        project,
        "own.py",
        f"{header}import yaml\nfrom toolwright import tool\n{asking}"
        "default = {'description': 'd', 'args': {}, 'execute': _ask}\n"
        "@tool\ndef typed() -> str:\n    'D.'\n    return yaml.VERSION\n",
    )
    user = ScriptedUser.saying("once")
    async with _opened(project, {"permission": {"launch": "ask"}}, user) as workspace:
        session = workspace.session()
        assert await _outputs(session, "own", "own_typed") == ["not ours", "not ours"], workspace.left_out()
        assert [one.permission for one in user.questions] == ["launch"]


def _wheel(folder: Path, name: str, text: str) -> Path:
    """The smallest package that pip installs without a network."""
    import zipfile

    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", text)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


def test_names() -> None:
    assert tool_id(Path("math.py"), "default") == "math"
    assert tool_id(Path("math.py"), "math") == "math"
    assert tool_id(Path("math.py"), "mul") == "math_mul"
    assert tool_id(Path("v1.2.js"), "default") == "v1_2"
    assert with_defaults({"a": 1}, {"properties": {"a": {"default": 2}, "b": {"default": 3}}}) == {"a": 1, "b": 3}


def _write(project: Path, name: str, text: str) -> Path:
    file = project / ".opencode/tool" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{name}.new")
    fresh.write_text(text)
    os.replace(fresh, file)  # noqa: PTH105 - a new file, so that its stamp differs however fast we are
    return file


def _saying(word: str) -> str:
    return f"default = {{'description': 'd', 'args': {{}}, 'execute': lambda args, ctx: {word!r}}}\n"


def _opened(project: Path, config: Json | None = None, user: ScriptedUser | None = None) -> Workspace:
    return make_workspace(project, config=config, user=user)


async def _outputs(session: Session, *tools: str) -> list[str]:
    return [(await session.call(tool)).output for tool in tools]

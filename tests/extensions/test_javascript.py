"""Tools in JavaScript and TypeScript, on whatever runs them here."""

import asyncio
import os
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from tests.extensions.loading import have_all_loaded, needs_node
from tests.waiting import until
from toolwright.process.programs import nodejs
from toolwright.process.programs.lookup import Lookup
from toolwright.testing import ScriptedUser, make_workspace

PACKAGED = pytest.mark.skipif(find_spec(nodejs.PACKAGE) is None, reason="toolwright[js] is not installed")
pytestmark = needs_node


async def test_the_context_crosses_the_boundary(project: Path) -> None:
    _write(
        project,
        "z.js",
        "export default { description: 'd', args: {}, async execute(args, ctx) {\n"
        "  await ctx.ask({ permission: 'launch', patterns: ['x', 'y'], always: ['x*'], metadata: { why: 1 } })\n"
        "  ctx.metadata({ title: 'half', metadata: { step: 1 } })\n"
        "  return { output: [ctx.agent, ctx.directory, ctx.worktree, typeof ctx.callID].join(), title: 't',\n"
        "    metadata: { k: 1 }, attachments: [{ mime: 'image/png', url: 'data:image/png;base64,aa' }] } } }\n",
    )
    user = ScriptedUser.saying("once")
    async with make_workspace(project, config={"permission": {"launch": "ask"}}, user=user) as workspace:
        result = await workspace.call("z")
    assert result.output == f"build,{project},{project},string"
    assert (result.title, result.metadata["k"], result.attachments[0].mime) == ("t", 1, "image/png")
    assert [(one.permission, one.patterns) for one in user.questions] == [("launch", ("x", "y"))]


async def test_a_refusal_is_an_error_the_tool_may_catch(project: Path) -> None:
    _write(
        project,
        "z.js",
        "const asked = (ctx) => ctx.ask({ permission: 'launch', patterns: ['x'] })\n"
        "export const plain = { description: 'd', args: {}, execute: async (a, ctx) => { await ctx.ask("
        "{ permission: 'launch', patterns: ['x'] }) } }\n"
        "export const caught = { description: 'd', args: {}, execute: (a, ctx) => asked(ctx).catch(() => 'caught') }\n",
    )
    async with make_workspace(project, config={"permission": {"launch": "deny"}}) as workspace:
        session = workspace.session()
        refused = await session.call("z_plain")
        assert refused.error is not None
        assert refused.error.kind == "denied"
        assert (await session.call("z_caught")).output == "caught"


async def test_a_stopped_call_reaches_the_signal(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    _write(
        project,
        "z.js",
        "import fs from 'node:fs'\nexport default { description: 'd', args: {}, execute: (args, ctx) => "
        f"new Promise((resolve, reject) => {{ fs.writeFileSync('{mark}', 'begun')\n"
        f"  ctx.abort.addEventListener('abort', () => {{ fs.writeFileSync('{mark}', 'aborted'); reject(1) }}) }}) }}\n",
    )
    async with make_workspace(project) as workspace:
        waiting = asyncio.create_task(workspace.call("z"))
        await until(mark.exists)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert mark.read_text() == "aborted"


async def test_a_tool_that_never_yields_is_ended_with_its_process(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    _write(
        project,
        "z.js",
        "import fs from 'node:fs'\n"
        "export const spin = { description: 'd', args: {}, execute() { "
        f"fs.writeFileSync('{mark}', String(process.pid)); for (;;) {{}} }} }}\n"
        "export const fine = { description: 'd', args: {}, execute: async () => 'fine' }\n",
    )
    async with make_workspace(project) as workspace:
        session = workspace.session()
        waiting = asyncio.create_task(session.call("z_spin"))
        await until(lambda: mark.exists() and mark.read_text())
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await session.call("z_fine")).output == "fine"
        assert not Path(f"/proc/{mark.read_text()}").exists()


async def test_a_tool_that_ends_its_process_fails_alone(project: Path) -> None:
    _write(
        project,
        "z.js",
        "export const leave = { description: 'd', args: {}, execute: async () => process.exit(3) }\n"
        "export const fine = { description: 'd', args: {}, execute: async () => 'fine' }\n",
    )
    async with make_workspace(project) as workspace:
        session = workspace.session()
        assert "ended with code 3" in (await session.call("z_leave")).output
        assert (await session.call("z_fine")).output == "fine"


async def test_changed_files_and_helpers_count_from_the_next_call(project: Path) -> None:
    helper = project / ".opencode/lib/words.js"
    helper.parent.mkdir(parents=True)
    helper.write_text("export const word = 'first'\n")
    _write(project, "z.js", "import { word } from '../lib/words'\n" + _saying("word"))
    async with make_workspace(project) as workspace:
        session = workspace.session()
        assert (await session.call("z")).output == "first"
        helper.write_text("export const word = 'second one'\n")
        assert (await session.call("z")).output == "second one"
        _write(project, "z.js", _saying("'third'"))
        assert (await session.call("z")).output == "third"


async def test_what_is_printed_is_no_part_of_the_answer(project: Path) -> None:
    _write(
        project,
        "z.js",
        "import { execSync } from 'node:child_process'\nconsole.log('noise')\nprocess.stdout.write('{}\\n')\n"
        "execSync('echo more', { stdio: 'inherit' })\n" + _saying("'clean'"),
    )
    async with make_workspace(project) as workspace:
        assert (await workspace.call("z")).output == "clean"


async def test_a_broken_file_is_told_and_stops_nothing_else(project: Path) -> None:
    _write(project, "good.js", _saying("'fine'"))
    _write(project, "raises.js", "const x = 1\nthrow new Error('not today')\nexport default 1\n")
    _write(project, "broken.js", "export default {\n")
    async with make_workspace(project) as workspace:
        assert (await workspace.call("good")).output == "fine"
        await have_all_loaded(workspace)
        told = {Path(one.name).name: one.reason for one in workspace.left_out()}
    assert told["raises.js"] == "2: Error: not today"
    assert "SyntaxError" in told["broken.js"]


async def test_schemas_say_what_was_described(project: Path) -> None:
    _write(
        project,
        "z.js",
        "import { tool } from '@opencode-ai/plugin'\nconst s = tool.schema\n"
        "export default tool({ description: 'd', args: { q: s.string().min(2).describe('what'), "
        "n: s.number().int().optional(), e: s.enum(['a', 'b']).default('a'),"
        " l: s.array(s.object({ k: s.boolean() })).optional(),"
        " u: s.union([s.string(), s.number()]).nullable().optional(), t: s.string().trim().optional(),"
        " even: s.number().refine((n) => n % 2 === 0, 'must be even').optional() },"
        " execute: async (args) => JSON.stringify(args) })\n",
    )
    async with make_workspace(project) as workspace:
        session = workspace.session()
        [tool] = [one for one in await workspace.registry.tools("", "", session.ruled_agent) if one.id == "z"]
        properties = tool.parameters["properties"]
        assert properties["q"] == {"type": "string", "minLength": 2, "description": "what"}
        assert tool.parameters["required"] == ["q"]
        assert properties["l"]["items"]["required"] == ["k"]
        assert (await session.call("z", q="ab", t=" x ")).output == '{"e":"a","q":"ab","t":"x"}'
        odd = await session.call("z", q="ab", even=3)
        assert odd.error is not None
        assert (odd.output, odd.error.kind) == ("even: must be even", "schema")


@pytest.mark.skipif(which("node") is None, reason="node is not installed on this machine")
async def test_typescript_runs_where_it_can_and_is_told_where_not(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodejs, "PACKAGE", "nothing_of_this_name")
    _write(
        project,
        "z.ts",
        "interface Args { n: number }\nenum Size { Small = 2 }\n"
        "export default { description: 'd', args: { n: { type: 'number' } },\n"
        "  async execute(args: Args): Promise<string> { return String(args.n * Size.Small) } }\n",
    )
    stripper = project / ".opencode/node_modules/typescript"
    async with make_workspace(project) as workspace:
        result = await workspace.call("z", n=2)
        told = [one.reason for one in workspace.left_out()]
    if result.error is None:
        assert result.output == "4"
    else:
        assert "TypeScript needs bun, or node 22" in told[0]
        stripper.mkdir(parents=True)
        # A double of the compiler that is enough for this file: what is asked of it is the point.
        (stripper / "index.js").write_text(
            "exports.transpileModule = () => ({ outputText: \"export default { description: 'd', "
            "args: { n: { type: 'number' } }, execute: async (args) => String(args.n * 2) }\" })\n"
        )
        async with make_workspace(project) as workspace:
            assert (await workspace.call("z", n=2)).output == "4"


async def test_without_a_runtime_the_file_is_told_and_what_brings_one(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodejs, "PACKAGE", "nothing_of_this_name")
    _write(project, "z.js", _saying("'x'"))
    empty = tmp_path / "empty"
    empty.mkdir()
    async with make_workspace(project, environment={"PATH": str(empty)}) as workspace:
        await workspace.call("z")
        assert "Neither bun nor node is on the PATH. pip install 'toolwright[js]'" in workspace.left_out()[0].reason


@PACKAGED
async def test_the_packaged_node_runs_typescript_where_the_path_has_nothing(project: Path, tmp_path: Path) -> None:
    _write(
        project,
        "z.ts",
        "import { unit } from './units'\nenum Size { Small = 2 }\nasync function execute(): Promise<string> {\n"
        "  return Size.Small + unit\n}\nexport default { description: 'd', args: {}, execute }\n",
    )
    (project / ".opencode/tool/units.ts").write_text("export const unit: string = ' mm'\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    async with make_workspace(project, environment={"PATH": str(empty)}) as workspace:
        assert (await workspace.call("z")).output == "2 mm"


@PACKAGED
@pytest.mark.parametrize(("version", "taken"), [("v20.0.0", False), ("v999.0.0", True), ("nonsense", False)])
async def test_a_node_of_the_machine_is_taken_if_it_is_newer_than_the_packaged_one(
    outside: Path, version: str, taken: bool
) -> None:
    program = outside / "node"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    assert (await nodejs.newest_node(Lookup(str(outside))) == str(program)) is taken


def _saying(expression: str) -> str:
    return f"export default {{ description: 'd', args: {{}}, execute: async () => {expression} }}\n"


def _write(project: Path, name: str, text: str) -> None:
    file = project / ".opencode/tool" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{name}.new")
    fresh.write_text(text)
    os.replace(fresh, file)  # noqa: PTH105 - a new file, so that its stamp differs however fast we are

"""A project full of code that nobody has trusted: none of it starts, whatever is done in it. Each thing by itself."""

import json
import py_compile
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from toolwright.config.content import content_of
from toolwright.config.trust import Trust
from toolwright.errors import ToolwrightError
from toolwright.machine.folders import Folders
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace

Files = dict[str, Any]

EVERYTHING = {
    "foreign": {"claude": ["agents", "commands", "hooks", "mcp"], "codex": ["hooks", "mcp"], "gemini": ["mcp"]},
    "permission": "allow",
    "sandbox": {"mode": "off"},
}
"""A user who wants all there is, and allows it all; nothing of what starts is kept from leaving its mark."""
PYTHON = "open('MARK', 'w').close()\n"
MADE = "{'description': 'd', 'args': {}, 'execute': lambda args, ctx: 'x'}"
EXPORTED = "export default { description: 'd', args: {}, execute: async () => 'x' }\n"
SCRIPT = "import fs from 'node:fs'\nfs.writeFileSync('MARK', '')\n"
TOUCH = ["/bin/sh", "-c", "touch MARK"]
HOOK = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "touch MARK"}]}]}}
SERVER = {"type": "local", "command": TOUCH}
THEIR_SERVER = {"mcpServers": {"evil": {"command": TOUCH[0], "args": TOUCH[1:]}}}

THINGS: dict[str, Files] = {
    "a tool in Python": {".opencode/tool/evil.py": f"{PYTHON}default = {MADE}\n"},
    "a tool in JavaScript": {".opencode/tool/evil.js": f"{SCRIPT}{EXPORTED}"},
    "a tool that is a program": {".toolwright/tools/evil.json": {"description": "d", "command": TOUCH}},
    "a plugin in Python": {".opencode/plugin/evil.py": f"{PYTHON}def plugin(host):\n    return {{}}\n"},
    "a plugin in JavaScript": {".opencode/plugins/evil.js": f"{SCRIPT}export const Evil = async () => ({{}})\n"},
    "an extension in a file": {
        ".toolwright/plugin/evil.py": f"{PYTHON}from toolwright import Extension\nextension = Extension(name='evil')\n"
    },
    "a plugin that the settings name": {
        "opencode.json": {"plugin": ["./lib/evil.py"]},
        "lib/evil.py": f"{PYTHON}def plugin(host):\n    return {{}}\n",
    },
    "a plugin that settings of OpenCode 2 name": {
        "opencode.json": {"plugins": [{"package": "./lib/evil.py"}]},
        "lib/evil.py": f"{PYTHON}def plugin(host):\n    return {{}}\n",
    },
    "a server": {"toolwright.json": {"mcp": {"evil": SERVER}}},
    "a server of OpenCode 2": {"opencode.json": {"mcp": {"servers": {"evil": SERVER}}}},
    "a server in .mcp.json": {".mcp.json": THEIR_SERVER},
    "a server of Codex": {
        ".codex/config.toml": f"[mcp_servers.evil]\ncommand = '{TOUCH[0]}'\nargs = ['-c', 'touch MARK']\n"
    },
    "a server of Gemini CLI": {".gemini/settings.json": THEIR_SERVER},
    "a hook": {"toolwright.json": HOOK},
    "a hook of Claude Code": {".claude/settings.json": HOOK},
    "a local hook of Claude Code": {".claude/settings.local.json": HOOK},
    "a hook of Codex": {".codex/hooks.json": HOOK},
    "an older hook": {
        "opencode.json": {"experimental": {"hook": {"session_completed": [{"command": ["touch", "MARK"]}]}}}
    },
    "a command with shell": {".opencode/command/evil.md": "Look: !`touch MARK`\n"},
    "a command with shell in the settings": {"opencode.json": {"command": {"evil": {"template": "!`touch MARK`"}}}},
    "a command of Claude Code with shell": {".claude/commands/evil.md": "Look: !`touch MARK`\n"},
    "a formatter": {"opencode.json": {"formatter": {"evil": {"command": TOUCH, "extensions": [".txt"]}}}},
    "a language server": {"opencode.json": {"lsp": {"evil": {"command": TOUCH, "extensions": [".txt"]}}}},
}
NEEDS_NODE = {"a tool in JavaScript", "a plugin in JavaScript"}


def lay_out(project: Path, files: Files, mark: Path) -> None:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text.replace("MARK", str(mark)))


async def live_in(project: Path, *, trust: bool, config: Any = EVERYTHING) -> None:
    """Do whatever people do in a project: list, call, write, prompt, run its commands."""
    model = ScriptedModel(
        {"tools": [{"name": "write", "args": {"filePath": "a.txt", "content": "x\n"}}]},
        {"tools": [{"name": "evil", "args": {}}, {"name": "bash", "args": {"command": "true", "description": "d"}}]},
        {"text": "Done.", "repeat": True},
    )
    workspace = make_workspace(project, trust=trust, config=config, model=model, user=ScriptedUser.saying("once"))
    async with workspace:
        session = workspace.session()
        await workspace.registry.tools("", "", session.ruled_agent)
        if workspace.plugins is not None:
            await workspace.plugins.start_all()
        await session.prompt("Go.")
        with suppress(ToolwrightError):
            await session.prompt("/evil now")
        await workspace.mcp.settled()
        await session.call("evil_anything")


@pytest.mark.parametrize("thing", THINGS)
async def test_nothing_starts_before_trust(project: Path, thing: str) -> None:
    mark = project / "mark"
    lay_out(project, THINGS[thing], mark)
    await live_in(project, trust=False)
    assert not mark.exists()


@pytest.mark.parametrize("thing", THINGS)
async def test_and_all_of_it_does_once_it_is_trusted(project: Path, thing: str) -> None:
    """So that the test above says something."""
    if thing in NEEDS_NODE and shutil.which("node") is None:
        pytest.skip("node is not installed")
    mark = project / "mark"
    lay_out(project, THINGS[thing], mark)
    await live_in(project, trust=True)
    assert mark.exists()


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.parametrize("trust", [True, False])
async def test_scripts_of_packages_never_run(project: Path, tmp_path: Path, trust: bool) -> None:
    mark = tmp_path / "mark"
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare"), f"touch {mark}")
    package = {"name": "evil-package", "version": "1.0.0", "scripts": scripts}
    files = {
        ".opencode/package.json": {"scripts": scripts, "dependencies": {"evil-package": "file:./evil-package"}},
        ".opencode/evil-package/package.json": package,
        ".opencode/tool/evil.js": EXPORTED,
    }
    lay_out(project, files, mark)
    await live_in(project, trust=trust)
    assert not mark.exists()
    assert trust == (project / ".opencode/node_modules").exists()


@pytest.mark.parametrize("beside", ["requirements.txt", "header"])
async def test_no_environment_is_made_before_trust(project: Path, beside: str) -> None:
    header = "# /// script\n# dependencies = ['six']\n# ///\n" if beside == "header" else ""
    files: Files = {".opencode/tool/evil.py": f"{header}default = {MADE}\n"}
    files |= {".opencode/tool/requirements.txt": "six\n"} if beside == "requirements.txt" else {}
    lay_out(project, files, project)
    await live_in(project, trust=False)
    assert not list(project.parent.rglob("environments"))


@pytest.mark.parametrize("kind", ["tool", "plugin", "command", "agent"])
async def test_a_folder_that_is_a_link_out_of_the_project_starts_and_tells_nothing(
    project: Path, tmp_path: Path, kind: str
) -> None:
    outside, mark = tmp_path / "outside", tmp_path / "mark"
    files = {"evil.py": f"{PYTHON}default = {MADE}\ndef plugin(host):\n    return {{}}\n", "evil.md": "the secret"}
    lay_out(outside, files, mark)
    (project / ".opencode").mkdir()
    (project / ".opencode" / kind).symlink_to(outside)
    await live_in(project, trust=False)
    assert not mark.exists()
    workspace = make_workspace(project, trust=False)
    assert "the secret" not in [one.template for one in workspace.commands.all()]
    assert "evil" not in workspace.agents.by_name


@pytest.mark.parametrize("thing", [name for name in THINGS if name != "a command of Claude Code with shell"])
def test_what_is_added_after_trust_takes_it_back(project: Path, tmp_path: Path, thing: str) -> None:
    folders = Folders.of({"HOME": str(tmp_path / "home")})
    trust = Trust(folders.trust)
    trust.add(content_of(project, folders))
    assert trust.includes(content_of(project, folders))
    lay_out(project, THINGS[thing], tmp_path / "mark")
    assert not trust.includes(content_of(project, folders))
    assert set(THINGS[thing]) == {change.name for change in trust.changes(content_of(project, folders))}


async def test_using_what_is_trusted_leaves_the_project_as_it_was(project: Path, tmp_path: Path) -> None:
    """Else it would have to be trusted again each time."""
    extension = "from toolwright import Extension\nfrom shared import x\nextension = Extension(name='e')\n"
    files = {
        ".opencode/tool/fine.py": f"from shared import x\ndefault = {MADE}\n",
        ".opencode/shared.py": "x = 1\n",
        ".opencode/plugin/fine.py": "def plugin(host):\n    return {}\n",
        ".opencode/plugin/typed.py": extension.replace("from shared import x\n", ""),
    }
    lay_out(project, files, tmp_path)
    before = {path for path in project.rglob("*") if path.is_file()}
    async with make_workspace(project, trust=True) as workspace:
        assert (await workspace.call("fine")).output == "x"
    assert {path for path in project.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kind", ["tool", "extension"])
async def test_bytecode_beside_a_file_does_not_stand_in_for_it(project: Path, tmp_path: Path, kind: str) -> None:
    mark = tmp_path / "mark"
    folder = project / ".opencode" / ("tool" if kind == "tool" else "plugin")
    text = f"default = {MADE}\n" if kind == "tool" else "from toolwright import Extension\nextension = Extension()\n"
    lay_out(folder, {"fine.py": f"{PYTHON}{text}"}, mark)
    py_compile.compile(str(folder / "fine.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    (folder / "fine.py").write_text(text)
    async with make_workspace(project, trust=True) as workspace:
        await workspace.call("fine")
    assert not mark.exists()


async def test_what_has_changed_since_it_was_trusted_does_not_start(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    lay_out(project, {".opencode/tool/fine.py": f"default = {MADE}\n"}, mark)
    home = project.parent / f"{project.name}.home"
    folders = Folders.of({"HOME": str(home)})
    Trust(folders.trust).add(content_of(project, folders))
    async with make_workspace(project, trust=False) as workspace:
        assert (await workspace.call("fine")).output == "x"
        lay_out(project, {".opencode/tool/fine.py": f"{PYTHON}default = {MADE}\n"}, mark)
        await workspace.call("fine")
    async with make_workspace(project, trust=False) as workspace:
        assert not workspace.trusted
        assert any(
            "changed since you trusted the project: .opencode/tool/fine.py" in w for w in workspace.config.warnings
        )
        await workspace.call("fine")
    assert not mark.exists()


async def test_nor_does_bytecode_of_a_module_that_it_imports(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    files = {"tool/fine.py": f"import shared\ndefault = {MADE}\n", "shared.py": PYTHON}
    lay_out(project / ".opencode", files, mark)
    shared = project / ".opencode" / "shared.py"
    py_compile.compile(str(shared), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    shared.write_text("")
    async with make_workspace(project, trust=True) as workspace:
        assert (await workspace.call("fine")).output == "x"
    assert not mark.exists()


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json"])
@pytest.mark.parametrize("when", ["trusted", "new", "changed"])
async def test_a_hook_of_another_program_runs_only_as_it_was_trusted(project: Path, name: str, when: str) -> None:
    """Even if it comes after the settings were read, which is later than trust was looked at."""
    mark = project.parent / f"{project.name}.mark"
    folders = Folders.of({"HOME": str(project.parent / f"{project.name}.home")})
    if when != "new":
        lay_out(project, {name: HOOK if when == "trusted" else {"hooks": {}}}, mark)
    Trust(folders.trust).add(content_of(project, folders))
    workspace = make_workspace(project, trust=False, config=EVERYTHING)
    assert workspace.trusted
    lay_out(project, {name: HOOK}, mark)
    async with workspace:
        await workspace.call("bash", command="true", description="d")
    assert mark.exists() == (when == "trusted")

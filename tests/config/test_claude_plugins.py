"""Plugins of Claude Code as folders: their agents, commands, skills, hooks and servers."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import SCRIPT
from toolwright.testing import ScriptedModel, make_workspace

AGENT = "---\nname: reviewer\ndescription: Reviews.\ntools: Read\n---\nReview it.\n"
COMMAND = "---\ndescription: Ships.\n---\nShip $ARGUMENTS.\n"
SKILL = "---\nname: shipping\ndescription: How to ship.\n---\nWith care.\n"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A plugin as a marketplace of Claude Code holds it, in a folder of the user's."""
    folder = tmp_path / "marketplace" / "ship-it"
    files = {
        ".claude-plugin/plugin.json": json.dumps({"name": "ship", "version": "1.0.0"}),
        "agents/reviewer.md": AGENT,
        "commands/go.md": COMMAND,
        "skills/shipping/SKILL.md": SKILL,
        "hooks/hooks.json": json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook()]}]}}),
        ".mcp.json": json.dumps({"mcpServers": {"dock": {"command": sys.executable, "args": ["-I", str(SCRIPT)]}}}),
        "guard.sh": "echo no ships today >&2; exit 2\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def hook() -> dict[str, Any]:
    return {"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/guard.sh"}


async def test_what_a_plugin_brings_is_here_under_its_name(project: Path, plugin: Path) -> None:
    settings = {"foreign": {"plugins": [str(plugin)]}}
    async with make_workspace(project, config=settings, model=ScriptedModel({"text": "Shipped."})) as workspace:
        assert workspace.agents["ship:reviewer"].description == "Reviews."
        assert workspace.commands["ship:go"].template == "Ship $ARGUMENTS."
        assert "shipping" in workspace.skills.all()
        assert (await workspace.call("dock_echo", text="ahoy")).output == "ahoy"
        refused = await workspace.call("bash", command="true")
        assert "no ships today" in refused.output
        assert workspace.config.foreign[-1].reason == ""


async def test_a_manifest_may_say_where_things_are(project: Path, plugin: Path) -> None:
    (plugin / "more").mkdir()
    (plugin / "more/stop.md").write_text(COMMAND)
    manifest = {"name": "ship", "commands": "./more", "hooks": {"hooks": {}}, "mcpServers": {}}
    (plugin / ".claude-plugin/plugin.json").write_text(json.dumps(manifest))
    async with make_workspace(project, config={"foreign": {"plugins": [str(plugin)]}}) as workspace:
        assert {"ship:go", "ship:stop"} <= {one.name for one in workspace.commands.all()}
        assert (await workspace.call("bash", command="true")).error is None
        assert "dock" not in workspace.settings.mcp


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [('{"commands": "../../elsewhere"}', "lies outside of it"), ("[]", "expected an object"), ("{", ":1:")],
)
async def test_a_plugin_that_cannot_be_read_is_left_out_and_told(
    project: Path, plugin: Path, manifest: str, reason: str
) -> None:
    (plugin / ".claude-plugin/plugin.json").write_text(manifest)
    async with make_workspace(project, config={"foreign": {"plugins": [str(plugin)]}}) as workspace:
        assert [reason in one.reason for one in workspace.config.foreign if one.kind == "plugins"] == [True]
        assert "ship:go" not in workspace.commands


async def test_a_plugin_in_the_project_is_left_out(project: Path) -> None:
    (project / "brought/commands").mkdir(parents=True)
    (project / "brought/commands/go.md").write_text(COMMAND)
    settings = {"foreign": {"plugins": [str(project / "brought"), "/nowhere/at/all"]}}
    async with make_workspace(project, config=settings) as workspace:
        reasons = [one.reason for one in workspace.config.foreign]
        assert "it lies in the project" in reasons[0]
        assert "there is no such folder" in reasons[1]
        assert "brought:go" not in workspace.commands

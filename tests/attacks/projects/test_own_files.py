"""Our own files and those of git: not changed without a question, and our data not at all."""

from pathlib import Path

import pytest

from tests.attacks.projects.conftest import Victim
from toolwright.machine.folders import Folders
from toolwright.testing import ScriptedUser, make_workspace

SETTINGS = [
    "toolwright.json",
    "toolwright.jsonc",
    "opencode.json",
    "opencode.jsonc",
    "Toolwright.json",
    "packages/a/opencode.json",
    ".toolwright/agent/x.md",
    ".toolwright/toolwright.json",
    ".opencode/plugin/x.js",
    ".opencode/plansx/x.md",
    ".git/hooks/pre-commit",
    ".git/config",
    "sub/.git/hooks/post-checkout",
]
ALLOWING = [{}, {"permission": "allow"}, {"permission": {"edit": {"*": "allow", "**/toolwright.json": "allow"}}}]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("config", ALLOWING)
async def test_a_tool_changes_settings_only_after_a_question(victim: Victim, name: str, config: object) -> None:
    user = ScriptedUser.saying("reject")
    async with victim.opens(trust=True, config=config, user=user) as workspace:
        result = await workspace.call("write", filePath=name, content="{}")
    assert result.error is not None
    assert len(user.questions) == 1
    assert not (victim.project / name).exists()


async def test_an_approval_of_all_edits_does_not_cover_them_and_is_not_offered(victim: Victim) -> None:
    user = ScriptedUser.saying("always", "reject")
    async with victim.opens(config={"permission": {"edit": "ask"}}, user=user) as workspace:
        assert (await workspace.call("write", filePath="a.txt", content="x")).error is None
        assert (await workspace.call("write", filePath="b.txt", content="x")).error is None
        assert (await workspace.call("write", filePath="toolwright.json", content="{}")).error is not None
    assert len(user.questions) == 2


@pytest.mark.parametrize("command", ["echo {} > toolwright.json", "cp a.json .toolwright/x.json", "rm .git/config"])
async def test_nor_does_a_command(victim: Victim, command: str) -> None:
    victim.brings("a.json", "{}")
    user = ScriptedUser.saying("reject")
    async with victim.opens(config={"permission": "allow"}, user=user) as workspace:
        result = await workspace.call("bash", command=command, description="x")
    assert result.error is not None
    assert len(user.questions) == 1


async def test_plans_are_written_without_a_question(victim: Victim) -> None:
    async with victim.opens(trust=True) as workspace:
        result = await workspace.call("write", filePath=".toolwright/plans/a.md", content="A plan.")
    assert result.error is None


@pytest.mark.parametrize(
    "name", ["approvals.json", "trust.json", "auth.json", "toolwright.db", "undo/x", "tool-output/x"]
)
async def test_our_data_is_not_written_even_where_it_lies_in_the_project(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home.home"
    (tmp_path / "home").mkdir()
    data = home / ".local" / "share" / "toolwright"
    allowed = {"permission": "allow", "agent": {"build": {"permission": "allow"}}}
    workspace = make_workspace(home.parent, environment={"HOME": str(home)}, config=allowed)
    async with workspace:
        file = data / name
        result = await workspace.call("write", filePath=str(file), content="{}")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "readable"),
    [("auth.json", False), ("toolwright.db", False), ("{outputs}/x", True), ("tool-output/other/x", False)],
)
async def test_our_data_is_not_read_but_for_what_was_too_long(tmp_path: Path, name: str, readable: bool) -> None:
    home = tmp_path / "home"
    outputs = Folders.of({"HOME": str(home)}).outputs_of(tmp_path)
    file = home / ".local" / "share" / "toolwright" / name.replace("{outputs}", str(outputs))
    file.parent.mkdir(parents=True)
    file.write_text("the key\n")
    async with make_workspace(tmp_path, environment={"HOME": str(home)}, config={"permission": "allow"}) as workspace:
        read = await workspace.call("read", filePath=str(file))
        found = await workspace.call("grep", pattern="the key", path=str(file.parent))
    assert ("the key" in read.output) == readable
    assert (str(file) in found.output) == readable

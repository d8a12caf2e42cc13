"""Files that other programs run by themselves are changed only after a question."""

from pathlib import Path

import pytest

from tests.attacks.projects.conftest import Victim
from toolwright.permission.approvals import Approval
from toolwright.permission.run_later import RUN_LATER
from toolwright.testing import ScriptedUser, make_workspace

NAMES = [f"{name}x" if name.endswith("/") else name for name in RUN_LATER]
ALLOWING = {"permission": {"edit": {"*": "allow", "**/.npmrc": "allow"}, "bash": "allow"}}


@pytest.mark.parametrize("name", [*NAMES, "packages/a/.vscode/tasks.json", ".VSCode/tasks.json", ".Envrc"])
async def test_each_is_asked_about_whatever_the_rules_allow(victim: Victim, name: str) -> None:
    user = ScriptedUser.saying("reject")
    async with victim.opens(trust=True, config=ALLOWING, user=user) as workspace:
        result = await workspace.call("write", filePath=name, content="{}")
    assert result.error is not None
    assert len(user.questions) == 1
    assert not (victim.project / name).exists()


@pytest.mark.parametrize(
    "command",
    [
        "echo x > .envrc",
        "mkdir -p .vscode && cp a.json .vscode/tasks.json",
        "mv a.json .mcp.json",
        "ln -s a.json .npmrc",
        "printf x | tee -a .github/workflows/ci.yml",
        "mkdir -p sub && cd sub && echo x >.gitmodules",
        "mv made .husky",
    ],
)
async def test_so_is_a_command_that_names_one(victim: Victim, command: str) -> None:
    victim.brings("a.json", "{}")
    victim.brings("made/pre-commit", "x")
    user = ScriptedUser.saying("reject")
    async with victim.opens(config=ALLOWING, user=user) as workspace:
        result = await workspace.call("bash", command=command, description="x")
    assert result.error is not None
    assert len(user.questions) == 1


@pytest.mark.parametrize("command", ["rm -rf node_modules", "cat .npmrc", "ls -a .vscode", "git status"])
async def test_what_changes_none_of_them_is_not(victim: Victim, command: str) -> None:
    victim.brings("node_modules/a/.vscode/tasks.json", "{}")
    victim.brings("node_modules/a/.github/workflows/ci.yml", "{}")
    user = ScriptedUser.saying("reject")
    async with victim.opens(config=ALLOWING, user=user) as workspace:
        await workspace.call("bash", command=command, description="x")
    assert user.questions == []


async def test_an_approval_of_all_edits_does_not_cover_them_and_one_that_names_them_does(victim: Victim) -> None:
    user = ScriptedUser.saying("always", "once", "reject")
    async with victim.opens(config={"permission": {"edit": "ask"}}, user=user) as workspace:
        assert (await workspace.call("write", filePath="a.txt", content="x")).error is None
        assert (await workspace.call("write", filePath="b.txt", content="x")).error is None
        assert (await workspace.call("write", filePath=".npmrc", content="x")).error is None
        named = Approval("edit", ".github/workflows/*")
        workspace.gate.approvals.add((named, Approval("edit", ".git*")), "user", "")
        assert (await workspace.call("write", filePath=".github/workflows/ci.yml", content="x")).error is None
        assert (await workspace.call("write", filePath=".github/actions/a.yml", content="x")).error is not None
    assert [question.always for question in user.questions] == [("*",), (), ()]


async def test_the_setting_adds_and_takes_away(victim: Victim) -> None:
    chosen = {"run_later": {".npmrc": False, ".vscode/": False, "deploy/": True, "cron.sh": True}}
    user = ScriptedUser.saying("reject", "reject")
    async with victim.opens(config=chosen, user=user) as workspace:
        for name, is_asked in ((".npmrc", 0), (".vscode/tasks.json", 0), ("deploy/x", 1), ("sub/cron.sh", 2)):
            await workspace.call("write", filePath=name, content="{}")
            assert len(user.questions) == is_asked


async def test_a_project_that_nobody_trusts_adds_and_takes_nothing_away(victim: Victim) -> None:
    victim.brings("toolwright.json", '{"run_later": {".npmrc": false, "deploy/": true}}')
    user = ScriptedUser.saying("reject", "reject")
    async with victim.opens(user=user) as workspace:
        for name in (".npmrc", "deploy/x"):
            assert (await workspace.call("write", filePath=name, content="{}")).error is not None
    assert len(user.questions) == 2


async def test_a_project_that_lies_in_such_a_folder_is_worked_on_as_any_other(tmp_path: Path) -> None:
    project = tmp_path / ".claude" / "worktrees" / "a"
    project.mkdir(parents=True)
    user = ScriptedUser.saying("reject")
    async with make_workspace(project, user=user) as workspace:
        assert (await workspace.call("write", filePath="a.txt", content="x")).error is None
        assert (await workspace.call("write", filePath=".claude/settings.json", content="x")).error is not None
    assert len(user.questions) == 1

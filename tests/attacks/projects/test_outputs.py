"""What a tool has printed at length in one project is for nobody who works in another."""

import os
from pathlib import Path

import pytest

from tests.attacks.sandbox.test_rows import opened
from toolwright.calls.truncate import KEPT_DAYS
from toolwright.testing import ScriptedUser, make_workspace
from toolwright.workspace import Workspace

SECRET = "the other project's words"


class Projects:
    """Two projects of one user, in each of which something long was printed."""

    def __init__(self, base: Path) -> None:
        self.home, self.one, self.other = base / "home", base / "one", base / "other"
        for folder in (self.one, self.other):
            (folder / ".git").mkdir(parents=True)

    def workspace(self, project: Path, user: ScriptedUser | None = None) -> Workspace:
        return make_workspace(project, environment={"HOME": str(self.home)}, user=user or ScriptedUser.saying())


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    return Projects(tmp_path)


async def printed(projects: Projects) -> tuple[Path, Path]:
    """The files with what was printed in each."""
    async with projects.workspace(projects.one) as one, projects.workspace(projects.other) as other:
        return one.truncator.keep("our own words"), other.truncator.keep(SECRET)


async def test_the_outputs_of_a_project_are_read_without_a_question(projects: Projects) -> None:
    own, _ = await printed(projects)
    user = ScriptedUser.saying()
    async with projects.workspace(projects.one, user) as workspace:
        results = [
            await workspace.call("read", filePath=str(own)),
            await workspace.call("grep", pattern="own words", path=str(own.parent)),
            await workspace.call("glob", pattern="*", path=str(own.parent)),
            await workspace.call("list", path=str(own.parent)),
        ]
    assert [one.error for one in results] == [None] * 4
    assert all(text in one.output for one, text in zip(results, ["words", "words", own.name, own.name], strict=True))
    assert user.questions == []


@pytest.mark.parametrize("tool", ["read", "grep", "glob", "list"])
@pytest.mark.parametrize("where", ["its folder", "the folder of all"])
async def test_those_of_another_are_asked_about_as_any_folder_outside(
    projects: Projects, tool: str, where: str
) -> None:
    _, foreign = await printed(projects)
    folder = foreign.parent if where == "its folder" else foreign.parent.parent
    user = ScriptedUser.saying("reject")
    arguments = {
        "read": {"filePath": str(foreign)},
        "grep": {"pattern": "words", "path": str(folder)},
        "glob": {"pattern": "**/*", "path": str(folder)},
        "list": {"path": str(folder)},
    }[tool]
    async with projects.workspace(projects.one, user) as workspace:
        result = await workspace.call(tool, **arguments)
    if tool == "read" or where == "its folder":
        (question,) = user.questions
        assert "external_directory" in (question.permission, *(one.permission for one in question.also))
        assert result.error is not None
    assert SECRET not in result.output
    assert tool == "list" or foreign.name not in result.output.replace(str(foreign), "")


async def test_nor_do_they_show_where_every_folder_is_allowed(projects: Projects) -> None:
    """Nor where our data lies in the project itself."""
    _, foreign = await printed(projects)
    user = ScriptedUser.saying(*["reject"] * 4)
    environment = {"HOME": str(projects.home)}
    for project in (projects.one, projects.home):
        rules = {"permission": {"external_directory": "allow"}}
        async with make_workspace(project, environment=environment, user=user, config=rules) as workspace:
            read = await workspace.call("read", filePath=str(foreign))
            found = await workspace.call("grep", pattern="words", path=str(foreign.parent), ignored=True)
        assert read.error is not None
        assert SECRET not in read.output + found.output
    assert len(user.questions) >= 2


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
async def test_a_box_shows_a_command_its_own_and_no_others(outside: Path, rung: str) -> None:
    projects = Projects(outside)
    own, foreign = await printed(projects)
    look = "import sys; [print(open(name).read()) for name in sys.argv[1:]]"
    async with opened(projects.one, projects.home, rung, permission={"external_directory": "allow"}) as workspace:
        shown = await workspace.call("bash", command=f"cat {own}")
        hidden = await workspace.call("bash", command=f"cat {foreign}; ls {foreign.parent}")
        scripted = await workspace.call("bash", command=f"python3 -c '{look}' {own} {foreign}")
    assert "our own words" in shown.output
    assert SECRET not in hidden.output + scripted.output
    assert f"\n{foreign.name}" not in hidden.output


async def test_old_ones_of_every_project_go_and_so_do_those_of_older_versions(projects: Projects) -> None:
    own, foreign = await printed(projects)
    flat = own.parent.parent / "tool_flat"
    flat.write_text("kept by an older version")
    long_ago = own.stat().st_mtime - (KEPT_DAYS + 1) * 24 * 3600
    for file in (foreign, flat):
        os.utime(file, (long_ago, long_ago))
    async with projects.workspace(projects.one) as workspace:
        assert workspace.truncator.remove_old() == 2
    assert own.exists()
    assert not foreign.parent.exists()
    assert not flat.exists()

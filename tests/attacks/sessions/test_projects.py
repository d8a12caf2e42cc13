"""A session of one project, named in another: nothing is changed from there, and the way to it is told."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.attacks.sessions.command import database_of, tw
from tests.session.trial import call, calls, opened, says
from toolwright.errors import UsageError
from toolwright.models.scripted import ScriptedModel
from toolwright.session.storage.on_disk import Storage
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

WRITE = call("write", filePath="b.txt", content="b\n")


@pytest.fixture
async def foreign(project: Path) -> str:
    """The id of a session that has written a file of its project."""
    async with opened(project, calls(WRITE), says("One.")) as trial:
        await trial.prompt("First.")
        return trial.session.id


@pytest.fixture
async def elsewhere(project: Path, tmp_path: Path, foreign: str) -> AsyncIterator[Workspace]:
    """Another project of the same user."""
    (tmp_path / "elsewhere").mkdir()
    store = Storage.open(database_of(project))
    async with make_workspace(tmp_path / "elsewhere", model=ScriptedModel({"text": "Two."}), store=store) as workspace:
        yield workspace
    await store.close()


USES: dict[str, Callable[[Workspace, str], Awaitable[object]]] = {
    "open": lambda workspace, name: workspace.sessions.open(name),
    "delete": lambda workspace, name: workspace.sessions.delete(name),
    "fork": lambda workspace, name: workspace.sessions.fork(name),
    "permit": lambda workspace, name: workspace.sessions.permit(name, ()),
    "enter": lambda workspace, name: workspace.session(id=name).__aenter__(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_it_is_refused_with_the_folder_to_go_to(
    elsewhere: Workspace, foreign: str, project: Path, use: Callable[[Workspace, str], Awaitable[object]]
) -> None:
    before = await elsewhere.sessions.exported(foreign)
    for _ in range(2):
        with pytest.raises(UsageError, match=f"belongs to another project. Go to {project}"):
            await use(elsewhere, foreign)
    assert await elsewhere.sessions.exported(foreign) == before
    assert elsewhere.sessions_open == {}


async def test_a_session_that_was_not_read_is_not_begun_anew_in_its_place(elsewhere: Workspace, foreign: str) -> None:
    before = await elsewhere.sessions.exported(foreign)
    with pytest.raises(UsageError, match="is not read yet"):
        await elsewhere.session(id=foreign).prompt("Go.")
    assert await elsewhere.sessions.exported(foreign) == before


async def test_the_command_line_refuses_and_the_files_stay(project: Path, tmp_path: Path, foreign: str) -> None:
    (tmp_path / "elsewhere").mkdir(exist_ok=True)
    (tmp_path / "elsewhere.home").symlink_to(tmp_path / "project.home")
    for words in (("session", "revert", foreign), ("session", "delete", foreign), ("run", "Go.", "--session", foreign)):
        said = tw(tmp_path / "elsewhere", *words)
        assert said.code == 2
        assert "belongs to another project" in said.error
    assert (project / "b.txt").read_text() == "b\n"

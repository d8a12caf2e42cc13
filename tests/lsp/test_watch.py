"""What others change on disk while servers run."""

import shutil
from pathlib import Path

import pytest

from tests.lsp.test_real_servers import PATH
from toolwright.lsp.client import CHANGED, CREATED, DELETED
from toolwright.lsp.servers import Finder, known_servers
from toolwright.lsp.watch import FolderWatch
from toolwright.process.programs.lookup import Lookup
from toolwright.testing import make_workspace


@pytest.fixture
def watch(project: Path) -> FolderWatch:
    return FolderWatch(
        Finder(
            servers=known_servers(),
            directory=project,
            top=project,
            environment={},
            lookup=Lookup(""),
            installed=project.parent / "installed",
            trusted=True,
        )
    )


def put(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def test_what_was_created_changed_or_deleted_is_found(project: Path, watch: FolderWatch) -> None:
    changed, deleted = put(project / "sub" / "a.py"), put(project / "b.py")
    settings = put(project / "pyproject.toml")
    put(project / "notes.txt")
    assert await watch.changes() == {}
    put(changed, "x = 1\n")
    put(settings, "[project]\n")
    put(project / "notes.txt", "not for any server\n")
    put(project / ".cache" / "hidden.py")
    deleted.unlink()
    created = put(project / "new" / "c.ts")
    watch.is_stale = True
    assert await watch.changes() == {changed: CHANGED, settings: CHANGED, created: CREATED, deleted: DELETED}
    watch.is_stale = True
    assert await watch.changes() == {}


async def test_of_what_is_installed_only_its_coming_and_going_is_found(project: Path, watch: FolderWatch) -> None:
    put(project / ".venv" / "pyvenv.cfg")
    packages, modules = project / ".venv" / "lib" / "python3.11" / "site-packages", project / "node_modules"
    put(packages / "old" / "__init__.py")
    put(modules / "old" / "index.ts")
    assert await watch.changes() == {}
    put(packages / "old" / "__init__.py", "x = 1\n")
    put(packages / "one" / "__init__.py")
    put(modules / "two" / "index.ts")
    shutil.rmtree(modules / "old")
    watch.is_stale = True
    assert await watch.changes() == {packages / "one": CREATED, modules / "two": CREATED, modules / "old": DELETED}


async def test_a_project_that_is_too_large_is_not_watched(
    project: Path, watch: FolderWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project / "a.py")
    assert await watch.changes() == {}
    monkeypatch.setattr("toolwright.lsp.watch.MOST", 2)
    for number in range(3):
        put(project / f"b{number}.py")
    for _ in range(2):
        watch.is_stale = True
        assert await watch.changes() == {}
        monkeypatch.undo()


async def test_what_a_command_makes_is_known_to_the_server_with_the_next_change(project: Path) -> None:
    put(project / "pyproject.toml")
    config = {"permission": "allow", "lsp": True}
    async with make_workspace(project, config=config, environment={"PATH": PATH}) as workspace:
        if [one.server.id for one in workspace.languages.finder.for_file(project / "a.py")] != ["ty"]:
            pytest.skip("the language server ty is not installed")
        first = await workspace.call("write", filePath="a.py", content="import made\n")
        assert "Cannot resolve imported module `made`" in first.output
        await workspace.call("bash", command="echo x = 1 > made.py", description="Makes the module")
        second = await workspace.call("write", filePath="a.py", content="import made\n\nmade.y\n")
        assert "has no member `y`" in second.output
        assert "Cannot resolve" not in second.output
        await workspace.call("bash", command="rm made.py", description="Removes the module")
        third = await workspace.call("write", filePath="a.py", content="import made\n\nmade.x\n")
        assert "Cannot resolve" in third.output

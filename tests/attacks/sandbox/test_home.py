"""The user's home after commands: nothing is left there that nobody has filled, and what is filled is the user's."""

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.attacks.sandbox.test_rows import opened
from tests.process.places import ours_of
from toolwright.process.box.access import Access
from toolwright.process.box.caches import CACHES
from toolwright.process.paths.git_folders import Placeholder
from toolwright.process.paths.placeholders import Holdings
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings
from toolwright.workspace import Workspace, open_workspace

OURS = (".local", ".local/share", ".local/share/toolwright", ".local/state", ".local/state/toolwright")


@pytest.fixture(params=("bubblewrap", "landlock"))
def rung(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def home(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, on a machine that has every program with a cache."""
    programs = outside / "programs"
    programs.mkdir()
    for cache in CACHES:
        (programs / (cache.program or "pip")).write_text("#!/bin/sh\n")
        (programs / (cache.program or "pip")).chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{programs}")
    (outside / "home").mkdir()
    return outside / "home"


@asynccontextmanager
async def at_work(outside: Path, home: Path, rung: str) -> AsyncIterator[Workspace]:
    _make_project(outside / "project")
    async with opened(outside / "project", home, rung) as workspace:
        yield workspace


def _make_project(folder: Path) -> None:
    """Make a repository, for the checkout around it would be the project otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


def left_in(home: Path) -> list[str]:
    """What is in a home besides our own data."""
    names = (str(path.relative_to(home)) for path in sorted(home.rglob("*")))
    return [name for name in names if name not in OURS and not name.startswith(".local/share/toolwright/")]


async def test_commands_leave_nothing_in_the_home(outside: Path, home: Path, rung: str) -> None:
    async with at_work(outside, home, rung) as workspace:
        seen = await workspace.call("bash", command="python3 -c 'import os; print(os.listdir(os.environ[\"HOME\"]))'")
        assert {".m2", "go", ".cargo", ".npm"} <= set(seen.output.split("'"))
        assert left_in(home) == []
    assert left_in(home) == []


async def test_nor_where_the_home_is_the_project(home: Path, rung: str) -> None:
    _make_project(home)
    async with opened(home, home, rung) as workspace:
        seen = await workspace.call("bash", command="python3 -c 'import os; print(os.listdir(os.environ[\"HOME\"]))'")
        assert {".config", ".ray", ".toolwright"} <= set(seen.output.split("'"))
    assert [name for name in left_in(home) if not name.startswith(".git")] == []


async def test_what_they_put_into_a_store_of_packages_stays(outside: Path, home: Path, rung: str) -> None:
    async with at_work(outside, home, rung) as workspace:
        fill = "mkdir -p ~/.m2/repository/a && echo x > ~/.m2/repository/a/jar && echo x > ~/.cargo/registry/crate"
        result = await workspace.call("bash", command=fill)
        assert result.metadata["exit"] == 0, result.output
        again = await workspace.call("bash", command="cat ~/.m2/repository/a/jar ~/.cargo/registry/crate")
    assert again.output == "x\nx\n"
    kept = [".cargo", ".cargo/registry", ".cargo/registry/crate", ".m2", ".m2/repository", ".m2/repository/a"]
    assert left_in(home) == [*kept, ".m2/repository/a/jar"]


def test_of_two_programs_of_ours_the_last_one_to_leave_takes_away_what_the_first_has_made(outside: Path) -> None:
    """And neither takes away what was there."""
    (outside / "the user's").mkdir()
    places = [Placeholder(path=outside / name) for name in ("above", "above/within", "the user's")]
    first, second = Holdings(), Holdings()
    for holdings in (first, second):
        for place in places:
            holdings.hold(place)
    first.release()
    assert sorted(path.name for path in outside.rglob("*")) == ["above", "the user's", "within"]
    second.release()
    assert [path.name for path in outside.rglob("*")] == ["the user's"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_home_that_cannot_be_written_has_no_new_stores(home: Path, project: Path) -> None:
    home.chmod(0o500)
    scopes = Scopes()
    sandbox = Sandbox(SandboxSettings(), directory=project, root=project, ours=ours_of(home), scopes=scopes)
    box = await sandbox.box(Access())
    walls = sandbox.wrap(box, ["true"], project)
    sandbox.close()
    home.chmod(0o700)
    assert str(home) not in str(walls.argv)


@pytest.mark.parametrize("path", ["programs", ".", "", "programs:.", ":programs"])
async def test_a_relative_folder_of_programs_keeps_no_box_from_starting(
    outside: Path, home: Path, rung: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs there, even of the names of those that put up boxes, are for commands alone."""
    _make_project(outside / "project")
    async with opened(outside / "project", home, rung):
        """This kind of box works here."""
    monkeypatch.chdir(outside)
    for folder in (outside, outside / "programs"):
        for name in ("bwrap", "sh", "bash", "rm", "own-program"):
            (folder / name).write_text("#!/bin/sh\necho planted\n")
            (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    (outside / "project" / "deep").mkdir()
    shutil.rmtree(home / ".local")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TOOLWRIGHT_CONFIG_CONTENT": json.dumps({"sandbox": rung, "permission": {"bash": {"rm *": "deny"}}}),
    }
    async with open_workspace(outside / "project", trust=True, environment=environment) as workspace:
        result = await workspace.call("bash", command="echo boxed; /bin/echo once more", workdir="deep")
    assert result.output == "boxed\nonce more\n"
    assert result.metadata["sandbox"] == rung

"""A rule about a file holds under every name that the file has in the project."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks.sandbox.test_rows import opened
from tests.server.harness import served
from toolwright.process.paths.listings import Listings
from toolwright.testing import ScriptedUser, make_workspace

SECRET = "API=SECRET"
NAMES = ("notes.txt", "deep/er/notes.txt", "node_modules/pack/notes.txt")
DENIED = {"edit": {"migrations/*": "deny"}}


@pytest.fixture
def linked(project: Path) -> Path:
    """A project in which a file that may not be read, and one that may not be changed, have other names."""
    fill(project)
    return project


def fill(project: Path) -> None:
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (project / ".env").write_text(f"{SECRET}\n")
    (project / "migrations").mkdir()
    (project / "migrations" / "1.sql").write_text("kept\n")
    os.link(project / "migrations" / "1.sql", project / "first.sql")
    (project / "other.txt").write_text("other words\n")
    os.link(project / "other.txt", project / "twin.txt")
    for name in NAMES:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        os.link(project / ".env", project / name)


@pytest.mark.parametrize("name", NAMES)
async def test_no_tool_shows_a_denied_file_under_another_name(linked: Path, name: str) -> None:
    user = ScriptedUser.saying()
    async with make_workspace(linked, user=user) as workspace:
        results = [
            await workspace.call("read", filePath=name),
            await workspace.call("grep", pattern="API", path=name),
            await workspace.call("grep", pattern="SEC", ignored=True),
            await workspace.call("edit", filePath=name, oldString="API", newString="X"),
            await workspace.call("bash", command=f"cat {name}"),
        ]
        patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n-API=\n+X=\n*** End Patch"
        results.append(await workspace.call("apply_patch", patchText=patch))
    assert [one.output for one in results if SECRET in f"{one.output}{one.metadata}"] == []
    assert (linked / ".env").read_text() == f"{SECRET}\n"
    assert user.questions == []


async def test_what_is_allowed_is_read_under_every_name(linked: Path) -> None:
    async with make_workspace(linked) as workspace:
        for name in ("other.txt", "twin.txt", "first.sql"):
            assert (await workspace.call("read", filePath=name)).error is None


async def test_what_may_not_be_changed_is_not_changed_under_another_name(linked: Path) -> None:
    async with make_workspace(linked, config={"permission": DENIED}) as workspace:
        await workspace.call("read", filePath="first.sql")
        result = await workspace.call("edit", filePath="first.sql", oldString="kept", newString="changed")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert (linked / "migrations" / "1.sql").read_text() == "kept\n"


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
async def test_a_box_hides_and_locks_such_a_file_under_all_its_names(outside: Path, rung: str) -> None:
    project = outside / "project"
    fill(project)
    (outside / "home").mkdir()
    script = "for f in $(find . -type f -not -path './.git/*'); do echo x >> $f; cat $f; done; mv deep d; cat d/er/*"
    (project / "all.sh").write_text(script)
    async with opened(project, outside / "home", rung, permission=DENIED) as workspace:
        result = await workspace.call("bash", command="sh all.sh")
    assert "other words" in result.output
    assert SECRET not in result.output
    assert (project / ".env").read_text() == f"{SECRET}\n"
    assert (project / "migrations" / "1.sql").read_text() == "kept\n"
    assert (project / "other.txt").read_text() == "other words\nx\nx\n"


@pytest.mark.parametrize("rung", ["bubblewrap", "landlock"])
async def test_a_box_hides_what_is_denied_elsewhere_and_has_a_name_in_the_project(outside: Path, rung: str) -> None:
    project, secret = outside / "project", outside / "home" / "secret"
    (project / ".git").mkdir(parents=True)
    secret.parent.mkdir()
    secret.write_text(f"{SECRET}\n" * 9)
    os.link(secret, project / "notes.txt")
    async with opened(project, outside / "home", rung, permission={"read": {str(secret): "deny"}}) as workspace:
        result = await workspace.call("bash", command="python3 -c 'print(open(\"notes.txt\").read())'")
    assert "Hidden from commands" in result.output
    assert SECRET not in result.output


async def test_the_server_sends_none_of_it(project: Path) -> None:
    fill(project)
    async with served(project) as server:
        for name in NAMES:
            await server.get("/file/content", status=403, params={"path": name})
        assert (await server.get("/file/content?path=twin.txt"))["content"] == "other words\n"


EXCHANGES: dict[str, Callable[[Path], None]] = {
    "made": lambda project: os.link(project / ".env", project / "new.txt"),
    "put in the place of another file": lambda project: _exchange(project / ".env", project / "first.txt"),
}


def _exchange(file: Path, name: Path) -> None:
    os.link(file, name.with_suffix(".tmp"))
    name.with_suffix(".tmp").rename(name)


@pytest.mark.parametrize("how", EXCHANGES)
async def test_a_name_that_comes_later_is_found(project: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.process.paths.listings.RECENT", 0)
    for name in (".env", "first.txt"):
        (project / name).write_text("words")
    listings = Listings(project)
    assert listings.names_of(project / ".env") == []
    before = listings.scan_count
    EXCHANGES[how](project)
    assert len(listings.names_of(project / ".env")) == 1
    assert listings.scan_count > before

"""Plugins that are packages: installed once, held to what was looked at, changed only on demand."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Tw, home, tw
from tests.extensions.npm import SAYING, Npm, npm
from toolwright.errors import ToolError
from toolwright.extensions.packages import PackageStore, main_of, package_of
from toolwright.testing import make_workspace

__all__ = ["home", "npm", "tw"]
pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")


@pytest.mark.parametrize(
    ("spec", "name", "wanted"),
    [
        ("said", "said", "latest"),
        ("said@1.0.0", "said", "1.0.0"),
        ("@who/said", "@who/said", "latest"),
        ("@who/said@^1", "@who/said", "^1"),
        ("github:who/said#v1", "plugin", "github:who/said#v1"),
        ("git+https://example.com/said.git", "plugin", "git+https://example.com/said.git"),
    ],
)
def test_what_names_a_package(spec: str, name: str, wanted: str) -> None:
    package = package_of(spec)
    assert package is not None
    assert (package.name, package.wanted) == (name, wanted)


@pytest.mark.parametrize("spec", ["--global", "a b", "said@", "../said", "@", ""])
def test_what_names_none(spec: str) -> None:
    assert package_of(spec) is None


async def test_a_package_of_the_settings_is_installed_when_it_is_first_wanted_and_not_again(
    project: Path, npm: Npm
) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    for _ in range(2):
        async with make_workspace(project, config={"plugin": ["said"]}) as workspace:
            assert (await workspace.call("said")).output == "one"
        npm.publish("said", "2.0.0", SAYING % "two")
    assert npm.asked == ["install"]


async def test_a_package_of_a_project_that_is_not_trusted_is_not_installed(project: Path, npm: Npm) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    (project / "opencode.json").write_text('{"plugin": ["said"]}')
    async with make_workspace(project, trust=False) as workspace:
        assert (await workspace.call("said")).error is not None
    assert npm.asked == []


def test_trust_says_which_release_is_meant_and_no_other_is_installed_then(tw: Tw, project: Path, npm: Npm) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    (project / "opencode.json").write_text('{"plugin": ["said"]}')
    assert "package  said 1.0.0 sha512-" in tw("trust").out
    npm.publish("said", "2.0.0", SAYING % "two")
    assert tw("tool", "call", "said").out.strip() == "one"


def test_a_release_that_has_changed_since_it_was_looked_at_is_not_used(tw: Tw, project: Path, npm: Npm) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    (project / "opencode.json").write_text('{"plugin": ["said"]}')
    tw("trust")
    npm.publish("said", "1.0.0", SAYING % "something else")
    outcome = tw("plugin", "list")
    assert "said is not what it was when you looked at it" in outcome.out
    assert tw("tool", "call", "said").code != 0


def test_a_package_is_added_updated_and_removed_by_commands(tw: Tw, project: Path, npm: Npm) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    assert tw("plugin", "install", "said").out.startswith("said 1.0.0 sha512-")
    assert json.loads((project / "toolwright.json").read_text()) == {"plugin": ["said"]}
    npm.publish("said", "2.0.0", SAYING % "two")
    assert tw("tool", "call", "said", "--trust").out.strip() == "one"
    assert "(before: 1.0.0)" in tw("plugin", "update", "--trust").out
    assert tw("tool", "call", "said", "--trust").out.strip() == "two"
    listed = tw("plugin", "list", "--json", "--trust").json
    assert listed[0]["release"].startswith("2.0.0 sha512-")
    assert tw("plugin", "remove", "said").code == 0
    assert json.loads((project / "toolwright.json").read_text()) == {"plugin": []}
    assert tw("plugin", "remove", "said").code == 2


def test_an_update_that_fails_leaves_the_package_as_it_is(tw: Tw, npm: Npm) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    tw("plugin", "install", "said@1.0.0", "--user")
    npm.releases.clear()
    assert tw("plugin", "update").code != 0
    assert tw("tool", "call", "said").out.strip() == "one"


async def test_what_is_missing_of_a_package_is_brought_back_as_it_was(project: Path, tmp_path: Path, npm: Npm) -> None:
    npm.publish("said", "1.0.0", SAYING % "one")
    workspace = make_workspace(project)
    store = PackageStore(folder=tmp_path / "store", lookup=workspace.lookup, environment={})
    package = package_of("said")
    assert package is not None
    await store.ensure(package)
    entry = store.entry(package)
    shutil.rmtree(entry.parent / "node_modules")
    entry.unlink()
    npm.publish("said", "2.0.0", SAYING % "two")
    await store.ensure(package)
    assert "said 1.0.0" in entry.read_text()
    assert npm.asked == ["install", "ci"]
    await workspace.close()


async def test_a_package_that_the_registry_does_not_have_is_told(tmp_path: Path, project: Path, npm: Npm) -> None:
    workspace = make_workspace(project)
    store = PackageStore(folder=tmp_path / "store", lookup=workspace.lookup, environment={})
    package = package_of("nobody@9")
    assert package is not None
    with pytest.raises(ToolError, match="no release"):
        await store.resolve(package)
    await workspace.close()


@pytest.mark.parametrize(
    ("said", "main"),
    [
        ({"exports": {".": {"types": "./t.d.ts", "import": {"default": "./a.js"}}}}, "a.js"),
        ({"exports": {"./server": "./a.js", ".": "./b.js"}}, "a.js"),
        ({"exports": "./a.js"}, "a.js"),
        ({"main": "a.js"}, "a.js"),
        ({"main": "missing.js"}, "index.js"),
    ],
)
def test_a_package_is_entered_where_it_says(tmp_path: Path, said: object, main: str) -> None:
    (tmp_path / "package.json").write_text(json.dumps(said))
    for name in ("a.js", "b.js", "index.js"):
        (tmp_path / name).touch()
    assert main_of(tmp_path) == (tmp_path / main).resolve()


@pytest.mark.slow
def test_a_repository_is_held_to_the_commit_that_trust_has_shown(tw: Tw, project: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()

    def commit(text: str) -> str:
        (repository / "package.json").write_text('{"name": "said", "version": "1.0.0", "main": "index.mjs"}')
        (repository / "index.mjs").write_text(SAYING % text)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", text)):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=repository, check=True)
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    first = commit("one")
    spec = f"git+file://{repository}"
    (project / "opencode.json").write_text(json.dumps({"plugin": [spec]}))
    assert first in tw("trust").out
    commit("two")
    assert tw("tool", "call", "said", "{}").out == "one\n"
    assert f"{spec} is no longer in {project / 'opencode.json'}" in tw("plugin", "remove", spec).err
    assert json.loads((project / "opencode.json").read_text()) == {"plugin": []}


async def test_settings_of_other_programs_beside_tools_are_no_tools(project: Path) -> None:
    (project / ".opencode/tool").mkdir(parents=True)
    (project / ".opencode/tool/tsconfig.json").write_text("{}")
    async with make_workspace(project) as workspace:
        await workspace.call("list")
        assert workspace.left_out() == []

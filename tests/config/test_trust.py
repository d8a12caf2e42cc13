"""Trust is of what a project brings, as it was when the user looked at it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from toolwright.config.content import TrustedContent, content_of
from toolwright.config.trust import Trust, is_trusted
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders.of({"HOME": str(tmp_path / "home")})


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def seen(directory: Path, folders: Folders) -> TrustedContent:
    return content_of(directory, folders)


def test_a_project_is_trusted_from_when_it_is_said_until_it_is_withdrawn(tmp_path: Path, folders: Folders) -> None:
    one, two = write(tmp_path / "one/opencode.json", "{}").parent, write(tmp_path / "two/opencode.json", "{}").parent
    trust = Trust(folders.trust)
    assert not is_trusted(one, folders)
    for project in (one, two, one):
        trust.add(seen(project, folders))
    assert trust.roots() == [str(two), str(one)]
    assert is_trusted(one, folders)
    assert trust.remove(one)
    assert not trust.remove(one)
    assert trust.roots() == [str(two)]
    assert folders.trust.stat().st_mode & 0o777 == 0o600


ACTIVE = [
    "toolwright.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".toolwright/agent/team/a.md",
    ".opencode/commands/b.md",
    ".opencode/tool/c.ts",
    ".toolwright/tools/c.py",
    ".opencode/plugin/d.js",
    ".toolwright/hooks/e.sh",
    "prompts/included.txt",
    "my-plugin.js",
]


@pytest.mark.parametrize("name", ACTIVE)
@pytest.mark.parametrize("how", ["changed", "gone", "linked"])
def test_what_is_active_and_no_longer_the_same_is_not_trusted(
    project: Path, folders: Folders, name: str, how: str
) -> None:
    settings = '{"username": "{file:prompts/included.txt}", "plugin": ["./my-plugin.js"]}'
    for one in ACTIVE:
        write(project / one, settings if one.endswith(("json", "jsonc")) else "before")
    Trust(folders.trust).add(seen(project, folders))
    assert is_trusted(project, folders)
    file = project / name
    match how:
        case "changed":
            file.write_text(f"{file.read_text()} ")
        case "gone":
            file.unlink()
        case _:
            file.unlink()
            file.symlink_to(write(project.parent / "elsewhere", "other"))
    assert not is_trusted(project, folders)
    assert [change.name for change in Trust(folders.trust).changes(seen(project, folders))] == [name]


def test_a_file_that_is_new_asks_again_and_other_files_do_not(project: Path, folders: Folders) -> None:
    write(project / "toolwright.json", "{}")
    Trust(folders.trust).add(seen(project, folders))
    write(project / "src/main.py", "print()")
    write(project / ".toolwright/plans/plan.md", "a plan")
    assert is_trusted(project, folders)
    write(project / ".opencode/agent/new.md", "hello")
    assert not is_trusted(project, folders)
    [change] = Trust(folders.trust).changes(seen(project, folders))
    assert (change.name, change.before, change.after) == (".opencode/agent/new.md", None, "hello")


def test_a_folder_inside_is_trusted_for_what_it_adds_only_when_that_was_seen(project: Path, folders: Folders) -> None:
    (project / ".git").mkdir()
    write(project / "toolwright.json", "{}")
    inner = write(project / "inner/toolwright.json", "{}").parent
    Trust(folders.trust).add(seen(project, folders))
    assert not is_trusted(inner, folders)
    Trust(folders.trust).add(seen(inner, folders))
    assert is_trusted(inner, folders)
    assert is_trusted(project, folders)
    write(project / "toolwright.json", "{ }")
    assert not is_trusted(inner, folders)


def test_another_repository_at_the_same_place_is_not_trusted(project: Path, folders: Folders) -> None:
    write(project / "toolwright.json", "{}")
    write(project / ".git/config", '[core]\n[remote "origin"]\n\turl = https://example.com/one.git\n')
    Trust(folders.trust).add(seen(project, folders))
    assert is_trusted(project, folders)
    write(project / ".git/config", '[remote "origin"]\n\turl = https://example.com/two.git\n')
    assert not is_trusted(project, folders)


def test_a_repository_inside_a_trusted_one_is_another_project(tmp_path: Path, folders: Folders) -> None:
    outer = write(tmp_path / "one/toolwright.json", "{}").parent
    (outer / ".git").mkdir()
    vendored = write(outer / "vendored/toolwright.json", "{}").parent
    (vendored / ".git").mkdir()
    Trust(folders.trust).add(seen(outer, folders))
    assert not is_trusted(vendored, folders)


def test_what_an_earlier_version_trusted_by_place_is_asked_again(project: Path, folders: Folders) -> None:
    write(folders.trust, f'{{"projects": ["{project}"]}}')
    assert Trust(folders.trust).roots() == [str(project)]
    assert not is_trusted(project, folders)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"projects": "all"}', "null", '{"projects": [3]}', '{"projects": {"a": 1}}']
)
def test_a_mistake_in_the_file_trusts_nobody_and_is_not_overwritten(project: Path, folders: Folders, text: str) -> None:
    write(folders.trust, text)
    trust = Trust(folders.trust)
    for attempt in (trust.roots, lambda: is_trusted(project, folders), lambda: trust.add(seen(project, folders))):
        with pytest.raises(ConfigError, match=r"trust\.json"):
            attempt()
    assert folders.trust.read_text() == text


def test_no_project_is_lost_when_many_are_trusted_at_once(tmp_path: Path, folders: Folders) -> None:
    projects = [write(tmp_path / f"p{number}/toolwright.json", "{}").parent for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda project: Trust(folders.trust).add(seen(project, folders)), projects))
    assert sorted(Trust(folders.trust).roots()) == sorted(map(str, projects))

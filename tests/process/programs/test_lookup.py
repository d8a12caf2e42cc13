"""Where our own programs are taken from, and where they are not."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from toolwright.errors import ToolError
from toolwright.machine.folders import Folders
from toolwright.process.programs.lookup import Lookup


def put(place: Path, mode: int = 0o755) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(mode)
    return place


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return put(tmp_path / "good" / "git")


def lookup(project: Path, *folders: Path, trusted: bool = False, ours: Path | None = None) -> Lookup:
    return Lookup(":".join(map(str, folders)), project=[project], ours=[ours] if ours else [], trusted=trusted)


def test_the_first_that_commands_cannot_write_is_taken(project: Path, good: Path) -> None:
    bad = put(project / ".venv" / "bin" / "git")
    found = lookup(project, bad.parent, good.parent)
    assert found.find("git") == str(good)
    assert found.why_not("git") == ""
    assert found.path == str(good.parent)


def test_one_that_is_only_in_the_project_is_not_taken_and_said_to_be_there(project: Path) -> None:
    bad = put(project / "bin" / "git")
    found = lookup(project, bad.parent)
    assert found.find("git") is None
    assert found.why_not("git") == f"{bad} lies in the project, where commands may write"
    with pytest.raises(ToolError, match=r"git lies in the project, where commands may write\. It is not run; install"):
        found.need("git")


def test_one_that_is_nowhere_is_said_to_be_missing(project: Path, tmp_path: Path) -> None:
    found = lookup(project, tmp_path)
    assert (found.find("git"), found.why_not("git")) == (None, "")
    with pytest.raises(ToolError, match="There is no program 'git' on this machine"):
        found.need("git")


@pytest.mark.parametrize("path", ["", ":", ".", "bin", "./bin", "../project/bin", "bin:.:"])
def test_an_entry_of_the_path_that_is_empty_or_relative_counts_for_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    put(project / "bin" / "git")
    put(project / "git")
    monkeypatch.chdir(project)
    assert Lookup(path).find("git") is None
    assert Lookup(path).path == ""


def test_a_link_counts_as_what_it_leads_to_and_through(project: Path, good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "into").symlink_to(put(project / "tool"))
    (project / "back").symlink_to(good)
    (folder / "through").symlink_to(project / "back")
    (folder / "round").symlink_to(folder / "round")
    (project / "way").symlink_to(good.parent)
    (folder / "git").symlink_to("../good/git")
    found = lookup(project, folder)
    assert [found.find(name) for name in ("into", "through", "round")] == [None, None, None]
    assert found.find("git") == str(folder / "git")
    assert lookup(project, project / "way").find("git") is None


def test_a_project_that_is_named_by_a_link_is_known_for_what_it_is(project: Path, tmp_path: Path) -> None:
    bad = put(project / "git")
    (tmp_path / "alias").symlink_to(project)
    assert lookup(tmp_path / "alias", project).find("git") is None
    assert lookup(project, tmp_path / "alias").why_not("git") != ""
    assert bad.exists()


def test_where_commands_write_beside_the_project_nothing_is_taken(project: Path, outside: Path) -> None:
    home, data, copies = outside / "home", outside / "data" / "toolwright", outside / "data" / "toolwright-copies"
    folders = replace(Folders.of({"HOME": str(home)}), data=data)
    places = [
        home / ".cache" / "uv" / "bin",
        home / ".cargo" / "registry",
        home / "go" / "pkg",
        data / "x",
        copies / "odd-name" / "work" / "project" / "bin",
        outside / "another-project" / ".venv" / "bin",
    ]
    environment = {"HOME": str(home), "VIRTUAL_ENV": str(outside / "another-project" / ".venv")}
    for place in places:
        put(place / "git")
        found = Lookup.of({**environment, "PATH": str(place)}, project=[project], home=home, own=folders.written)
        assert found.find("git") is None, place
        assert found.why_not("git").endswith("lies where commands may write")
    beside = put(home / ".local" / "bin" / "git")
    environment["PATH"] = str(beside.parent)
    assert Lookup.of(environment, project=[project], home=home, own=folders.written).find("git") == str(beside)


def test_in_a_temporary_folder_nothing_is_taken(project: Path, good: Path) -> None:
    found = Lookup.of({"PATH": str(good.parent)}, project=[project], home=project.parent)
    assert found.find("git") is None


@pytest.mark.parametrize(("file", "folder"), [(0o777, 0o755), (0o755, 0o777), (0o757, 0o755), (0o755, 0o1777)])
def test_what_everybody_may_write_is_not_taken(project: Path, tmp_path: Path, file: int, folder: int) -> None:
    bad = put(tmp_path / "shared" / "git", file)
    bad.parent.chmod(folder)
    found = lookup(project, bad.parent)
    assert found.find("git") is None
    assert found.why_not("git") == f"{bad} can be exchanged by other users of this machine"


def test_the_installation_counts_wherever_it_lies(project: Path) -> None:
    own, bad = put(project / ".venv" / "bin" / "ty"), put(project / "bin" / "ty")
    found = Lookup(str(bad.parent), project=[project], ours=[project / ".venv"], beside=own.parent)
    assert found.find("ty") == str(own)


def test_an_installation_around_the_project_makes_nothing_in_the_project_ours(project: Path) -> None:
    bad = put(project / "bin" / "git")
    assert lookup(project, bad.parent, ours=project.parent).find("git") is None


def test_this_installation_is_ours() -> None:
    prefix = Path(sys.prefix)
    found = Lookup.of({"PATH": "/nowhere"}, project=[prefix.parent], home=Path("/nonexistent"))
    assert found.find(Path(sys.executable).name) == f"{Path(sys.executable).parent}/{Path(sys.executable).name}"


def test_what_the_settings_name_may_be_the_projects_own_once_that_is_trusted(project: Path, good: Path) -> None:
    bad = put(project / "bin" / "git")
    mine = put(project / "bin" / "mine")
    trusted = lookup(project, bad.parent, good.parent, trusted=True)
    assert trusted.find("mine") is None
    assert trusted.find_theirs("mine") == str(mine)
    assert trusted.find_theirs("git") == str(good)
    assert trusted.find_theirs(str(bad)) == str(bad)
    assert lookup(project, bad.parent).find_theirs(str(bad)) is None


def test_our_programs_start_others_by_a_path_without_the_project(project: Path, good: Path) -> None:
    given = {"PATH": f"{project}/bin:{good.parent}:.", "A": "b"}
    (project / "bin").mkdir()
    untrusted = Lookup(given["PATH"], project=[project])
    assert untrusted.around(given) == untrusted.around_theirs(given) == {"PATH": str(good.parent), "A": "b"}
    trusted = Lookup(given["PATH"], project=[project], trusted=True)
    assert trusted.around_theirs(given) == given
    assert trusted.around(given)["PATH"] == str(good.parent)


def test_one_that_was_found_and_has_gone_is_looked_for_again(project: Path, good: Path, tmp_path: Path) -> None:
    other = put(tmp_path / "other" / "git")
    found = lookup(project, good.parent, other.parent)
    assert found.find("git") == str(good)
    good.unlink()
    assert found.find("git") == str(other)

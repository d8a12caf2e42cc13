"""Where paths lead."""

import os
from pathlib import Path

import pytest

from toolwright.errors import ToolError
from toolwright.files.paths import Tree


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "packages" / "lib").mkdir(parents=True)
    return root


def test_the_root_is_the_top_of_the_work_tree(project: Path) -> None:
    tree = Tree(project / "packages" / "lib")
    assert (tree.directory, tree.root) == (project / "packages" / "lib", project)


def test_a_linked_work_tree_has_its_git_entry_as_a_file(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "sub").mkdir()
    assert Tree(tmp_path / "sub").root == tmp_path


def test_without_git_the_root_is_the_folder_opened(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert Tree(tmp_path / "sub").root == tmp_path / "sub"


def test_rules_may_spell_a_path_from_the_root_from_the_folder_or_in_full(project: Path) -> None:
    place = Tree(project / "packages" / "lib").place("src/a.py")
    full = str(project / "packages/lib/src/a.py")
    assert place.pattern == place.relative == "packages/lib/src/a.py"
    assert place.pattern.spellings == ("packages/lib/src/a.py", "src/a.py", full)
    assert place.absolute_pattern == full
    assert set(place.absolute_pattern.spellings) == set(place.pattern.spellings)


@pytest.mark.parametrize(
    ("given", "inside"),
    [
        ("a.txt", True),
        ("../../top.txt", True),  # outside the folder opened, inside its work tree
        ("../../../x.txt", False),
        ("..foo", True),
        ("/etc/hostname", False),
        ("out/x.txt", False),
        ("out", False),
        ("loop", True),
        ("a/../b", True),
        ("../../../project-other/x", False),
    ],
)
def test_inside_is_judged_by_where_a_path_really_leads(project: Path, given: str, inside: bool) -> None:
    lib = project / "packages" / "lib"
    (project.parent / "outside").mkdir()
    (lib / "out").symlink_to(project.parent / "outside")
    (lib / "loop").symlink_to("loop")
    assert Tree(lib).place(given).inside is inside


def test_dots_after_a_link_are_followed_as_the_system_does(project: Path) -> None:
    outside = project.parent / "outside" / "deep"
    outside.mkdir(parents=True)
    (project / "l").symlink_to(outside)
    assert Tree(project).place("l/../x").path == project.parent / "outside" / "x"


def test_a_link_keeps_its_own_name_beside_its_target(project: Path) -> None:
    (project / "real.txt").write_text("")
    (project / "l.txt").symlink_to("real.txt")
    place = Tree(project).place("./packages/../l.txt")
    assert (place.path, place.name) == (project / "real.txt", project / "l.txt")


def test_a_project_opened_through_a_link_is_the_same_project(project: Path) -> None:
    alias = project.parent / "alias"
    alias.symlink_to(project)
    place = Tree(alias).place(str(alias / "x.txt"))
    assert (place.path, place.name, place.inside) == (project / "x.txt", project / "x.txt", True)


@pytest.mark.parametrize(
    ("given", "folder", "pattern"),
    [("/etc/hosts", False, "/etc/*"), ("/etc", True, "/etc/*"), ("/hosts", False, "/*"), ("/", True, "/*")],
)
def test_outside_asks_for_the_folder(project: Path, given: str, folder: bool, pattern: str) -> None:
    (request,) = Tree(project).place(given).external(folder=folder)
    assert request.permission == "external_directory"
    assert request.patterns == request.always == (pattern,)
    assert request.metadata["filepath"] == given
    assert Tree(project).place("x").external() == ()


@pytest.mark.parametrize(("given", "kind"), [("", "is_folder"), ("a\0b", "schema")])
def test_what_is_no_path(project: Path, given: str, kind: str) -> None:
    with pytest.raises(ToolError) as caught:
        Tree(project).place(given)
    assert caught.value.kind == kind


def test_a_home_path_leads_home(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.fspath(project.parent))
    assert Tree(project).place("~/x").path == project.parent / "x"
    assert Tree(project).place("./~/x").path == project / "~" / "x"

"""Which files commands must not read: found wherever they are, and found again when they appear."""

import os
import time
from pathlib import Path

import pytest

from toolwright.process.masks import Masks


def is_env(path: str) -> bool:
    return path.endswith(".env")


@pytest.fixture
def masks(project: Path) -> Masks:
    for name in (".env", "a/b/.env", "a/c.txt", "node_modules/x/.env", ".git/x.env"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    return Masks(project)


def test_denied_files_are_found_in_the_projects_own_folders(project: Path, masks: Masks) -> None:
    assert sorted(masks.denied("rules", is_env)) == [project / ".env", project / "a/b/.env"]


def test_files_that_come_and_go_are_noticed(project: Path, masks: Masks) -> None:
    masks.denied("rules", is_env)
    (project / "a" / "new.env").write_text("x")
    (project / ".env").unlink()
    (project / "fresh").mkdir()
    (project / "fresh" / ".env").write_text("x")
    assert sorted(masks.denied("rules", is_env)) == [
        project / "a/b/.env",
        project / "a/new.env",
        project / "fresh/.env",
    ]


def test_other_rules_have_another_answer(project: Path, masks: Masks) -> None:
    masks.denied("rules", is_env)
    assert masks.denied("others", lambda path: path.endswith("c.txt")) == [project / "a/c.txt"]


def test_what_has_not_changed_is_not_judged_again(project: Path, masks: Masks) -> None:
    long_ago = time.time() - 60
    for folder in (project, project / "a", project / "a/b"):
        os.utime(folder, (long_ago, long_ago))
    masks.denied("rules", is_env)
    judged: list[str] = []

    def note(path: str) -> bool:
        judged.append(path)
        return False

    masks.denied("rules", note)
    assert judged == []


def test_a_link_to_a_denied_file_is_judged_by_its_name(project: Path, masks: Masks) -> None:
    (project / "link.env").symlink_to(project / "a" / "c.txt")
    assert project / "link.env" in masks.denied("rules", is_env)


def test_a_folder_that_cannot_be_read_is_passed_over(project: Path, masks: Masks) -> None:
    masks.denied("rules", is_env)
    (project / "a" / "b" / ".env").unlink()
    (project / "a" / "b").rmdir()
    assert masks.denied("rules", is_env) == [project / ".env"]

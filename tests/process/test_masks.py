"""What rules restrict in a project: found wherever it is, and found again when it appears."""

import os
from pathlib import Path

import pytest

from toolwright.process.masks import RULE_SETS, Masks, Verdict


def is_env(path: str) -> Verdict:
    return Verdict.UNREAD if path.endswith(".env") else Verdict.FREE


def is_migration(path: str) -> Verdict:
    inside = "/migrations/" in path and not path.endswith("spared.sql")
    return Verdict.LOCKED if inside else Verdict.FREE


@pytest.fixture
def masks(project: Path) -> Masks:
    for name in (".env", "a/b/.env", "a/c.txt", "node_modules/x/.env", ".git/x.env", "db/migrations/1.sql"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    return Masks(project)


def test_restricted_files_are_found_in_all_folders_but_gits_own(project: Path, masks: Masks) -> None:
    expected = [project / ".env", project / "a/b/.env", project / "node_modules/x/.env"]
    assert sorted(masks.find("rules", is_env).unread) == expected
    assert sorted(masks.find("rules", is_env, everywhere=False).unread) == expected[:2]


def test_closed_folders_are_left_alone(project: Path, masks: Masks) -> None:
    found = Masks(project, closed=[project / "a"]).find("rules", is_env)
    assert sorted(found.unread) == [project / ".env", project / "node_modules/x/.env"]


def test_files_that_come_and_go_are_noticed(project: Path, masks: Masks) -> None:
    masks.find("rules", is_env)
    (project / "a" / "new.env").write_text("x")
    (project / ".env").unlink()
    (project / "fresh").mkdir()
    (project / "fresh" / ".env").write_text("x")
    assert sorted(masks.find("rules", is_env, everywhere=False).unread) == [
        project / "a/b/.env",
        project / "a/new.env",
        project / "fresh/.env",
    ]


def test_other_rules_have_another_answer_however_many_there_are(project: Path, masks: Masks) -> None:
    for number in range(2 * RULE_SETS):
        masks.find(("rules", number), is_env)
    asked = masks.find("others", lambda path: Verdict.ASKED if path.endswith("c.txt") else Verdict.FREE)
    assert (asked.unread, asked.asked) == ([], [project / "a/c.txt"])


def test_what_has_not_changed_is_not_judged_again(project: Path, masks: Masks) -> None:
    long_ago = 1e9
    for folder in (project, *(path for path in project.rglob("*") if path.is_dir())):
        os.utime(folder, (long_ago, long_ago))
    none = masks.find("rules", lambda _: Verdict.FREE)
    judged: list[str] = []

    def note(path: str) -> Verdict:
        judged.append(path)
        return Verdict.FREE

    assert masks.find("rules", note) == none
    assert judged == []


def test_a_link_to_a_denied_file_is_judged_by_its_name(project: Path, masks: Masks) -> None:
    (project / "link.env").symlink_to(project / "a" / "c.txt")
    assert project / "link.env" in masks.find("rules", is_env).unread


def test_a_folder_that_cannot_be_read_is_passed_over(project: Path, masks: Masks) -> None:
    masks.find("rules", is_env)
    (project / "a" / "b" / ".env").unlink()
    (project / "a" / "b").rmdir()
    assert masks.find("rules", is_env, everywhere=False).unread == [project / ".env"]


def test_a_folder_of_which_every_file_is_locked_is_locked_as_a_whole(project: Path, masks: Masks) -> None:
    (project / "db/migrations/spared.sql").write_text("x")
    found = masks.find("rules", is_migration)
    assert found.locked == [project / "db/migrations"]
    assert found.spared == [project / "db/migrations/spared.sql"]


def test_a_folder_is_pinned_where_its_name_is_what_the_rules_go_by(project: Path, masks: Masks) -> None:
    assert masks.find("by name", is_env).pinned == []
    (project / "secrets").mkdir()
    (project / "secrets" / "key").write_text("x")
    secret = masks.find("by folder", lambda path: Verdict(path.startswith(f"{project}/secrets/")))
    assert (secret.unread, secret.pinned) == ([project / "secrets/key"], [project / "secrets"])


def test_repositories_below_the_projects_own_are_found(project: Path, masks: Masks) -> None:
    (project / "a" / "inner" / ".git").mkdir(parents=True)
    assert masks.find("rules", is_env).repositories == [project / "a/inner/.git"]

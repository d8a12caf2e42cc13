"""What rules restrict in a project: found wherever it is, and found again when it appears."""

import os
import shutil
from pathlib import Path

import pytest

from toolwright.process.paths.masks import RULE_SETS, Masks, Restriction


def is_env(path: str) -> Restriction:
    return Restriction.UNREAD if path.endswith(".env") else Restriction.FREE


def is_migration(path: str) -> Restriction:
    inside = "/migrations/" in path and not path.endswith("spared.sql")
    return Restriction.LOCKED if inside else Restriction.FREE


@pytest.fixture
def masks(project: Path) -> Masks:
    for name in (".env", "a/b/.env", "a/c.txt", "node_modules/x/.env", ".git/x.env", "db/migrations/1.sql"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    return Masks(project)


def test_restricted_files_are_found_in_all_folders(project: Path, masks: Masks) -> None:
    expected = [project / name for name in (".env", ".git/x.env", "a/b/.env", "node_modules/x/.env")]
    assert sorted(masks.find("rules", is_env).unread) == expected
    assert sorted(masks.find("rules", is_env, everywhere=False).unread) == [project / ".env", project / "a/b/.env"]


def test_what_git_names_after_a_branch_is_no_secret(project: Path, masks: Masks) -> None:
    heads = project / ".git" / "refs" / "heads"
    heads.mkdir(parents=True)
    (heads / "prod.env").write_text("0123456789abcdef0123456789abcdef01234567\n")
    (heads / "secret.env").write_text("KEY=1")
    os.mkfifo(heads / "pipe.env")
    found = masks.find("rules", is_env).unread
    assert {heads / "secret.env", heads / "pipe.env"} < set(found)
    assert heads / "prod.env" not in found


def test_closed_folders_are_left_alone(project: Path, masks: Masks) -> None:
    found = Masks(project, closed=[project / "a"]).find("rules", is_env)
    assert project / "node_modules/x/.env" in found.unread
    assert project / "a/b/.env" not in found.unread


HIDING_PLACES = ["node_modules/x/new", "node_modules/x/.git/deep", ".git/objects", "b"]
"""Where a folder with a secret could be moved to, some of them not looked through at every command."""


@pytest.mark.parametrize("place", HIDING_PLACES)
@pytest.mark.parametrize("is_replaced", [False, True])
def test_what_was_moved_to_where_nobody_would_look_so_soon_is_found(
    project: Path, masks: Masks, place: str, is_replaced: bool
) -> None:
    masks.find("rules", is_env)
    (project / place).parent.mkdir(parents=True, exist_ok=True)
    (project / "a").rename(project / place)
    if is_replaced:
        (project / "a/b").mkdir(parents=True)
        (project / "a/b/.env").write_text("x")
    found = masks.find("rules", is_env).unread
    assert project / place / "b/.env" in found
    assert (project / "a/b/.env" in found) == is_replaced


def test_also_within_such_a_folder(project: Path, masks: Masks) -> None:
    masks.find("rules", is_env)
    (project / "node_modules/y").mkdir()
    masks.find("rules", is_env)
    (project / "node_modules/x/.env").rename(project / "node_modules/y/.env")
    assert project / "node_modules/y/.env" in masks.find("rules", is_env).unread


def test_a_time_that_was_set_back_hides_nothing(project: Path, masks: Masks) -> None:
    for name in ("empty", "a/b"):
        (project / name).mkdir(exist_ok=True)
        os.utime(project / name, (1e9, 1e9))
    masks.find("rules", is_env)
    (project / "empty").rmdir()
    (project / "a/b").rename(project / "empty")
    assert project / "empty/.env" in masks.find("rules", is_env).unread


def test_beyond_a_number_of_folders_the_rest_is_looked_through_as_a_whole(
    project: Path, masks: Masks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.process.paths.listings.FOLDERS", 4)
    assert project / "a/b/.env" in masks.find("rules", is_env).unread
    (project / "a/b").rename(project / "db/migrations/b")
    assert project / "db/migrations/b/.env" in masks.find("rules", is_env).unread


def test_folders_that_come_and_go_leave_nothing_behind(project: Path, masks: Masks) -> None:
    def known() -> int:
        masks.find("rules", is_env)
        return len(masks.listings.by_folder) + len(masks._rested)

    before = known()
    for number in range(20):
        (project / f"new{number}/node_modules/x").mkdir(parents=True)
        known()
        shutil.rmtree(project / f"new{number}")
    assert known() == before


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
    asked = masks.find("others", lambda path: Restriction.ASKED if path.endswith("c.txt") else Restriction.FREE)
    assert (asked.unread, asked.asked) == ([], [project / "a/c.txt"])


def test_what_has_not_changed_is_not_judged_again(project: Path, masks: Masks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.process.paths.listings.UNSETTLED", -(10**12))
    none = masks.find("rules", lambda _: Restriction.FREE)
    judged: list[str] = []

    def note(path: str) -> Restriction:
        judged.append(path)
        return Restriction.FREE

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
    assert masks.find("by name", is_migration).pinned == [project / "db"]
    (project / "secrets").mkdir()
    (project / "secrets" / "key").write_text("x")
    secret = masks.find("by folder", lambda path: Restriction(path.startswith(f"{project}/secrets/")))
    assert (secret.unread, secret.pinned) == ([project / "secrets/key"], [project / "secrets"])


def test_folders_with_something_that_may_not_be_read_are_pinned_but_for_those_of_other_people(
    project: Path, masks: Masks
) -> None:
    assert masks.find("rules", is_env).pinned == [project / "a", project / "a/b"]


def test_repositories_below_the_projects_own_are_found(project: Path, masks: Masks) -> None:
    (project / "a" / "inner" / ".git").mkdir(parents=True)
    assert masks.find("rules", is_env).repositories == [project / "a/inner/.git"]


def test_what_was_moved_and_replaced_by_its_like_is_found_by_all_rules(project: Path, masks: Masks) -> None:
    for rules in ("some", "others"):
        masks.find(rules, is_env)
    (project / ".env").rename(project / "node_modules/x/moved.env")
    (project / ".env").write_text("another")
    for rules in ("some", "others"):
        assert project / "node_modules/x/moved.env" in masks.find(rules, is_env).unread

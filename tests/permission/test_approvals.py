"""Lasting approvals: what they cover, how long they hold, and the file they are in."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwright.calls.request import PathPattern, Request
from toolwright.errors import ConfigError, UsageError
from toolwright.permission.approvals import Approval, Approvals, covered

COVERS: list[tuple[str, str, bool]] = [
    ("git status *", "git status", True),
    ("git status *", "git status -s", True),
    ("git status *", "git statusx", False),
    ("git status", "git status -s", False),
    ("*", "anything at all", True),
    ("/out/*", "/out/a/b", True),
    ("/out/*", "/outside", False),
    ("/*/ls -d .", "/bin/sh -c 'touch x' /ls -d .", False),
    ("echo ?", "echo a", False),
    ("echo [ab] *", "echo a b", False),
]


@pytest.mark.parametrize(("stored", "asked", "covered"), COVERS)
def test_only_a_final_star_is_a_wildcard(stored: str, asked: str, covered: bool) -> None:
    assert Approval("bash", stored).covers("bash", asked) is covered


def test_an_approval_is_for_one_permission() -> None:
    assert not Approval("edit", "*").covers("bash", "x")


def test_a_path_is_covered_in_any_of_its_spellings() -> None:
    assert Approval("edit", "/p/src/*").covers("edit", PathPattern("src/a", also=("/p/src/a",)))


@given(st.text(max_size=20))
def test_the_exact_words_are_always_covered_by_themselves(words: str) -> None:
    assert Approval("bash", words).covers("bash", words)


def make(tmp_path: Path, project: str = "one") -> Approvals:
    return Approvals(file=tmp_path / "data" / "approvals.json", project=tmp_path / project)


def test_the_scopes_last_as_long_as_they_say(tmp_path: Path) -> None:
    approvals = make(tmp_path)
    approvals.add((Approval("bash", "a *"),), "session", "ses_1")
    approvals.add((Approval("bash", "b *"),), "project", "ses_1")
    approvals.add((Approval("bash", "c *"),), "user", "ses_1")

    def patterns(store: Approvals, *sessions: str) -> list[str]:
        return sorted(one.pattern for one in store.of(sessions))

    assert patterns(approvals, "ses_1") == ["a *", "b *", "c *"]
    assert patterns(approvals, "ses_2") == ["b *", "c *"]
    assert patterns(approvals, "ses_2", "ses_1") == ["a *", "b *", "c *"]
    assert patterns(make(tmp_path), "ses_1") == ["b *", "c *"]
    assert patterns(make(tmp_path, "two"), "ses_1") == ["c *"]


def test_they_stand_in_a_file_a_person_can_read(tmp_path: Path) -> None:
    approvals = make(tmp_path)
    for _ in range(2):
        approvals.add((Approval("bash", "git status *"), Approval("edit", "ü*")), "project", "ses_1")
    assert json.loads(approvals.file.read_text("utf-8")) == {
        "projects": {
            str(tmp_path / "one"): [
                {"permission": "bash", "pattern": "git status *"},
                {"permission": "edit", "pattern": "ü*"},
            ]
        }
    }
    assert "ü" in approvals.file.read_text("utf-8")


def test_what_a_person_changes_in_the_file_holds_from_the_next_call(tmp_path: Path) -> None:
    approvals = make(tmp_path)
    approvals.add((Approval("bash", "a *"),), "user", "ses_1")
    assert len(approvals.of(("ses_1",))) == 1
    approvals.file.write_text('{"user": []}')
    assert approvals.of(("ses_1",)) == ()
    approvals.file.unlink()
    assert approvals.of(("ses_1",)) == ()


def test_an_approval_can_be_taken_back(tmp_path: Path) -> None:
    approvals = make(tmp_path)
    approvals.add((Approval("bash", "a *"),), "user", "ses_1")
    approvals.add((Approval("bash", "a *"), Approval("bash", "b *")), "project", "ses_1")
    assert approvals.revoke("bash", "a *") == 2
    assert [(scope, one.pattern) for scope, one in approvals.listed()] == [("project", "b *")]
    with pytest.raises(UsageError, match=r"No approval bash 'a \*' is stored"):
        approvals.revoke("bash", "a *")


def test_an_approval_for_reading_is_one_wherever_it_is_shown_stored_or_revoked(tmp_path: Path) -> None:
    approvals = make(tmp_path)
    reading = Approval("external_directory", "/opt/*", reading=True)
    approvals.add((reading, Approval("external_directory", "/opt/*")), "user", "ses_1")
    assert [one.text for _, one in make(tmp_path).listed()] == ["(read) /opt/*", "/opt/*"]
    assert Approval.written("external_directory", "(read) /opt/*") == reading
    assert approvals.revoke("external_directory", "(read) /opt/*") == 1
    assert [one.text for _, one in approvals.listed()] == ["/opt/*"]


def test_what_an_older_version_has_stored_is_still_for_reading_alone(tmp_path: Path) -> None:
    approvals = make(tmp_path)
    approvals.file.parent.mkdir()
    entries = [{"permission": name, "pattern": "(read) /opt/*"} for name in ("external_directory", "bash")]
    approvals.file.write_text(json.dumps({"user": entries}))
    stored = approvals.of(("ses_1",))
    assert stored == (Approval("external_directory", "/opt/*", reading=True), Approval("bash", "(read) /opt/*"))
    for only_read, covers in (("/opt/x",), True), ((), False):
        request = Request(permission="external_directory", patterns=("/opt/x",), only_read=only_read)
        assert covered(request, "/opt/x", stored) is covers
    assert approvals.revoke("external_directory", "(read) /opt/*") == 1


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"user": {}}',
        '{"user": [{"permission": "bash"}]}',
        '{"user": [{"permission": "bash", "pattern": 3}]}',
        '{"user": ["bash *"]}',
        '{"projects": []}',
        '{"projects": {"PROJECT": "all"}}',
    ],
)
def test_a_mistake_in_the_file_is_one_clear_error_and_nothing_is_lost(tmp_path: Path, text: str) -> None:
    approvals = make(tmp_path)
    approvals.file.parent.mkdir()
    text = text.replace("PROJECT", str(tmp_path / "one"))
    approvals.file.write_text(text)
    with pytest.raises(ConfigError, match=r"approvals\.json"):
        approvals.of(("ses_1",))
    with pytest.raises(ConfigError, match=r"approvals\.json"):
        approvals.add((Approval("bash", "a"),), "user", "ses_1")
    assert approvals.file.read_text() == text

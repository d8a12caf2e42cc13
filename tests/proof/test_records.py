"""Records that a stranger can check: the chain, bundles of it, redaction, and the way back from a line."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.proof.test_evidence import bash, write
from tests.proof.test_goals import script
from tests.session.trial import says

SECRET = "hunter2hunter2"


@pytest.fixture
def worked(tw: Tw, project: Path) -> Tw:
    """A session in which a file was written twice, and a secret seen."""
    (project / "a.py").write_text("one = 1\n")
    turns = (
        write("a.py", "one = 1\ntwo = 2\n"),
        bash(f"echo password {SECRET}"),
        write("a.py", "zero = 0\none = 1\ntwo = 2\n"),
        says("Wrote a.py."),
    )
    assert tw("run", "write numbers", "--model", script(project, *turns), "--yes").code == 0
    return tw


def database(home: Path) -> sqlite3.Connection:
    return sqlite3.connect(home / ".local" / "share" / "toolwright" / "toolwright.db")


def change(home: Path, statement: str, *values: Any) -> None:
    with database(home) as connection:
        assert connection.execute(statement, values).rowcount
    connection.close()


def test_what_was_written_fits(worked: Tw) -> None:
    found = worked("session", "verify", "--json")
    assert (found.code, found.json["fits"], found.json["misfit"]) == (0, True, None)
    assert found.json["records"] > 10


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (
            "UPDATE part SET data = replace(data, 'two = 2', 'two = 3') WHERE data LIKE '%two = 2%'",
            "not what was written",
        ),
        ('DELETE FROM part WHERE data LIKE \'%"tool":"bash"%\'', "it is gone"),
        ("UPDATE message SET data = replace(data, 'build', 'plan')", "not what was written"),
        ("UPDATE session SET data = json_set(data, '$.title', 'x')", "not what was written"),
        ("DELETE FROM chain WHERE seq = (SELECT min(seq) + 2 FROM chain)", "does not follow"),
        ("UPDATE chain SET digest = hash WHERE seq = (SELECT max(seq) FROM chain)", "does not follow"),
        (
            "INSERT INTO part SELECT max(seq) + 1, 'prt_x', message_id, session_id, data FROM part",
            "no link names it",
        ),
    ],
)
def test_whatever_is_changed_later_is_found(worked: Tw, home: Path, statement: str, why: str) -> None:
    change(home, statement)
    found = worked("session", "verify")
    assert (found.code, why in found.out) == (1, True), found.out


def test_going_on_and_undoing_keep_the_chain(worked: Tw, project: Path) -> None:
    assert worked("run", "and on", "--continue", "--model", script(project, says("More.")), "--yes").code == 0
    assert worked("undo").code == 0
    assert worked("session", "fork", "last").code == 0
    assert worked("session", "verify").code == 0


def test_a_bundle_is_checked_without_the_session(worked: Tw, project: Path, home: Path) -> None:
    assert worked("session", "bundle", "-o", "b.json").code == 0
    assert worked("session", "delete", "last").code == 0
    assert worked("session", "verify", "b.json").code == 0
    bundle = json.loads((project / "b.json").read_text())
    assert [one["textAfter"] for one in bundle["changes"]] == ["one = 1\ntwo = 2\n", "zero = 0\none = 1\ntwo = 2\n"]
    assert bundle["evidence"]["verdict"] == "not_shown"
    assert worked("session", "import", "b.json").code == 0
    assert "write numbers" in worked("session", "show", "last").out


def test_any_change_of_a_bundle_is_found(worked: Tw, project: Path) -> None:
    worked("session", "bundle", "-o", "b.json")
    text = (project / "b.json").read_text()
    for old, new in (
        ("Wrote a.py", "Wrote b.py"),
        ("not_shown", "proven"),
        ('"exit":0', '"exit":1'),
        ("zero = 0", "zero = 7"),
    ):
        assert old in text
        (project / "c.json").write_text(text.replace(old, new))
        found = worked("session", "verify", "c.json")
        assert (found.code, "does not fit" in found.out) == (1, True), (old, found)
    (project / "c.json").write_text("{}")
    assert worked("session", "verify", "c.json").code == 2


def test_what_is_redacted_is_gone_and_the_rest_still_fits(worked: Tw, project: Path) -> None:
    packed = worked("session", "bundle", "-o", "b.json", "--redact", "hunter[0-9a-z]+")
    assert packed.code == 0
    text = (project / "b.json").read_text()
    assert SECRET not in text
    found = worked("session", "verify", "b.json")
    assert (found.code, "taken out: " in found.err) == (0, True), found
    (project / "c.json").write_text(text.replace("█████", "nothing"))
    assert worked("session", "verify", "c.json").code == 0, "what stands in the place of a secret says nothing"
    bundle = json.loads(text)
    redacted = {one["record"] for one in bundle["redacted"]}
    records = [one for session in bundle["sessions"].values() for one in session["records"]]
    assert all(("salt" not in one) == (one["id"] in redacted) for one in records), "their salts would give it away"


def test_what_is_a_name_cannot_be_redacted(worked: Tw) -> None:
    found = worked("session", "bundle", "--redact", "command")
    assert (found.code, "cannot be taken out" in found.err) == (2, True)


def test_a_line_leads_to_its_call_its_prompt_and_who_allowed_it(worked: Tw, project: Path) -> None:
    found = worked("blame", "a.py:3", "--json").json
    assert (found["tool"], found["prompt"]["text"], found["input"]["content"]) == (
        "write",
        "write numbers",
        "one = 1\ntwo = 2\n",
    )
    assert [(one["permission"], one["action"], one["by"]) for one in found["allowed"]] == [("edit", "allow", "rule")]
    assert worked("blame", "a.py:1", "--json").json["call"] != found["call"]
    assert worked("blame", "a.py:2").code == 1, "it was there before"
    (project / "a.py").write_text("mine = 1\nzero = 0\none = 1\ntwo = 2\n")
    assert worked("blame", "a.py:1").code == 1
    assert worked("blame", "a.py:4", "--json").json["call"] == found["call"]
    assert worked("blame", "a.py:99").code == 2


def test_a_summary_says_what_the_records_say(worked: Tw) -> None:
    text = worked("session", "summary", "--pull-request").out
    assert "> write numbers" in text
    assert "- `a.py`" in text
    assert "**not shown**" in text
    head = worked("session", "verify", "--json").json["head"]
    assert head in text

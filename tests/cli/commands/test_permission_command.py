"""tw permission: explain, test, list and revoke."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw

Configure = Callable[[Any], None]


def test_explain_tells_the_deciding_rule_its_file_and_line_and_who_lost(
    tw: Tw, project: Path, configure: Configure
) -> None:
    configure('{\n  "permission": {\n    "edit": {\n      "*": "allow",\n      "secrets/*": "deny"\n    }\n  }\n}')
    text = tw("permission", "explain", "write", '{"filePath": "secrets/a", "content": ""}').out
    place = project.resolve() / "toolwright.json"
    assert text.splitlines() == [
        "edit: deny",
        "  'secrets/a' → deny  [agent build]",
        "      defaults         * *: allow  built in",
        f"    * project          edit secrets/*: deny  {place}:5",
        (
            f"  Only a later rule would change it. `edit secrets/*: deny` is from {place}:5, layer project;"
            " no answer and no approval overrules a deny."
        ),
    ]
    assert not (project / "secrets").exists()


def test_explain_shows_a_rule_that_did_not_count(tw: Tw, configure: Configure) -> None:
    configure({"permission": {"edit": "allow"}})
    text = tw("permission", "explain", "write", '{"filePath": "a", "content": ""}', "--agent", "plan", "--trust").out
    assert "edit: deny" in text
    assert "x project" in text


def test_explain_as_json_has_winner_layer_source_and_matches(tw: Tw) -> None:
    [told] = tw("permission", "explain", "read", '{"filePath": ".env"}', "--json").json
    assert (told["permission"], told["decision"]) == ("read", "deny")
    [pattern] = told["patterns"]
    assert (pattern["winner"], pattern["layer"], pattern["source"]) == ("read *.env: deny", "defaults", "built in")


def test_explain_of_a_bad_call_is_that_calls_error(tw: Tw) -> None:
    outcome = tw("permission", "explain", "read", "{}")
    assert outcome.code == 1
    assert "filePath: is missing" in outcome.err


TABLE = """\
# what I think my rules do
deny   build read .env
allow  build read .env.example
deny   plan  edit src/a.py
hidden explore write a.txt
ask    build bash rm -rf build
allow  build bash git status
ask    build external_directory /etc/*
deny   build mytool anything
"""


def test_a_table_of_expectations_passes_or_tells_what_it_is_and_why(
    tw: Tw, project: Path, configure: Configure
) -> None:
    configure({"permission": {"bash": {"*": "allow", "rm *": "ask"}, "mytool": "deny"}})
    (project / "rules.txt").write_text(TABLE)
    good = tw("permission", "test", "rules.txt", "--trust")
    assert (good.code, good.out.splitlines()[-1]) == (0, "8 passed, 0 failed"), good.out
    (project / "rules.txt").write_text("allow build read .env\ndeny build read .env\n")
    bad = tw("permission", "test", "rules.txt")
    assert bad.code == 1
    assert "FAIL  allow build read .env  rules.txt:1: it is deny: `read *.env: deny` built in" in bad.out
    assert bad.out.splitlines()[-1] == "1 passed, 1 failed"
    told = tw("permission", "test", "rules.txt", "--json").json
    assert told == [
        {"line": 1, "expected": "allow", "decision": "deny"},
        {"line": 2, "expected": "deny", "decision": "deny"},
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("perhaps build read a", "expected the form"),
        ("allow build", "expected the form"),
        ("allow build read {oops", "must be a JSON object"),
        ("allow build raed x", "there is no tool or permission 'raed'; did you mean 'read'?"),
        ("allow biuld read x", "there is no agent 'biuld'; did you mean 'build'?"),
        ("allow build external_directroy /etc", "did you mean 'external_directory'?"),
        ("hidden plan edit", "it is offered: edit is offered to plan"),
        ("deny build bash", "it is "),
        ("allow build todowrite words", "must be a JSON object"),
    ],
)
def test_a_wrong_line_fails_alone_and_is_named(tw: Tw, project: Path, line: str, told: str) -> None:
    (project / "rules.txt").write_text(f"# first\n{line}\nallow build read a\n")
    outcome = tw("permission", "test", "rules.txt")
    first, second, last = outcome.out.splitlines()
    assert (outcome.code, last) == (1, "1 passed, 1 failed")
    assert first.startswith(f"FAIL  {line}")
    assert "rules.txt:2: " in first
    assert told in first or told == "it is "
    assert second.startswith("ok    allow build read a")


def test_a_table_without_a_line_is_no_success(tw: Tw, project: Path) -> None:
    (project / "rules.txt").write_text("# nothing yet\n")
    outcome = tw("permission", "test", "rules.txt")
    assert outcome.code == 2
    assert "rules.txt has no line to test" in outcome.err


def test_a_call_can_be_explained_without_json(tw: Tw) -> None:
    assert "'git push origin' → allow" in tw("permission", "explain", "bash", "git", "push", "origin").out
    assert "read: deny" in tw("permission", "explain", "read", ".env").out
    assert "external_directory: ask" in tw("permission", "explain", "external_directory", "/etc/hosts").out


@pytest.mark.parametrize("name", ["nope", "raed"])
def test_a_tool_that_is_not_there_is_not_explained(tw: Tw, name: str) -> None:
    outcome = tw("permission", "explain", name, "{}")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"tw: There is no tool or permission {name!r}" in outcome.err
    assert "?." not in outcome.err


def test_an_address_that_is_closed_counts_as_denied(tw: Tw, project: Path) -> None:
    (project / "rules.txt").write_text("deny build webfetch http://127.1/\nallow build webfetch https://example.com/\n")
    assert tw("permission", "test", "rules.txt").code == 0


def test_a_table_that_is_not_there_is_named(tw: Tw) -> None:
    outcome = tw("permission", "test", "nowhere.txt")
    assert (outcome.code, outcome.err) == (2, "tw: nowhere.txt cannot be read: No such file or directory.\n")


def approve(home: Path, project: Path) -> None:
    file = home / ".local" / "share" / "toolwright" / "approvals.json"
    file.parent.mkdir(parents=True)
    entry = {"permission": "bash", "pattern": "git log *"}
    file.write_text(json.dumps({"projects": {str(project.resolve()): [entry], "/other": [entry]}}))


def test_approvals_are_listed_obeyed_and_revoked(tw: Tw, home: Path, project: Path, configure: Configure) -> None:
    configure({"permission": {"bash": "ask"}})
    approve(home, project)
    assert tw("permission", "list").out == "project  bash  git log *\n"
    assert tw("permission", "list", "--json").json == [
        {"scope": "project", "permission": "bash", "pattern": "git log *"}
    ]
    explained = tw("permission", "explain", "bash", '{"command": "git log -3", "description": "d"}').out
    assert "bash: allow" in explained
    assert "approved: bash git log *" in explained
    assert tw("permission", "revoke", "bash", "git log *").code == 0
    assert tw("permission", "list").out == ""
    again = tw("permission", "revoke", "bash", "git log *")
    assert again.code == 2
    assert "No approval bash 'git log *' is stored" in again.err
    assert "bash: ask" in tw("permission", "explain", "bash", '{"command": "git log -3", "description": "d"}').out

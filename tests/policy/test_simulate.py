"""tw permission simulate: recorded calls that the rules of another file would decide otherwise."""

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Tw

STEPS = [
    {"tools": [{"name": "bash", "args": {"command": "git status", "description": "Look"}}]},
    {"tools": [{"name": "write", "args": {"filePath": "gen/a.txt", "content": "a\n"}}]},
    {"text": "Done."},
]


def record(tw: Tw, project: Path, steps: list[Any]) -> None:
    script = project.parent / "script.json"
    script.write_text(json.dumps(steps))
    outcome = tw("run", "Do it", "--model", f"scripted/{script}", "--yes")
    assert outcome.code == 0, outcome.err


def test_only_the_calls_that_change_are_told_with_the_rule(tw: Tw, project: Path) -> None:
    record(tw, project, STEPS)
    file = project.parent / "proposal.json"
    file.write_text('{"permission": {\n"bash": "ask",\n"edit": {"gen/*": "deny"}}}')
    outcome = tw("permission", "simulate", "--config", str(file), "--json")
    assert outcome.code == 0, outcome.err
    told = [(one["tool"], one["was"], one["now"], one["rule"]) for one in outcome.json]
    assert told == [("bash", "allow", "ask", "bash *: ask"), ("write", "allow", "deny", "edit gen/*: deny")]
    assert outcome.json[0]["arguments"] == {"command": "git status", "description": "Look"}
    assert "2 calls would be decided otherwise" in tw("permission", "simulate", "--config", str(file)).out


def test_one_session_is_the_latest(tw: Tw, project: Path) -> None:
    record(tw, project, STEPS)
    record(tw, project, [{"tools": [{"name": "read", "args": {"filePath": "gen/a.txt"}}]}, {"text": "Read."}])
    file = project.parent / "proposal.json"
    file.write_text('{"permission": {"read": "ask", "bash": "ask"}}')
    told = tw("permission", "simulate", "--config", str(file), "--sessions", "1", "--json").json
    assert [one["tool"] for one in told] == ["read"]
    assert len(tw("session", "list", "--json").json) == 2


def test_a_file_that_is_not_there_is_named(tw: Tw) -> None:
    outcome = tw("permission", "simulate", "--config", "nothing.json")
    assert outcome.code == 2
    assert "nothing.json" in outcome.err


def test_a_rule_about_acts_changes_what_was_decided_of_a_command(tw: Tw, project: Path) -> None:
    push = {"tools": [{"name": "bash", "args": {"command": "git push --force", "description": "Push"}}]}
    record(tw, project, [push, {"text": "Done."}])
    file = project.parent / "proposal.json"
    file.write_text('{"permission": {"act": {"final": "deny"}}}')
    told = tw("permission", "simulate", "--config", str(file), "--json").json
    assert [(one["was"], one["now"], one["rule"]) for one in told] == [("ask", "deny", "act final: deny")]

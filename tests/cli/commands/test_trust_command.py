"""tw trust: a project's rules and code take effect when the user says so."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Tw


def test_trust_is_given_listed_and_taken_back(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"read": {"*.env": "allow"}}}')
    (project / ".env").write_text("A=1\n")
    read = ("tool", "call", "read", '{"filePath": ".env"}')
    assert tw(*read).code == 3
    assert tw("trust").code == 0
    assert tw("trust", "--list").out == f"{project.resolve()}\n"
    assert tw(*read).code == 0
    assert "no longer trusted" in tw("trust", "--remove").err
    assert "was not trusted" in tw("trust", "--remove").err
    assert tw(*read).code == 3
    assert tw(*read, "--trust").code == 0
    assert tw("trust", "--list").out == ""


def test_a_damaged_file_of_trust_is_one_message(tw: Tw, home: Path) -> None:
    file = home / ".local" / "share" / "toolwright" / "trust.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    outcome = tw("tool", "list")
    assert outcome.code == 1
    assert "trust.json" in outcome.err


def test_it_shows_what_becomes_active_and_later_what_has_changed(tw: Tw, project: Path) -> None:
    (project / "toolwright.json").write_text('{\n  "model": "a/b"\n}\n')
    assert tw("trust", "--check").code == 1
    assert tw("trust").out == "active  toolwright.json  (21 bytes)\n"
    assert (tw("trust", "--check").code, tw("trust").out) == (0, "")
    (project / "toolwright.json").write_text('{\n  "model": "c/d" // \x1b[2Jevil\n}\n')
    assert tw("config", "--json").json == {}
    outcome = tw("trust", "--check")
    assert outcome.code == 1
    assert '-  "model": "a/b"\n+  "model": "c/d" // \\x1b[2Jevil\n' in outcome.out
    assert tw("trust", "--check", "--json").json["changed"] == ["toolwright.json"]
    assert "changed since you trusted the project: toolwright.json" in tw("config", "--json").err
    assert tw("trust").out == outcome.out
    assert tw("config", "--json").json["model"] == "c/d"


BROKEN = ["{", '{"permission": "never"}', '{"username": "{file:~/nowhere}"}']


@pytest.mark.parametrize("text", BROKEN)
def test_it_works_where_the_configuration_is_broken(tw: Tw, project: Path, text: str) -> None:
    (project / "toolwright.json").write_text(text)
    assert tw("trust").code == 0
    assert tw("trust", "--list").out == f"{project.resolve()}\n"
    assert "no longer trusted" in tw("trust", "--remove").err


def test_a_command_in_the_sandbox_cannot_trust(tw: Tw, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWRIGHT_SANDBOX", "bubblewrap")
    assert tw("trust").code == 2
    assert tw("trust", "--list").out == ""


def test_what_cannot_be_read_cannot_be_trusted(tw: Tw, project: Path) -> None:
    (project / ".toolwright" / "agent").mkdir(parents=True)
    os.mkfifo(project / ".toolwright" / "agent" / "a.md")
    outcome = tw("trust")
    assert (outcome.code, "cannot be read" in outcome.err) == (2, True)


def test_nor_can_it_answer_questions(tw: Tw, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWRIGHT_SANDBOX", "bubblewrap")
    outcome = tw("tool", "call", "write", '{"filePath": "n", "content": "x"}', "--yes")
    assert (outcome.code, "Leave out --yes" in outcome.err) == (2, True)
    assert not (project / "n").exists()


def test_it_names_the_programs_servers_plugins_and_commands_that_the_settings_bring(tw: Tw, project: Path) -> None:
    settings = {
        "command": {"check": {"template": "Look at !`git log`"}},
        "mcp": {"a": {"type": "local", "command": ["prog", "x y"]}, "b": {"type": "remote", "url": "https://b.test"}},
        "plugin": ["./p.js"],
        "experimental": {"hook": {"session_completed": [{"command": ["touch", "done"]}]}},
    }
    (project / "opencode.json").write_text(json.dumps(settings))
    (project / ".mcp.json").write_text('{"mcpServers": {"c": {"command": "serve", "args": ["--now"]}}}')
    out = tw("trust").out
    for line in (
        "command /check",
        "runs git log (in a command)",
        "runs prog 'x y' (mcp.a)",
        "connects to https://b.test (mcp.b)",
        "plugin ./p.js",
        "runs touch done (experimental.hook.session_completed)",
        "runs serve --now (mcpServers.c)",
    ):
        assert f"        {line}\n" in out

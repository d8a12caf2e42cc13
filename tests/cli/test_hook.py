"""tw hook: calls of Claude Code judged by our rules."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.cli import main

RULES = {
    "bash": {"*": "allow", "git push *": "deny", "make *": "ask"},
    "edit": {"*": "allow", "gen/*": "deny"},
    "read": {"secret/*": "deny"},
    "linear_*": "ask",
    "task": {"shipper": "deny"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    (made / "sub").mkdir(parents=True)
    (made / "toolwright.json").write_text(json.dumps({"permission": RULES}))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made


def decided(
    folder: Path, name: str, given: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    told = {"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": given, "cwd": str(folder)}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(told)))
    assert main(["hook", "--trust"]) == 0
    out = capsys.readouterr().out
    return str(json.loads(out)["hookSpecificOutput"]["permissionDecision"]) if out else ""


@pytest.mark.parametrize(
    ("name", "given", "action"),
    [
        ("Bash", {"command": "ls", "description": "List"}, "allow"),
        ("Bash", {"command": "ls && git push origin main"}, "deny"),
        ("Bash", {"command": "make all", "run_in_background": True}, "ask"),
        ("Bash", {"command": "rm -rf /etc/x"}, "ask"),
        ("Read", {"file_path": "../secret/key", "offset": 3}, "deny"),
        ("Read", {"file_path": "/etc/passwd"}, "ask"),
        ("Write", {"file_path": "new.txt", "content": "x"}, "allow"),
        ("Edit", {"file_path": "../gen/a.txt", "old_string": "x", "new_string": "y"}, "deny"),
        ("Edit", {"file_path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": True}, "allow"),
        ("MultiEdit", {"file_path": "../gen/a.txt", "edits": []}, "deny"),
        ("NotebookEdit", {"notebook_path": "../gen/a.ipynb", "new_source": "x"}, "deny"),
        ("Grep", {"pattern": "x", "-i": True, "output_mode": "content"}, "allow"),
        ("WebFetch", {"url": "http://169.254.169.254/", "prompt": "x"}, "deny"),
        ("mcp__linear__create", {"title": "x"}, "ask"),
        ("mcp__other__create", {}, ""),
        ("Task", {"description": "x", "prompt": "y", "subagent_type": "shipper"}, "deny"),
        ("Task", {"description": "x", "prompt": "y", "subagent_type": "general-purpose"}, ""),
        ("ExitPlanMode", {}, ""),
    ],
)
def test_our_rules_hold_for_calls_of_claude_code(
    folder: Path,
    name: str,
    given: Any,
    action: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert decided(folder / "sub", name, given, monkeypatch, capsys) == action


@pytest.mark.parametrize("told", ["nonsense", "[]", "{}", '{"tool_name": 3}'])
def test_what_cannot_be_judged_is_blocked(
    folder: Path, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(told))
    assert main(["hook"]) == 2
    assert capsys.readouterr().err.startswith("tw hook: ")

"""tw plugin: the plugins there are, and whether their hooks are heard."""

import json
from pathlib import Path

from tests.cli.conftest import Tw

PROBE = """
async def heard(given, answer):
    pass


def plugin(host):
    names = ("event", "tool.execute.before", "tool.execute.after", "chat.params")
    return dict.fromkeys(names, heard)
"""


def add_plugin(home: Path, name: str, text: str) -> None:
    folder = home / ".config" / "toolwright" / "plugin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_every_hook_is_heard_where_commands_are_asked_about_and_no_provider_is_asked(tw: Tw, home: Path) -> None:
    add_plugin(home, "probe.py", PROBE)
    settings = {"permission": {"bash": "ask"}, "agent": {"build": {"model": "nowhere/m"}}}
    (home / ".config" / "toolwright" / "toolwright.json").write_text(json.dumps(settings))
    outcome = tw("plugin", "verify")
    assert outcome.code == 0
    assert "fired: chat.params, event, tool.execute.after, tool.execute.before" in outcome.out


def test_a_broken_plugin_is_named_and_the_others_are_verified(tw: Tw, home: Path) -> None:
    add_plugin(home, "broken.py", "raise ValueError('no good')\n")
    add_plugin(home, "probe.py", PROBE)
    outcome = tw("plugin", "verify")
    assert outcome.code == 1
    assert "probe.py" in outcome.out
    assert "no good" in outcome.err


def test_hooks_of_the_settings_are_tried_too(tw: Tw, home: Path) -> None:
    entries = [
        {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
        for matcher, command in (("todoread", "exit 2"), ("read", "./no-such-guard"), ("write", "true"))
    ]
    (home / ".config" / "toolwright").mkdir(parents=True, exist_ok=True)
    (home / ".config" / "toolwright" / "toolwright.json").write_text(json.dumps({"hooks": {"PreToolUse": entries}}))
    outcome = tw("plugin", "verify")
    assert outcome.code == 1
    rows = [line.split() for line in outcome.out.splitlines()]
    assert [row[:3] for row in rows] == [
        ["PreToolUse", "todoread", "ready"],
        ["PreToolUse", "read", "failed"],
        ["PreToolUse", "write", "ready"],
    ]
    assert "run 1 times, blocked 1: exit 2" in outcome.out
    assert "run 0 times, blocked 0: true" in outcome.out
    assert "no-such-guard" in outcome.err

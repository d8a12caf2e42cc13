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


EXTENSION = """
from toolwright import Extension, Hook


async def guard(proceed, call, ctx):
    return await proceed(call)


async def summarised(proceed, session_id):
    await proceed()


def where() -> str:
    'Where.'
    return ''


extension = Extension(name="guard", hooks=[guard, Hook(compaction=summarised)], tools=[where])
"""


def test_a_plugin_that_is_an_extension_is_listed_with_what_it_brings(tw: Tw, home: Path) -> None:
    add_plugin(home, "guard.py", EXTENSION)
    add_plugin(home, "broken.py", "extension = 5\n")
    assert tw("plugin", "list", "--json").json == [
        {"name": "guard.py", "status": "active", "hooks": ["call", "compaction", "tools"]},
        {
            "name": "broken.py",
            "status": "failed",
            "hooks": [],
            "error": "ConfigError: TypeError: 'int' object is not callable",
        },
    ]
    outcome = tw("plugin", "list")
    assert [line.split()[:2] for line in outcome.out.splitlines()] == [["guard.py", "active"], ["broken.py", "failed"]]
    assert "no plugins" not in outcome.err


def test_the_hooks_of_such_a_plugin_are_verified_and_what_was_tried_is_told(tw: Tw, home: Path) -> None:
    add_plugin(home, "guard.py", EXTENSION)
    outcome = tw("plugin", "verify")
    assert outcome.code == 0
    assert outcome.out.split() == ["guard.py", "active", "fired:", "call;", "not:", "compaction"]
    assert "made to happen: a prompt, its requests, calls of bash, todoread and read, a question" in outcome.err


def test_agents_and_commands_of_plugins_are_listed(tw: Tw, home: Path) -> None:
    add_plugin(
        home,
        "adding.py",
        "def plugin(host):\n    def config(settings):\n"
        "        settings['command']['greet'] = {'template': 'Hello'}\n"
        "        settings['agent']['guest'] = {'description': 'Visits'}\n"
        "    return {'config': config}\n",
    )
    assert "greet   Hello" in tw("command", "list").out
    assert "guest" in tw("agent", "list").out
    assert "Visits" in tw("agent", "show", "guest").out

"""A project that has put escapes into everything it brings, as every command shows it on a terminal."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import toolwright
from tests.cli.conftest import Tw
from tests.text.test_display import unseen

EVIL = "\u202e\x1b]0;t\x07\x1b[2J\u200bevil"
"""Turns the direction, names the window, clears the screen, and hides."""
TOOL = '''from toolwright import tool


@tool
def evil_tool(word: str) -> str:
    """Does a thing{evil}

    Args:
        word: a word{evil}
    """
    return "said{evil}"
'''


@pytest.fixture
def hostile(project: Path, home: Path) -> Path:
    """A project whose every name and text holds escapes."""
    top = project / ".toolwright"
    for folder in ("agent", "command", "skill/evil", "tool"):
        (top / folder).mkdir(parents=True)
    head = f"---\ndescription: {json.dumps(f'Does{EVIL}')}\n"
    (top / "agent" / f"a{EVIL}.md").write_text(f"{head}mode: subagent\n---\nYou are{EVIL}\n")
    (top / "command" / f"c{EVIL}.md").write_text(f"{head}---\nDo it{EVIL}\n")
    (top / "skill" / "evil" / "SKILL.md").write_text(f"---\nname: evil\n{head[4:]}---\nskill{EVIL}\n")
    (top / "tool" / "evil.py").write_text(TOOL.replace("{evil}", EVIL.encode("unicode_escape").decode()))
    config: dict[str, Any] = {
        "permission": {"bash": {f"rm{EVIL} *": "deny"}},
        "agent": {f"b{EVIL}": {"description": f"Is{EVIL}", "prompt": f"You{EVIL}", "model": f"x/y{EVIL}"}},
        "mcp": {f"m{EVIL}": {"type": "local", "command": [f"no-such-program{EVIL}"]}},
        f"unknown{EVIL}": 1,
    }
    (project / "toolwright.json").write_text(json.dumps(config))
    (project / f"f{EVIL}.txt").write_text(f"text{EVIL}\n")
    return project


COMMANDS = (
    *("tool list", "tool show task", "tool show skill", "tool show evil_evil_tool", "tool show bash"),
    *("agent list", "agent list --all", "agent show build", f"agent show b{EVIL}", f"agent show a{EVIL}"),
    *("command list", "config", "doctor", "mcp list", "plugin list", "lsp", "models", "session list", "auth"),
    *("permission explain bash rm -rf x", f"permission explain read f{EVIL}.txt", "policy lint", "trust --check"),
    *("trust --list", f"tool call read f{EVIL}.txt", f"tool show t{EVIL}", "completion agents"),
)


@pytest.mark.parametrize("trusted", [False, True], ids=["not trusted", "trusted"])
def test_nothing_that_a_project_brings_acts_on_the_terminal(
    tw: Tw, hostile: Path, monkeypatch: pytest.MonkeyPatch, *, trusted: bool
) -> None:
    monkeypatch.setattr("toolwright.cli.output.is_terminal", lambda _: True)
    if trusted:
        added = tw("trust")
        assert (added.code, unseen(added.out + added.err)) == (0, [])
    told = {}
    for command in COMMANDS:
        try:
            done = tw(*command.split(" "))
        except SystemExit:
            continue
        told[command] = done.out + done.err
        assert unseen(told[command]) == [], command
    assert sum("evil" in text for text in told.values()) > 15
    assert ("a word\\u202e" in told["tool show evil_evil_tool"]) == trusted


WRITES = {
    "cli/__init__.py": 2,  # the version and the help, without what a start would cost
    "cli/commands/eval_command.py": 1,  # a bar that is drawn over itself, of numbers
}


def test_all_that_the_command_line_prints_passes_one_place() -> None:
    """Of `print` ruff sees to the same (`pyproject.toml`)."""
    source = Path(toolwright.__file__).parent
    found = dict[str, int]()
    for file in (source / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("sys.stdout.write", "sys.stderr.write", "sys.stdout.writelines", "os.write"):
                name = str(file.relative_to(source))
                found[name] = found.get(name, 0) + 1
            assert called != "print" or file.name == "output.py", file.name
    assert found == WRITES

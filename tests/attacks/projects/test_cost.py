"""What a cloned repository can cost before anything is asked: bounded time and memory, and a sentence."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.projects.conftest import Victim
from toolwright.app.branch import branch_of
from toolwright.config import jsonc
from toolwright.config.markdown import read_document
from toolwright.errors import ConfigError, ToolwrightError
from toolwright.permission.rules import Rule


def refusal(victim: Victim) -> str:
    """Why the project is not opened; empty if it is, and then with few words."""
    try:
        workspace = victim.opens()
    except ToolwrightError as error:
        return str(error)
    assert len(workspace.config.warnings) <= 21
    return ""


def test_files_that_include_files_twice_come_to_an_end(victim: Victim) -> None:
    for number in range(40):
        victim.brings(f"f{number}", f"{{file:f{number + 1}}}{{file:f{number + 1}}}")
    victim.brings("f40", "x")
    victim.brings("opencode.json", {"agent": {"a": {"prompt": "{file:f0}"}}})
    with pytest.raises(ConfigError, match=r"includes itself|is longer than"):
        victim.opens()


@pytest.mark.parametrize("name", ["pipe", ".toolwright/agent/x.md", "opencode.json", "AGENTS.md"])
def test_a_pipe_is_not_waited_for(victim: Victim, name: str) -> None:
    file = victim.project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)
    if name == "pipe":
        victim.brings("opencode.json", {"agent": {"a": {"prompt": "{file:pipe}"}}})
    assert refusal(victim).endswith(("", "it is not a regular file."))


@pytest.mark.parametrize("names", [".git", ".git/HEAD .git/config .git/commondir .git/index pyproject.toml Cargo.toml"])
async def test_pipes_where_git_and_programs_have_files_hold_up_no_call(victim: Victim, names: str) -> None:
    (victim.project / ".git").rmdir()
    for name in names.split():
        (victim.project / name).parent.mkdir(exist_ok=True)
        os.mkfifo(victim.project / name)
    asked = {"lsp": {"ty": {"disabled": True}}, "formatter": True}
    async with victim.opens(config=asked, rules=[Rule("bash", "git diff *", "deny")]) as workspace:
        for source in ("a.py", "a.rs"):
            assert (await workspace.call("write", filePath=source, content="")).error is None
        assert (await workspace.call("bash", command="echo done")).output == "done\n"
        assert "A rule forbids" in (await workspace.call("bash", command="git diff")).output
    assert branch_of(victim.project) == ""


@pytest.mark.skipif(not os.access("/proc/kmsg", os.R_OK) or os.geteuid() != 0, reason="needs /proc/kmsg and root")
@pytest.mark.parametrize("name", [".toolwright/agent/x.md", "opencode.json", "AGENTS.md", ".claude/skills/s/SKILL.md"])
def test_nor_is_a_regular_file_that_waits_like_one(victim: Victim, name: str) -> None:
    file = victim.project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to("/proc/kmsg")
    assert refusal(victim).endswith(("", "it is not a regular file."))
    assert victim.opens().skills.all() == {}


LARGE: dict[str, Any] = {
    "a string without end": '{"a": "' + '\\"' * 100_000,
    "comments without end": "/*" * 100_000,
    "strings and comments": '"/*' * 60_000,
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 50_000,
    "commas": "[" + "," * 200_000,
    "unknown keys": "{" + ",".join(f'"permision{number}": 1' for number in range(19_000)) + "}",
    "unknown permissions": '{"permission": {' + ",".join(f'"bsh{number}": "deny"' for number in range(9000)) + "}}",
    "too many keys": "{" + ",".join(f'"k{number}": 1' for number in range(60_000)) + "}",
    "rules": '{"permission": {"bash": {' + ",".join(f'"a{number} *": "deny"' for number in range(15_000)) + "}}}",
    "too long": '{"a": "' + "x" * 2_000_000 + '"}',
    "a long number": '{"budget": {"steps": ' + "9" * 10_000 + "}}",
    "not text": "\udcff\udcfe",
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_or_odd_file_of_settings_is_read_or_refused_at_once(victim: Victim, name: str) -> None:
    (victim.project / "toolwright.json").write_bytes(LARGE[name].encode("utf-8", "surrogateescape"))
    assert refusal(victim).count("\n") < 30


HEADS = {
    "deep": "a: " + "[" * 20_000,
    "a long number": "steps: " + "9" * 5000,
    "spaces": "a:" + " " * 200_000 + "x",
    "many keys": "\n".join(f"k{number}: 1" for number in range(30_000)),
    "references": "a: &a [x]\nb: [*a, *a]",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_large_or_odd_head_is_read_or_refused_at_once(victim: Victim, name: str) -> None:
    victim.brings(".toolwright/agent/x.md", f"---\n{HEADS[name]}\n---\nX.")
    said = refusal(victim)
    assert not said or "x.md" in said


def test_a_folder_full_of_agents_is_refused(victim: Victim) -> None:
    for number in range(600):
        victim.brings(f".toolwright/agent/a{number}.md", "A.")
    with pytest.raises(ConfigError, match="more than 500 files of agents"):
        victim.opens()


@pytest.mark.parametrize(
    "entry", ["", ".", "a**b", "x" * 5000, "[", "**", "\0", "//", "~", "**/" * 300, "*/" * 400 + "x"]
)
def test_an_odd_pattern_of_instructions_brings_nothing(victim: Victim, entry: str) -> None:
    from toolwright.session.turns.instructions import Instructions

    victim.brings("opencode.json", {"instructions": [entry]})
    for trust in (False, True):
        workspace = victim.opens(trust=trust)
        assert "PRIVATE" not in Instructions.of(workspace.config, workspace.folders).text()


@pytest.mark.parametrize("entries", [["**/" * 12 + "*.none"], [f"**/*{number}.none" for number in range(3000)]])
def test_patterns_of_instructions_look_at_a_bounded_number_of_names(victim: Victim, entries: list[str]) -> None:
    from toolwright.session.turns.instructions import Instructions

    (victim.project / ("n/" * 60)).mkdir(parents=True)
    for number in range(200):
        (victim.project / "wide" / str(number) / "below").mkdir(parents=True)
    victim.brings("docs/a.md", "Be brief.")
    victim.brings("opencode.json", {"instructions": ["**/*.md", *entries]})
    workspace = victim.opens()
    assert Instructions.of(workspace.config, workspace.folders).text().endswith("Be brief.")


def test_a_name_in_a_warning_is_short(victim: Victim) -> None:
    victim.brings("opencode.json", {"k" * 500_000: 1, "agent": {"a" * 100_000: {"modle": "x/y"}}})
    assert all(len(line) < 1000 for line in victim.opens().config.warnings)


def test_the_parsers_take_time_that_grows_with_the_text() -> None:
    """Counted in steps of the regular expressions' own: ten times the text parses, where a square would not end."""
    for text in ('{"a": "' + '\\"' * 400_000, "/*" * 400_000, '"' * 400_001):
        with pytest.raises(ConfigError):
            jsonc.parse(text + "}", "x")
    assert read_document("---\na:" + " " * 60_000 + "\n---\n", "x").head == {"a": None}


def test_a_circle_of_links_is_one_sentence(victim: Victim, project: Path) -> None:
    (project / "loop").symlink_to("loop")
    victim.brings("opencode.json", {"agent": {"a": {"prompt": "{file:loop}"}}})
    with pytest.raises(ConfigError, match="cannot be read"):
        victim.opens()

"""tw run, tw session list and tw stats by the options that OpenCode's users type."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tw


@pytest.fixture
def thinker(project: Path) -> str:
    """A model that thinks, reads a file and answers."""
    turns = [
        {"reasoning": "Let me see.", "tools": [{"name": "read", "args": {"filePath": "a.txt"}}]},
        {"text": "It says hello.", "usage": {"input": 100, "output": 7}},
        {"text": "Once more.", "repeat": True},
    ]
    (project / "a.txt").write_text("hello\n")
    (project / "turns.json").write_text(json.dumps(turns))
    return "scripted/turns.json"


def test_a_session_goes_on_in_a_copy(tw: Tw, thinker: str) -> None:
    tw("run", "What does it say?", "--model", thinker)
    [first] = tw("session", "list", "--format", "json").json
    assert tw("run", "And now?", "--continue", "--fork", "--model", thinker).code == 0
    copy, kept = tw("session", "list", "--format", "json", "-n", "5").json
    assert kept["id"] == first["id"]
    assert copy["title"].endswith("(fork #1)")
    asked = [tw("session", "show", one["id"]).out.count("And now?") for one in (kept, copy)]
    assert asked == [0, 1]
    assert [one["id"] for one in tw("session", "list", "--json", "--max-count", "1").json] == [copy["id"]]


def test_a_copy_needs_a_session(tw: Tw, thinker: str) -> None:
    outcome = tw("run", "Go", "--fork", "--model", thinker)
    assert (outcome.code, outcome.err) == (
        2,
        "tw: --fork copies a session: say which with --session or --continue.\n",
    )


def test_thinking_is_shown_when_it_is_wanted(tw: Tw, thinker: str) -> None:
    outcome = tw("run", "Go", "--thinking", "--model", thinker)
    assert "Thinking: Let me see." in outcome.err
    assert outcome.out == "It says hello.\n"
    assert "Thinking" not in tw("run", "Go", "--model", thinker).err


def test_another_folder_and_yes_to_all_have_the_names_of_the_reference(
    tw: Tw, thinker: str, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (project / "toolwright.json").write_text('{"permission": {"read": "ask"}}')
    monkeypatch.chdir(tmp_path)
    assert tw("run", "Go", "--dir", str(project), "--model", f"scripted/{project}/turns.json").code == 3
    outcome = tw("run", "Go", "--dir", str(project), "--auto", "--model", f"scripted/{project}/turns.json")
    assert (outcome.code, outcome.out) == (0, "It says hello.\n")


def test_interactive_needs_a_terminal_and_says_so(tw: Tw, thinker: str) -> None:
    outcome = tw("run", "Go", "-i", "--model", thinker)
    assert (outcome.code, "needs a terminal" in outcome.err) == (2, True)
    assert "--interactive cannot be given with --file" in tw("run", "Go", "-i", "--file", "a.txt").err


def test_stats_count_what_the_sessions_took(tw: Tw, thinker: str) -> None:
    assert tw("stats").out.splitlines()[0] == "sessions   0"
    tw("run", "What does it say?", "--model", thinker)
    tw("run", "And now?", "--continue", "--model", thinker)
    stats = tw("stats", "--json").json
    assert (stats["sessions"], stats["messages"], stats["tools"]) == (1, 6, {"read": 2})
    assert stats["models"]["scripted/turns.json"]["replies"] == 4
    assert stats["output"] >= 7
    shown = tw("stats", "--models", "--tools", "1", "--days", "1").out
    assert "scripted/turns.json" in shown
    assert "read" in shown
    assert "100.0%" in shown


def test_a_prompt_is_run_again_and_again_as_often_as_is_said(tw: Tw, thinker: str) -> None:
    outcome = tw("run", "Look.", "--model", thinker, "--every", "0.01s", "--times", "3")
    assert outcome.code == 0
    assert [line for line in outcome.err.splitlines() if " of 3" in line] == ["1 of 3", "2 of 3", "3 of 3"]
    assert len(tw("session", "list", "--json").json) == 3


def test_a_prompt_is_run_again_only_where_a_command_fails(tw: Tw, thinker: str, home: Path) -> None:
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True)
    (settings / "toolwright.json").write_text('{"sandbox": "off"}')
    watch = "test -e seen || { touch seen; false; }"
    outcome = tw("run", "Fix it.", "--model", thinker, "--every", "0.01s", "--times", "2", "--if-fails", watch)
    assert f"2 of 2: nothing to do; it runs where `{watch}` fails" in outcome.err
    assert len(tw("session", "list", "--json").json) == 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("--every", "soon"), "--every takes a time up to 24h"),
        (("--every", "25h"), "--every takes a time up to 24h"),
        (("--every", "1m", "--times", "0"), "--times takes a number from 1 to 1000"),
        (("--every", "1m", "--session", "last"), "leave out --session"),
        (("--if-fails", "make"), "--if-fails goes with --every"),
    ],
)
def test_what_cannot_be_repeated_is_said(tw: Tw, given: tuple[str, ...], why: str) -> None:
    outcome = tw("run", "Go.", *given)
    assert outcome.code == 2
    assert why in outcome.err

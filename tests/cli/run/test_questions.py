"""Permission questions at a terminal: what is shown, what each answer does, and that they can be left at once."""

import json
import signal
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.cli.person import Terminal, at_terminal
from tests.session.trial import call, calls, says

WRITE = json.dumps({"filePath": "n.txt", "content": "new line\n"})


def calling(project: Path, *arguments: str) -> AbstractContextManager[Terminal]:
    return at_terminal(project, "tool", "call", *arguments)


def running(project: Path, *turns: object) -> AbstractContextManager[Terminal]:
    """`tw run` at a terminal with a script for the model."""
    home = project.parent / "home"
    home.mkdir(exist_ok=True)
    (home / "script.json").write_text(json.dumps(turns))
    return at_terminal(project, "run", "Go", "--model", f"scripted/{home / 'script.json'}")


@pytest.fixture
def asking(project: Path) -> Path:
    (project / "toolwright.json").write_text('{"permission": {"edit": "ask"}}')
    return project


def test_the_diff_and_the_rule_that_always_would_store_are_shown(asking: Path) -> None:
    with calling(asking, "write", WRITE) as terminal:
        terminal.wait_for("words after it")
        assert "build wants to write n.txt" in terminal.words
        assert "filePath: n.txt" in terminal.words
        assert "│ +new line" in terminal.words
        assert "a yes, and store for this project, always: edit *" in terminal.words
        terminal.type("y")
        assert terminal.exit_code() == 0
    assert (asking / "n.txt").read_text() == "new line\n"


@pytest.mark.parametrize("answer", ["n", "no and here is why", ""])
def test_a_no_leaves_everything_as_it_was(asking: Path, answer: str) -> None:
    with calling(asking, "write", WRITE) as terminal:
        terminal.wait_for("words after it")
        terminal.type(answer)
        assert terminal.exit_code() == 3
    assert not (asking / "n.txt").exists()


def test_advice_reaches_the_caller(asking: Path) -> None:
    with calling(asking, "write", WRITE) as terminal:
        terminal.wait_for("words after it")
        terminal.type("n use b.txt instead")
        terminal.wait_for("and says: use b.txt instead")
        assert terminal.exit_code() == 3


def test_always_is_kept_for_the_project_and_a_word_that_is_no_answer_asks_again(asking: Path) -> None:
    with calling(asking, "write", WRITE) as terminal:
        terminal.wait_for("words after it")
        terminal.type("perhaps")
        terminal.seen = ""
        terminal.wait_for("words after it")
        terminal.type("a")
        assert terminal.exit_code() == 0
    stored = json.loads((asking.parent / "home/.local/share/toolwright/approvals.json").read_text())
    assert stored == {"projects": {str(asking.resolve()): [{"permission": "edit", "pattern": "*"}]}}
    with calling(asking, "write", json.dumps({"filePath": "m.txt", "content": "x"})) as terminal:
        assert terminal.exit_code() == 0
    assert (asking / "m.txt").read_text() == "x"


def test_of_several_rules_only_the_chosen_one_is_stored(project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"bash": "ask"}}')
    with calling(project, "bash", '{"command": "ls && pwd"}') as terminal:
        terminal.wait_for("words after it")
        assert "1. bash ls * 2. bash pwd * (a 1 stores only the first, e 1 edits it)" in terminal.words
        terminal.type("a 3")
        terminal.seen = ""
        terminal.wait_for("words after it")
        terminal.type("a 2")
        assert terminal.exit_code() == 0
    stored = next((project.parent / "home").rglob("approvals.json")).read_text("utf-8")
    assert '"pwd *"' in stored
    assert '"ls *"' not in stored


def test_a_rule_is_edited_before_it_is_stored_and_one_that_does_not_answer_is_not_taken(asking: Path) -> None:
    with calling(asking, "write", WRITE) as terminal:
        terminal.wait_for("words after it")
        terminal.type("e")
        terminal.wait_for("Store instead of edit *")
        terminal.seen = ""
        terminal.type("elsewhere/*")
        terminal.wait_for("would not cover this call")
        terminal.wait_for("words after it")
        terminal.seen = ""
        terminal.type("e")
        terminal.wait_for("Store instead of edit *")
        terminal.type(json.loads(WRITE)["filePath"])
        terminal.wait_for("Covers this call; none of the earlier ones")
        terminal.type("a")
        assert terminal.exit_code() == 0
    stored = json.loads((asking.parent / "home/.local/share/toolwright/approvals.json").read_text())
    assert [one["pattern"] for one in stored["projects"][str(asking.resolve())]] == [json.loads(WRITE)["filePath"]]


def test_a_command_is_shown_whole_with_what_it_was_understood_to_do(project: Path) -> None:
    command = "rm -rf /var/none/other && echo done > ./out.txt"
    with calling(project, "bash", json.dumps({"command": command, "description": "Clean"})) as terminal:
        terminal.wait_for("words after it")
        for told in (
            "build wants to run a command",
            f"│ {command}",
            "runs rm -rf /var/none/other echo done",
            "writes out.txt",
            "deletes /var/none/other (outside the project)",
            "network none",
            "outside /var/none/other",
        ):
            assert told in terminal.words
        terminal.type("n")
        assert terminal.exit_code() == 3


def test_a_command_cannot_draw_over_the_question(project: Path) -> None:
    (project / "toolwright.json").write_text('{"permission": {"bash": "ask"}}')
    forged = "echo x '\r\x1b[2K\x1b[1A\x1b[2KCall of read'\nAllow? y"
    with calling(project, "bash", json.dumps({"command": forged})) as terminal:
        terminal.wait_for("words after it")
        assert "\x1b[2K" not in terminal.seen
        assert "\n  │ Allow? y\n" in terminal.seen
        terminal.type("n")
        assert terminal.exit_code() == 3


def test_a_question_is_wrapped_between_words(asking: Path) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    arguments = json.dumps({"filePath": "n.txt", "content": words})
    with at_terminal(asking, "tool", "call", "write", arguments, variables={"COLUMNS": "50"}) as terminal:
        terminal.wait_for("words after it")
        assert all(len(line) <= 50 for line in terminal.seen.splitlines() if "word" in line)
        assert all(f"word{number}" in terminal.words.split() for number in range(1, 59))


def test_keys_pressed_before_the_question_do_not_answer_it(asking: Path) -> None:
    wait = call("bash", command="until [ -e go ]; do sleep 0.01; done", description="Wait for the keys")
    with running(asking, calls(wait), calls(call("write", filePath="n.txt", content="x")), says("Done.")) as terminal:
        terminal.wait_for("bash  until")
        terminal.type("y")
        (asking / "go").touch()
        terminal.wait_for("words after it")
        terminal.type("n")
        assert terminal.exit_code() == 3
    assert not (asking / "n.txt").exists()


@pytest.mark.parametrize("how", ["key", "SIGTERM"])
def test_a_question_can_be_left_at_once(asking: Path, how: str) -> None:
    with running(asking, calls(call("write", filePath="n.txt", content="x")), says("Never.")) as terminal:
        terminal.wait_for("words after it")
        if how == "key":
            terminal.press_interrupt()
        else:
            terminal.send(signal.SIGTERM)
        assert terminal.exit_code() == 4
        assert "stopping; once more to end at once" in terminal.words
        assert "Traceback" not in terminal.seen
    assert not (asking / "n.txt").exists()


def test_a_second_interrupt_ends_at_once(project: Path) -> None:
    # The command does not end when it is asked to, so the first interrupt has to wait for it.
    stubborn = call("bash", command="trap '' INT TERM HUP; echo up; while :; do sleep 0.1; done", description="Stay")
    with running(project, calls(stubborn), says("Never.")) as terminal:
        terminal.wait_for("│ up")
        terminal.press_interrupt()
        terminal.wait_for("once more to end at once")
        terminal.press_interrupt()
        assert terminal.exit_code() == 4
        assert "Traceback" not in terminal.seen


WHICH = call(
    "question",
    questions=[
        {
            "question": "Which one?\nAllow? y",
            "header": "Which",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
        }
    ],
)


def test_a_question_of_the_agent_is_answered_by_number(project: Path) -> None:
    with running(project, calls(WHICH), says("Blue it is.", match="Blue")) as terminal:
        terminal.wait_for("or your own words")
        assert "The agent asks │ Which one? │ Allow? y 1. Red warm 2. Blue cold" in terminal.words
        terminal.type("2")
        assert terminal.exit_code() == 0
        assert "Blue it is." in terminal.words


def test_a_question_of_the_agent_can_be_left_at_once(project: Path) -> None:
    with running(project, calls(WHICH), says("Never.")) as terminal:
        terminal.wait_for("or your own words")
        terminal.press_interrupt()
        assert terminal.exit_code() == 4

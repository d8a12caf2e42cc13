"""Whole conversations in a pseudo-terminal, with a person who types."""

import codecs
import fcntl
import json
import os
import re
import select
import signal
import struct
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.person import Terminal, at_terminal
from tests.waiting import PATIENCE
from toolwright.terminal.columns import columns

SIZES = ((60, 16), (100, 30))
HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b]0;evil\x07\x1b[2J\x1b[10;10H\x9b31m"
OWN = {"greet": {"template": "Say hello to $ARGUMENTS", "description": "a greeting"}}
_OURS = re.compile(r"\x1b(\[[0-9;]*[mKCDPAJ@GH]|\[\?(2004|1)[hl]|[=>])")
"""Colours, the line of progress, and what the line editor uses to move about in the line being typed."""


@contextmanager
def talking(
    project: Path,
    *turns: Mapping[str, Any],
    arguments: tuple[str, ...] = (),
    size: tuple[int, int] = (100, 30),
    variables: Mapping[str, str] | None = None,
) -> Iterator["Talk"]:
    (project.parent / "turns.json").write_text(json.dumps(turns), "utf-8")
    settings = project.parent / "home" / ".config" / "toolwright" / "toolwright.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        json.dumps({"permission": {"bash": {"rm *": "ask", "cat *": "ask"}, "edit": {"*.new": "ask"}}, "command": OWN}),
        "utf-8",
    )
    wide, high = size
    named = ("--model", f"scripted/{project.parent}/turns.json") if turns else ()
    given = {"COLUMNS": str(wide), "LINES": str(high), **(variables or {})}
    with at_terminal(project, *named, *arguments, variables=given) as terminal:
        fcntl.ioctl(terminal.screen, termios.TIOCSWINSZ, struct.pack("HHHH", high, wide, 0, 0))
        yield Talk(terminal)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": tool, "args": arguments}]}


class Talk:
    """A conversation read once from its beginning to its end."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.seen = ""
        self.place = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def expect(self, text: str) -> None:
        """Wait for a text behind the last that was waited for."""
        while (found := self.seen.find(text, self.place)) < 0:
            ready = select.select([self.terminal.screen], [], [], PATIENCE)[0]
            assert ready, f"{text!r} never came:\n{self.seen[-5000:]}"
            self._read()
        self.place = found + len(text)

    def ends_with(self, code: int) -> None:
        """Read to the end, so that it is not held up by a full terminal."""
        with suppress(OSError):
            while True:
                ready = select.select([self.terminal.screen], [], [], PATIENCE)[0]
                assert ready, f"it does not end:\n{self.seen[-5000:]}"
                self._read()
        assert self.terminal.process.wait(PATIENCE) == code, self.seen

    def type(self, text: str) -> None:
        self.terminal.type(text)

    def press(self, keys: str) -> None:
        """Keys faster than they are read: what is shown is read meanwhile."""
        data = keys.encode()

        def write() -> None:
            sent = 0
            while sent < len(data):
                sent += os.write(self.terminal.screen, data[sent : sent + 1024])

        threading.Thread(target=write, daemon=True).start()

    def leave(self) -> None:
        self.expect("> ")
        self.type("/exit")
        self.ends_with(0)

    @property
    def words(self) -> str:
        """What was shown, without colours and with every run of white space as one blank."""
        return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", self.seen).split())

    def _read(self) -> None:
        piece = os.read(self.terminal.screen, 65536)
        if not piece:
            raise OSError
        self.seen = self.seen.removesuffix("\r") + (
            "\r" * self.seen.endswith("\r") + self._decoder.decode(piece)
        ).replace("\r\n", "\n")


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_session_shows_words_diffs_output_and_questions_with_their_rules(
    project: Path, size: tuple[int, int]
) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    turns = (
        {"text": "I will fix it. " + "Word " * 40, **call("read", filePath="calc.py")},
        call("edit", filePath="calc.py", oldString="a - b", newString="a + b"),
        call("bash", command="echo made; rm -rf ../elsewhere", description="Clean"),
        {"text": "All done."},
    )
    with talking(project, *turns, size=size) as talk:
        talk.expect("> ")
        talk.type("fix add")
        talk.expect("Allow?")
        assert "• read calc.py" in talk.words
        assert "- return a - b + return a + b" in talk.words
        assert "│ echo made; rm -rf ../elsewhere" in talk.words
        assert "deletes" in talk.words
        assert "network none" in talk.words
        assert "bash rm -rf ../elsewhere" in talk.words.partition("“Always” will store:")[2]
        talk.type("?")
        talk.expect("toolwright.json:1")
        talk.type("y")
        talk.expect("All done.")
        talk.expect("4 steps")
        assert "│ made" in talk.words
        talk.expect("> ")
        talk.type("/undo")
        talk.expect("/redo makes it again")
        assert "a - b" in (project / "calc.py").read_text()
        talk.leave()
        assert "tw --session" in talk.words
        words = [line for line in talk.seen.splitlines() if line.startswith("Word")]
        assert words
        assert all(columns(line) <= size[0] for line in words)


def test_pasted_lines_are_one_prompt(project: Path) -> None:
    pasted = "\n".join(f"line {number} 日本語" for number in range(5_000))
    with talking(project, {"text": "Read."}) as talk:
        talk.expect("> ")
        talk.press(f"\x1b[200~{pasted}\x1b[201~\n")
        talk.expect("Read.")
        talk.expect("1 step")
        talk.expect("> ")
        talk.type("/export talk.json")
        talk.expect("written to")
        talk.leave()
    exported = json.loads((project / "talk.json").read_text())
    assert exported["messages"][0]["parts"][0]["text"] == pasted


def test_no_escape_sequence_of_a_model_or_a_command_reaches_the_terminal(project: Path) -> None:
    (project / "evil.txt").write_text(HOSTILE, "utf-8")
    (project / f"{HOSTILE.split('/')[0][:9]}.txt").write_text("x")
    turns = (
        {
            "text": f"Look: {HOSTILE}\n```\n{HOSTILE}\n```\n",
            **call("bash", command="cat evil.txt", description=HOSTILE),
        },
        call("edit", filePath=f"{HOSTILE}.new", oldString="", newString=HOSTILE),
        call(
            "question",
            questions=[
                {"question": HOSTILE, "header": HOSTILE, "options": [{"label": HOSTILE, "description": HOSTILE}]}
            ],
        ),
        {"text": "Over."},
    )
    with talking(project, *turns) as talk:
        talk.expect("> ")
        talk.type("go")
        talk.expect("Allow?")
        talk.type("y")
        talk.expect("Allow?")
        talk.type("?")
        talk.expect("Allow?")
        talk.type("n leave it")
        talk.expect("Over.")
        talk.expect("> ")
        talk.type("/sessions")
        talk.expect("goes on with one")
        talk.leave()
    left = _OURS.sub("", talk.seen)
    assert "\x1b" not in left, repr(left[left.index("\x1b") :][:80])
    assert "\x9b" not in talk.seen
    assert "\x1b[2J" not in talk.seen
    assert "\x1b[10;10H" not in talk.seen
    assert "\x1b]" not in talk.seen


COLOURS = [{"label": one, "description": ""} for one in ("red", "blue")]
ASKED: tuple[tuple[dict[str, Any], str], ...] = (
    (call("bash", command="cat ../x", description="Look"), "Allow?"),
    (
        call("question", questions=[{"question": f"{one}?", "header": one, "options": COLOURS} for one in "ab"]),
        "or your own words:",
    ),
)


@pytest.mark.parametrize(("turn", "shown"), ASKED)
def test_ctrl_c_at_a_question_stops_the_turn_and_the_session_goes_on(
    project: Path, turn: dict[str, Any], shown: str
) -> None:
    with talking(project, turn, {"text": "Here again."}) as talk:
        talk.expect("> ")
        talk.type("look")
        talk.expect(shown)
        talk.press("\x03")
        talk.expect("Stopped.")
        talk.expect("> ")
        talk.type("go on")
        talk.expect("Here again.")
        talk.leave()


def test_ctrl_c_stops_a_command_and_twice_leaves(project: Path) -> None:
    with talking(project, call("bash", command="echo begun; sleep 1000", description="Wait")) as talk:
        talk.expect("> ")
        talk.type("wait")
        talk.expect("│ begun")
        talk.press("\x03")
        talk.expect("Stopped.")
        talk.expect("> ")
        talk.press("\x03")
        talk.expect("Ctrl-C again")
        talk.press("\x03")
        talk.ends_with(0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("turn", "shown"), ASKED)
def test_a_signal_at_a_question_ends_the_program_and_restores_the_terminal(
    project: Path, number: signal.Signals, turn: dict[str, Any], shown: str
) -> None:
    with talking(project, turn) as talk:
        before = termios.tcgetattr(talk.terminal.screen)
        talk.expect("> ")
        talk.type("look")
        talk.expect(shown)
        talk.terminal.send(number)
        talk.ends_with(4)
        assert termios.tcgetattr(talk.terminal.screen)[3] == before[3]


def test_without_a_model_it_opens_says_how_to_get_one_and_keeps_nothing(project: Path) -> None:
    with talking(project) as talk:
        talk.expect("> ")
        assert "No model yet." in talk.words
        assert "/demo" in talk.words
        talk.type("hello")
        talk.expect("! No model is chosen.")
        talk.expect("> ")
        talk.type("/sessions")
        talk.expect("goes on with one")
        assert "New session" not in talk.seen
        talk.leave()


def test_a_key_in_the_environment_is_found(project: Path) -> None:
    with talking(project, variables={"ANTHROPIC_API_KEY": "sk-secret"}) as talk:
        talk.expect("/demo")
        assert "/model anthropic/" in talk.words
        assert "sk-secret" not in talk.seen
        talk.leave()


def test_words_in_quotes_begin_a_session_and_continue_shows_it_again(project: Path) -> None:
    with talking(project, {"text": "First answer."}, arguments=("what is this",)) as talk:
        talk.expect("First answer.")
        talk.leave()
    with at_terminal(project, "--continue") as terminal:
        talk = Talk(terminal)
        talk.expect("turns.json")
        assert "No model" not in talk.seen
        talk.leave()
    with talking(project, {"text": "Second answer."}, arguments=("--continue", "and now")) as talk:
        talk.expect("Second answer.")
        assert talk.words.index("> what is this") < talk.words.index("First answer.")
        talk.leave()


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_who_wants_no_colours_gets_none(project: Path, variables: dict[str, str]) -> None:
    with talking(project, {"text": "A **bold** word."}, arguments=("say it",), variables=variables) as talk:
        talk.expect("A **bold** word.")
        talk.leave()
    assert not re.search(r"\x1b\[[0-9;]*m", talk.seen)
    if variables.get("TERM") == "dumb":
        assert "\x1b" not in talk.seen


def test_what_is_typed_while_the_agent_works_is_the_next_prompt(project: Path) -> None:
    (project / "gate").write_text("")
    waits = call("bash", command="echo begun; while [ -e gate ]; do sleep 0.05; done", description="Wait")
    with talking(project, waits, {"text": "One."}, {"text": "Two."}) as talk:
        talk.expect("> ")
        talk.type("first")
        talk.expect("│ begun")
        talk.type("second")
        (project / "gate").unlink()
        talk.expect("Two.")
        assert talk.words.index("One.") < talk.words.index("Two.")
        talk.leave()


def test_a_line_that_was_being_typed_is_shown_again_after_a_stop(project: Path) -> None:
    with talking(project, {"text": "One.", "match": "half a line"}) as talk:
        talk.expect("> ")
        talk.press("half")
        talk.expect("half")
        for number in (signal.SIGSTOP, signal.SIGCONT):
            os.kill(talk.terminal.process.pid, number)
        talk.expect("half")
        talk.type(" a line")
        talk.expect("One.")
        talk.leave()


def test_own_commands_models_agents_and_tools_are_a_slash_away(project: Path) -> None:
    turns = ({"text": "Hello Ada.", "match": "Say hello to Ada Lovelace"},)
    with talking(project, *turns) as talk:
        talk.expect("> ")
        talk.type("/help")
        talk.expect("a greeting")
        talk.type("/greet Ada Lovelace")
        talk.expect("Hello Ada.")
        talk.expect("> ")
        talk.type("/agent plan")
        talk.expect("plan from the next prompt on")
        talk.type("/tools")
        talk.expect("webfetch")
        talk.type("/nothing")
        talk.expect("There is no command /nothing.")
        talk.leave()


@contextmanager
def asked_about_a_file_outside(project: Path) -> Iterator["Talk"]:
    turns = (call("bash", command="cat ../x.txt", description="Look"), {"text": "Read."})
    (project.parent / "x.txt").write_text("outside\n")
    with talking(project, *turns, arguments=("read it",)) as talk:
        talk.expect("Allow?")
        yield talk


def test_an_answer_for_the_project_is_stored_as_it_was_shown(project: Path) -> None:
    with asked_about_a_file_outside(project) as talk:
        talk.type("a")
        talk.expect("Read.")
        talk.expect("> ")
        talk.type("/permissions")
        talk.expect("tw permission revoke")
        assert "project bash cat" in talk.words
        talk.leave()


def test_a_rule_is_edited_before_it_is_stored(project: Path) -> None:
    with asked_about_a_file_outside(project) as talk:
        talk.type("e")
        talk.expect("Store bash")
        talk.expect("cat *")
        talk.type("\x15cat ../x.txt")
        talk.expect("Covers this call")
        talk.type("a")
        talk.expect("Read.")
        talk.expect("> ")
        talk.type("/permissions")
        talk.expect("tw permission revoke")
        assert "project bash cat ../x.txt" in talk.words
        talk.leave()


def test_a_command_that_a_subagent_carries_out_is_shown_and_can_be_stopped(project: Path) -> None:
    turns = ({"text": "It looks right."}, call("bash", command="echo begun; sleep 1000", description="Wait"))
    with talking(project, *turns, arguments=("/review HEAD",)) as talk:
        talk.expect("It looks right.")
        talk.expect("> ")
        talk.type("/review HEAD")
        talk.expect("│ begun")
        talk.press("\x03")
        talk.expect("Stopped.")
        talk.leave()


def test_a_choice_is_answered_by_number_or_in_words(project: Path) -> None:
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    question = {"question": "Which colour?", "header": "Colour", "options": options}
    turns = (call("question", questions=[question]), {"text": "Blue it is.", "match": "Blue"})
    with talking(project, *turns, arguments=("ask me",)) as talk:
        talk.expect("or your own words")
        talk.type("2")
        talk.expect("Blue it is.")
        talk.leave()

"""A turn on the screen: calls with what they did, output while it comes, progress that is told and not repeated."""

import io
from typing import Any

import pytest

from toolwright.calls.parts import Completed, Failed, Running, Span, State, ToolPart
from toolwright.events import PartUpdated, PermissionAsked, PermissionReplied
from toolwright.messages import TextPart
from toolwright.session.events import PartDelta, SessionStatus
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.screen import Screen

COMMAND = {"command": "make all"}


class Clock:
    """A time that moves when told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Shown:
    """A renderer and what it has written."""

    def __init__(self, *, moves: bool = False) -> None:
        self.out = io.StringIO()
        self.clock = Clock()
        self.renderer = Renderer(session_id="ses_1", screen=Screen(out=self.out, moves=moves), clock=self.clock)

    def part(self, state: State, *, tool: str = "bash", part_id: str = "prt_1", session_id: str = "ses_1") -> None:
        part = ToolPart(id=part_id, session_id=session_id, message_id="msg_1", call_id="call_1", tool=tool, state=state)
        self.renderer(PartUpdated(part=part))

    def running(self, output: str = "", **more: Any) -> None:
        self.part(Running(input=COMMAND, time=Span(start=0), title="Make", metadata={"output": output}), **more)

    def ended(self, output: str = "", **more: Any) -> None:
        metadata = {"output": output, "exit": 0}
        self.part(
            Completed(input=COMMAND, output=output, title="Make", metadata=metadata, time=Span(start=0, end=1)), **more
        )

    def words(self, text: str) -> None:
        part = TextPart(session_id="ses_1", message_id="msg_1", id="prt_text", text="")
        self.renderer(PartUpdated(part=part))
        self.renderer(PartDelta(session_id="ses_1", message_id="msg_1", part_id="prt_text", field="text", delta=text))

    @property
    def text(self) -> str:
        return self.out.getvalue()


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_what_a_command_prints_is_shown_as_it_comes_and_only_once() -> None:
    shown = Shown()
    shown.running()
    shown.running("one\ntwo\nthr")
    assert shown.text == "• bash  make all\n    │ one\n    │ two\n"
    shown.running("one\ntwo\nthree\n")
    shown.ended("one\ntwo\nthree\n")
    assert shown.text == "• bash  make all\n    │ one\n    │ two\n    │ three\n"


def test_of_a_long_output_the_beginning_and_the_end_are_shown() -> None:
    shown = Shown()
    output = "".join(f"line {number}\n" for number in range(100))
    shown.running(output)
    shown.ended(output)
    lines = shown.text.splitlines()
    assert lines[1] == "    │ line 0"
    assert "    │ … 85 more lines" in lines
    assert lines[-1] == "    │ line 99"
    assert len(lines) == 17


def test_of_an_output_too_long_for_a_display_the_true_end_is_shown() -> None:
    shown = Shown()
    metadata = {"output": "line\n" * 100 + "\n\n..."}
    state = Completed(input=COMMAND, output="…\nthe end\n", title="Make", metadata=metadata, time=Span(start=0, end=1))
    shown.part(state)
    assert shown.text.endswith("│ … many more lines\n    │ …\n    │ the end\n")


def test_a_call_that_others_have_interrupted_is_named_again_at_its_end() -> None:
    shown = Shown()
    shown.running("one\n", part_id="prt_1")
    shown.ended("x\n", part_id="prt_2")
    shown.ended("one\ntwo\n", part_id="prt_1")
    assert shown.text.endswith("• bash  make all\n    │ two\n")


def test_a_difference_is_shown_below_its_call() -> None:
    shown = Shown()
    diff = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-old\n+new\n"
    state = Completed(input={}, output="", title="a.py", metadata={"diff": diff}, time=Span(start=0, end=1))
    shown.part(state, tool="edit")
    assert shown.text == "• edit  a.py\n    @@ -1 +1 @@\n    -old\n    +new\n"


def test_the_calls_of_a_subagent_are_set_in() -> None:
    shown = Shown()
    shown.ended(session_id="ses_2")
    assert shown.text.startswith("    • bash")


def test_a_failure_is_told_whole() -> None:
    shown = Shown()
    reason = "It did not work because " + "of many things " * 20
    shown.part(Failed(input={"filePath": "a"}, error=reason, time=Span(start=0, end=1)), tool="edit")
    assert " ".join(reason.split()) in " ".join(shown.text.split())


def test_progress_tells_how_long_and_the_last_line_and_is_removed_before_other_lines() -> None:
    shown = Shown(moves=True)
    shown.running("begun\n")
    shown.clock.now += 12
    shown.renderer.tick()
    assert shown.text.endswith("\r\x1b[Krunning bash  make all · 12 s · begun")
    written = len(shown.text)
    shown.renderer.tick()
    assert len(shown.text) == written, "nothing has changed, so nothing is drawn"
    shown.words("Done. ")
    assert "\r\x1b[KDone." in shown.text


def test_a_terminal_that_cannot_move_gets_no_progress() -> None:
    shown = Shown()
    shown.running()
    before = shown.text
    shown.clock.now += 60
    shown.renderer.tick()
    assert shown.text == before


def test_nothing_is_written_below_a_question_that_waits() -> None:
    shown = Shown(moves=True)
    shown.running()
    asked = PermissionAsked(id="per_1", session_id="ses_1", permission="bash", patterns=(), always=(), metadata={})
    shown.renderer(asked)
    before = shown.text
    shown.clock.now += 60
    shown.renderer.tick()
    assert shown.text == before
    shown.renderer(PermissionReplied(session_id="ses_1", request_id="per_1", reply="once"))
    shown.renderer.tick()
    assert "60 s" not in before
    assert "1 min 0 s" in shown.text


def test_words_of_the_model_wait_for_nobody() -> None:
    shown = Shown()
    shown.renderer(SessionStatus(session_id="ses_1", status={"type": "busy"}))
    shown.words("Hello there")
    assert shown.text == "Hello"
    shown.renderer.pause()
    assert shown.text == "Hello there\n"

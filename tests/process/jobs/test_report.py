"""What a model is told of how a command went."""

import signal

import pytest

from toolwright.process.jobs.report import CUT, DISPLAY, decode, ending, for_display, timed_out, with_notes
from toolwright.process.running.scope import ProgramEnd


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (None, ""),
        (ProgramEnd(code=0), ""),
        (ProgramEnd(code=3), "exit code 3"),
        (ProgramEnd(code=None, signal=signal.SIGKILL), "ended by SIGKILL"),
        (ProgramEnd(code=None, signal=999), "ended by signal 999"),
        (ProgramEnd(), "ended from outside"),
        (ProgramEnd(code=137, excess="memory"), "ended, because it had taken most of the machine's memory"),
        (ProgramEnd(signal=9, excess="processes"), "ended, because it had become more than 4096 processes"),
        (ProgramEnd(excess="disk"), "ended, because it had all but filled the disk"),
    ],
)
def test_an_end_is_told_where_the_model_should_know(end: ProgramEnd | None, words: str) -> None:
    assert ending(end) == words


@pytest.mark.parametrize(
    ("text", "notes", "shown"),
    [
        ("", [], "(no output)"),
        ("", [""], "(no output)"),
        ("", ["exit code 1"], "[exit code 1]"),
        ("a", [], "a"),
        ("a", ["n"], "a\n[n]"),
        ("a\n", ["n"], "a\n[n]"),
        ("a\n", ["n", "", "m"], "a\n[n]\n[m]"),
    ],
)
def test_notes_stand_on_lines_of_their_own(text: str, notes: list[str], shown: str) -> None:
    assert with_notes(text, notes) == shown


def test_a_display_is_given_the_beginning_of_a_long_output() -> None:
    assert for_display("x" * DISPLAY) == "x" * DISPLAY
    assert for_display("x" * (DISPLAY + 1)) == "x" * DISPLAY + CUT
    assert decode(b"a\xff") == "a\ufffd"


def test_what_took_too_long_is_told_with_what_to_do() -> None:
    assert timed_out(5, True).startswith("took longer than 5 ms: it and all it started were ended. Give a longer")
    assert "some of it could not be ended, even by force. Give a longer" in timed_out(5, False)
    assert timed_out(5, True, "It waited.").endswith("were ended. It waited.")

"""tw run: the answer on stdout, the rest on stderr, and an exit code that tells how it went."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.session.stage import call, calls, read, says
from toolwright.cli import main
from toolwright.models.scripted import Turn
from toolwright.testing import make_workspace

Json = dict[str, Any]
Tw = Callable[..., "Outcome"]


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def lines(self) -> list[Json]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def tw(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Tw]:
    """`tw run` in the project with a script for the model."""
    home = project.parent / "project.home"
    home.mkdir()
    (project / "a.txt").write_text("hello\nworld\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    nothing = Path(os.devnull).open()  # noqa: SIM115 - closed below
    monkeypatch.setattr(sys, "stdin", nothing)

    def run(*arguments: str, script: list[Turn] | None = None, config: Json | None = None) -> Outcome:
        if config is not None:
            (project / "toolwright.json").write_text(json.dumps(config))
        if script is not None:
            (home / "script.json").write_text(json.dumps(script))
            arguments = (*arguments, "--model", f"scripted/{home / 'script.json'}")
        try:
            code = main(["run", *arguments, "--trust"])
        except SystemExit as ended:
            code = int(ended.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield run
    nothing.close()


async def _sessions(project: Path) -> int:
    workspace = make_workspace(project, keep=True)
    try:
        return len(await workspace.sessions.listed())
    finally:
        await workspace.close()


def test_the_answer_alone_goes_to_stdout(tw: Tw) -> None:
    ran = tw("What", "is it?", script=[calls(read()), says("It says hello.")])
    assert (ran.code, ran.out) == (0, "It says hello.\n")
    assert "ses_" in ran.err


def test_words_of_the_prompt_are_joined_without_quotes(tw: Tw) -> None:
    """118"""
    ran = tw("hi there", "x y", script=[says("Yes.", match="^hi there x y$")])
    assert ran.out == "Yes.\n"


def test_mentions_are_attached(tw: Tw) -> None:
    """81"""
    assert tw("What is in @a.txt?", script=[says("Seen.", match="hello")]).out == "Seen.\n"


def test_every_call_is_a_line_those_that_failed_too(tw: Tw) -> None:
    """117"""
    ran = tw("Go", "--format", "json", script=[calls(read(), read("none.txt"), text="Look."), says("Done.")])
    kinds = [line["type"] for line in ran.lines]
    assert kinds == ["step_start", "text", "tool_use", "tool_use", "step_finish", "step_start", "text", "step_finish"]
    states = [line["part"]["state"]["status"] for line in ran.lines if line["type"] == "tool_use"]
    assert sorted(states) == ["completed", "error"]
    assert {line["sessionID"] for line in ran.lines} == {ran.lines[0]["sessionID"]}


def test_a_question_without_anybody_to_answer_is_a_no_and_the_exit_code_tells(tw: Tw) -> None:
    """116"""
    write = call("write", filePath="b.txt", content="b\n")
    script = [calls(write), says("Then without it.")]
    ran = tw("Go", "--format", "json", script=script, config={"permission": {"edit": "ask"}})
    assert ran.code == 3
    [use] = [line for line in ran.lines if line["type"] == "tool_use"]
    assert use["part"]["state"]["kind"] == "rejected"


def test_yes_answers_what_is_asked_but_not_what_is_denied(tw: Tw, project: Path) -> None:
    calls_made = [call("write", filePath=f"{name}.txt", content="x\n") for name in "bc"]
    rules = {"permission": {"edit": {"*": "ask", "c.txt": "deny"}}}
    ran = tw("Go", "--yes", script=[calls(*calls_made), says("Done.")], config=rules)
    assert ran.code == 0
    assert (project / "b.txt").exists()
    assert not (project / "c.txt").exists()


def test_a_model_that_is_not_there_is_told_and_leaves_no_session(tw: Tw, project: Path) -> None:
    """114"""
    ran = tw("Go", "--model", "antropic/claude-sonnet-4-5")
    assert ran.code in (1, 2)
    assert "anthropic" in ran.err
    assert "Traceback" not in ran.err
    assert asyncio.run(_sessions(project)) == 0


def test_a_session_that_is_not_there_is_told(tw: Tw) -> None:
    """115"""
    ran = tw("Go", "-s", "ses_nope", script=[says("x")])
    assert ran.code in (1, 2)
    assert "ses_nope" in ran.err


def test_a_limit_has_an_exit_code_of_its_own(tw: Tw) -> None:
    ran = tw("Go", "--max-steps", "1", script=[calls(read()), says("Not reached.")])
    assert ran.code == 5
    assert "steps" in ran.err


def test_trouble_with_the_model_is_exit_code_one_and_a_line(tw: Tw) -> None:
    ran = tw("Go", "--format", "json", script=[says("", error={"kind": "bad_request", "message": "Too odd"})])
    assert ran.code == 1
    assert [line["type"] for line in ran.lines][-1] == "error"
    assert "Too odd" in ran.err


def test_a_session_can_be_gone_on_with(tw: Tw) -> None:
    tw("First", script=[says("One.")])
    assert tw("Second", "--continue", script=[says("Two.", match="First.*Second")]).out == "Two.\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_turn_in_good_order(project: Path, sent: signal.Signals) -> None:
    home = project.parent / "project.home"
    home.mkdir()
    (home / "script.json").write_text(json.dumps([says("One two three", chunk=3, gap=0.05), says("Never.")]))
    command = [sys.executable, "-m", "toolwright", "run", "Go", "--format", "json"]
    process = subprocess.Popen(
        [*command, "--model", f"scripted/{home / 'script.json'}", "--directory", str(project)],
        env={**os.environ, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert b"step_start" in process.stdout.readline()
    time.sleep(0.08)
    process.send_signal(sent)
    out, _ = process.communicate(timeout=10)
    assert process.returncode == 4
    assert json.loads(out.splitlines()[-1])["error"]["name"] == "MessageAbortedError"

"""tw run: the answer on stdout, the rest on stderr, and an exit code that tells how it went."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema_rs
import pytest

from tests.session.trial import call, calls, read, says
from toolwright.cli import main
from toolwright.cli.run.json_lines import line_schema
from toolwright.models.scripted import ScriptedTurn
from toolwright.protocols.json_types import Json
from toolwright.testing import make_workspace

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

    def run(
        *arguments: str, script: list[ScriptedTurn] | None = None, config: Json | None = None, piped: str | None = None
    ) -> Outcome:
        if piped is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
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
    assert kinds == [
        "start",
        *("step_start", "text", "tool_use", "tool_use", "step_finish"),
        *("step_start", "text", "step_finish"),
        "result",
    ]
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
    assert [line["type"] for line in ran.lines][-2:] == ["error", "result"]
    assert ran.lines[-1]["error"]["message"] == "Too odd"
    assert "Too odd" in ran.err


def test_a_session_can_be_gone_on_with(tw: Tw) -> None:
    tw("First", script=[says("One.")])
    assert tw("Second", "--continue", script=[says("Two.", match="First.*Second")]).out == "Two.\n"


def test_what_is_piped_in_is_added_to_the_prompt(tw: Tw) -> None:
    seen = says("Seen.", match="(?s)^explain this\n\nLOGDATA")
    assert tw("explain this", script=[seen], piped="LOGDATA\n").out == "Seen.\n"


def test_what_is_piped_in_alone_is_the_prompt(tw: Tw) -> None:
    assert tw(script=[says("Seen.", match="^LOGDATA")], piped="LOGDATA\n").out == "Seen.\n"


def test_a_file_that_is_not_there_is_told_before_anything_is_sent(tw: Tw, project: Path) -> None:
    ran = tw("Go", "-f", "nope.txt", "--format", "json", script=[says("Sent.")])
    assert ran.code == 2
    assert "nope.txt" in ran.err
    assert [line["type"] for line in ran.lines] == ["start", "result"]
    assert ran.lines[-1]["reason"] == "usage"
    assert asyncio.run(_sessions(project)) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--variant", "WRONG"), "has no variant 'WRONG'"),
        (("--agent", "WRONG"), "There is no agent 'WRONG'"),
        (("--model", "nobody/x"), "There is no provider 'nobody'"),
        (("--model", "openai/gpt-9zz"), "OpenAI has no model 'gpt-9zz'"),
        (("--model", "scripted/none.json"), "none.json cannot be read as a script"),
        (("--model", "scripted/a.txt"), "a.txt cannot be read as a script"),
        (("-f", "a.txt", "-f", "nope/"), "There is no file 'nope/'"),
        (("--max-steps", "0"), "0 is not above 0"),
        (("--max-cost", "nan"), "nan is not above 0"),
        (("--max-tokens", "many"), "invalid int value"),
        (("--session", "ses_nope"), "There is no session 'ses_nope'"),
    ],
)
def test_what_is_plainly_wrong_is_a_usage_error_and_leaves_no_session(
    tw: Tw, project: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = tw("Go", *arguments, script=None if "--model" in arguments else [says("Sent.")])
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert asyncio.run(_sessions(project)) == 0


def test_a_wrong_variant_is_told_in_a_session_that_goes_on_too(tw: Tw, project: Path) -> None:
    tw("First", script=[says("One.")])
    ran = tw("Second", "--continue", "--variant", "WRONG", script=[says("Two.")])
    assert ran.code == 2
    assert "has no variant 'WRONG'" in ran.err
    assert tw("Third", "--continue", script=[says("Three.", not_match="Second")]).out == "Three.\n"


def test_a_file_that_a_rule_forbids_to_attach_is_told_to_the_user(tw: Tw, project: Path) -> None:
    (project / ".env").write_text("KEY=1")
    config = {"permission": {"read": {"*.env": "deny"}}}
    ran = tw("Go", "-f", ".env", script=[says("Then without it.")], config=config)
    assert ran.code == 0
    assert ".env could not be read: A rule forbids read" in ran.err


def test_yes_and_no_contradict_each_other(tw: Tw) -> None:
    ran = tw("Go", "--yes", "--no", script=[says("Never.")])
    assert ran.code == 2
    assert "--yes and --no" in ran.err


def test_without_anybody_the_turn_goes_on_and_the_list_comes_at_the_end(tw: Tw) -> None:
    script = [calls(call("write", filePath="b.txt", content="b\n")), says("Then without it.")]
    ran = tw("Go", script=script, config={"permission": {"edit": "ask"}})
    assert (ran.code, ran.out) == (3, "Then without it.\n")
    assert "nobody can be asked in this run" in ran.err
    assert "refused: write, which asked for edit b.txt" in ran.err


@pytest.mark.parametrize("options", [(), ("--yes",)])
def test_without_anybody_no_tool_is_offered_that_needs_a_person(tw: Tw, options: tuple[str, ...]) -> None:
    asked = call("question", questions=[{"question": "Which?", "header": "Which", "options": []}])
    ran = tw("Go", "--format", "json", *options, script=[calls(asked), says("Done.")])
    [use] = [line for line in ran.lines if line["type"] == "tool_use"]
    assert "question" in json.dumps(use["part"]["state"])
    assert use["part"]["state"]["status"] == "error" or use["part"]["tool"] == "invalid"
    assert ran.code == 0


def test_every_line_fits_the_schema_that_is_shipped(tw: Tw, project: Path) -> None:
    validator = jsonschema_rs.validator_for(line_schema())
    task = call("task", description="Look", prompt="LOOK", subagent_type="explore")
    script = [
        calls(task, call("write", filePath="b.txt", content="b\n"), call("write", filePath="c.txt", content="c\n")),
        calls(read(), match="LOOK"),
        says("Looked.", match="LOOK"),
        says("Done."),
    ]
    rules = {"permission": {"edit": {"*": "allow", "c.txt": "ask"}}}
    ran = tw("Go", "--format", "json", script=script, config=rules)
    for line in ran.lines:
        assert [str(error) for error in validator.iter_errors(line)] == [], line
    assert ran.lines[0] | {"version": "", "timestamp": 0, "sessionID": "", "model": ""} == {
        "type": "start",
        "version": "",
        "timestamp": 0,
        "sessionID": "",
        "agent": "build",
        "model": "",
    }
    assert any(line.get("parentID") == ran.lines[0]["sessionID"] for line in ran.lines)
    assert {"permission_asked", "permission_replied"} <= {line["type"] for line in ran.lines}
    last = ran.lines[-1]
    assert (last["text"], last["reason"], last["exitCode"], ran.code) == ("Done.", "refused", 3, 3)
    assert [(one["tool"], one["by"], one["what"]) for one in last["refused"]] == [("write", "answer", "edit c.txt")]
    assert [(Path(one["file"]).name, one["additions"]) for one in last["changes"]] == [("b.txt", 1)]
    assert last["tokens"]["total"] == last["tokens"]["input"] + last["tokens"]["output"]


def test_the_answer_can_be_written_to_a_file(tw: Tw, tmp_path: Path) -> None:
    assert tw("Go", "--output", str(tmp_path / "answer.md"), script=[says("It.")]).code == 0
    assert (tmp_path / "answer.md").read_text() == "It.\n"
    ran = tw("Go", "--output", str(tmp_path / "none" / "answer.md"), script=[says("Never.")])
    assert ran.code == 2
    assert ran.out == ""


def test_a_session_is_found_by_its_beginning_its_two_words_and_last(tw: Tw) -> None:
    first = tw("First", "--format", "json", script=[says("One.")]).lines[0]["sessionID"]
    for name in (first, first[:-4], "last"):
        assert tw("Next", "-s", name, script=[says("Two.", match="First.*Next")]).out == "Two.\n"


def test_a_session_of_another_project_is_left_alone(tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = tw("First", "--format", "json", script=[says("One.")]).lines[0]["sessionID"]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ran = tw("Next", "-s", session, script=[says("Never.")])
    assert ran.code == 2
    assert "belongs to another project" in ran.err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_turn_in_good_order(project: Path, sent: signal.Signals) -> None:
    home = project.parent / "project.home"
    home.mkdir()
    (home / "script.json").write_text(json.dumps([says("One two three" * 1000, chunk=3, gap=0.05), says("Never.")]))
    command = [sys.executable, "-m", "toolwright", "run", "Go", "--format", "json"]
    process = subprocess.Popen(
        [*command, "--model", f"scripted/{home / 'script.json'}", "--directory", str(project)],
        env={**os.environ, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    while b"step_start" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(sent)
    out, _ = process.communicate()
    assert process.returncode == 4
    assert json.loads(out.splitlines()[-1])["error"]["name"] == "MessageAbortedError"
    assert json.loads(out.splitlines()[-1])["reason"] == "stopped"


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_the_answer_is_json_that_fits_a_schema(tw: Tw, project: Path) -> None:
    (project / "form.json").write_text(json.dumps(SCHEMA))
    given = ("Count", "--json-schema", "form.json")
    answered = tw(*given, script=[says("Three."), says('```json\n{"n": 3}\n```', match="not JSON")])
    assert (answered.code, answered.out) == (0, '{"n": 3}\n')
    line = tw(*given, "--format", "json", script=[says('{"n": 3}')]).lines[-1]
    assert line["output"] == {"n": 3}
    jsonschema_rs.validator_for(line_schema()).validate(line)
    failed = tw(*given, script=[says("Three."), says("Three!")])
    assert (failed.code, failed.out) == (1, "")
    assert "has not the form that was asked for" in failed.err


@pytest.mark.parametrize(("text", "words"), [(None, "cannot be read"), ("[1]", "is no JSON Schema")])
def test_a_schema_that_is_none_is_told_before_anything_is_sent(
    tw: Tw, project: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (project / "form.json").write_text(text)
    ran = tw("Count", "--json-schema", "form.json", script=[says("Three.")])
    assert ran.code == 2
    assert words in ran.err

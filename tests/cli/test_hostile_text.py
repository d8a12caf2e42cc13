"""Hostile text on every surface of the command line: question, progress, diff, session, log."""

import io
import json
import logging
from pathlib import Path

import pytest

from tests.text.test_display import HOSTILE, unseen
from toolwright.calls.parts import Completed, Failed, Span, ToolPart
from toolwright.cli.commands.session_command import _message_lines
from toolwright.cli.log import start_log
from toolwright.cli.options import note, print_json, print_table
from toolwright.cli.run.json_lines import JsonLines
from toolwright.cli.run.progress import Quiet
from toolwright.cli.run.questions import _choices
from toolwright.events import PartUpdated
from toolwright.inbox import Question
from toolwright.messages import Message, ModelRef, Moment, TextPart, User
from toolwright.session.events import PartDelta, SessionStatus
from toolwright.terminal.call_text import shown_call
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.screen import Screen


def tool_call(text: str, *, failed: bool = False) -> ToolPart:
    span = Span(start=1, end=2)
    state: Completed | Failed = (
        Failed(input={}, error=text, kind="crash", time=span)
        if failed
        else Completed(input={"command": text}, output=text, title=text, metadata={}, time=span)
    )
    return ToolPart(session_id="ses_1", message_id="msg_1", id="prt_2", call_id="call_1", tool="bash", state=state)


def _question(text: str) -> Question:
    return Question(
        kind="permission",
        session_id="ses_1",
        permission="bash",
        patterns=(text,),
        always=(text,),
        tool="bash",
        arguments={"command": text},
        metadata={"reasons": [text], "diff": text},
    )


KNOWN = tuple(
    f"  {word}"
    for word in ("runs", "reads", "writes", "deletes", "goes to", "network", "unclear", "outside", "asks for", "!")
)


def test_nothing_in_a_question_can_leave_its_place(tmp_path: Path) -> None:
    for text in HOSTILE:
        asked = _question(text)

        shown = shown_call(asked, tmp_path)

        assert unseen(shown) == []
        assert unseen(_choices(asked, asked.always)) == []
        ours = [line for line in shown.splitlines() if line and not line.startswith(("  │", "    ", "  ! "))]
        assert [line.split(maxsplit=1)[0] for line in ours][:1] == ["The"]
        assert all(line.startswith(("The agent wants to run a command", *KNOWN)) for line in ours), shown


def test_words_and_calls_cannot_leave_their_line() -> None:
    for text in HOSTILE:
        out, notes = io.StringIO(), io.StringIO()
        live = Renderer(session_id="ses_1", screen=Screen(out=out), notes=Screen(out=notes))

        live(PartUpdated(part=TextPart(session_id="ses_1", message_id="msg_1", id="prt_1", text="")))
        live(PartDelta(session_id="ses_1", message_id="msg_1", part_id="prt_1", field="text", delta=text))
        for call in (tool_call(text), tool_call(text, failed=True)):
            live(PartUpdated(part=call))
            Quiet("ses_1", notes=notes)(PartUpdated(part=call))
        live(SessionStatus(session_id="ses_1", status={"type": "retry", "message": text, "attempt": 1}))

        assert unseen(out.getvalue() + notes.getvalue()) == []


def test_json_lines_are_harmless_and_whole() -> None:
    for text in HOSTILE:
        out = io.StringIO()

        JsonLines("ses_1", out=out)(PartUpdated(part=tool_call(text)))

        assert unseen(out.getvalue()) == []
        assert json.loads(out.getvalue())["part"]["state"]["output"] == text


def test_a_session_is_shown_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    model = ModelRef(provider_id="p", model_id="m")
    for text in HOSTILE:
        info = User(id="msg_1", session_id="ses_1", time=Moment(created=1), agent="build", model=model)
        message = Message(info=info)
        message.parts["prt_2"] = tool_call(text)

        print_table([("ses_1", text)])
        print_json({"title": text})
        note(text)

        shown = capsys.readouterr()
        assert unseen("\n".join(_message_lines(message)) + shown.out + shown.err) == []


def test_the_log_is_harmless(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWRIGHT_LOG", "debug")
    log = logging.getLogger("toolwright")
    before = list(log.handlers)
    # Otherwise pytest keeps the records for its report, which half a character breaks.
    monkeypatch.setattr(log, "propagate", False)
    start_log()
    try:
        for text in HOSTILE:
            log.warning("refused: %s", text)
    finally:
        log.handlers[:] = before
        log.setLevel(logging.NOTSET)

    assert unseen(capsys.readouterr().err) == []

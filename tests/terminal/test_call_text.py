"""A call as the person who decides about it is shown it."""

from pathlib import Path

import pytest

from toolwright.calls.parts import Failed, Span, ToolPart
from toolwright.inbox import Question
from toolwright.terminal.call_text import call_lines, headline_of, shown_call
from toolwright.terminal.calls import details


@pytest.mark.parametrize(
    ("command", "patterns", "changes"),
    [("python3 t.py", ("cache/t.pyc", "log.txt"), ["cache/t.pyc", "log.txt"]), ("touch log.txt", ("log.txt",), [])],
)
def test_files_that_no_line_of_a_command_tells_are_named(
    tmp_path: Path, command: str, patterns: tuple[str, ...], changes: list[str]
) -> None:
    question = Question(
        kind="permission",
        session_id="ses_1",
        tool="bash",
        arguments={"command": command},
        permission="edit",
        patterns=patterns,
    )
    _, _, below = shown_call(question, tmp_path, columns=80).partition("  changes ")
    assert below.split()[: len(patterns)] == changes


def test_what_the_headline_tells_is_not_told_again(tmp_path: Path) -> None:
    arguments = {"filePath": "/etc/hostname", "offset": 3}
    question = Question(kind="permission", session_id="ses_1", tool="read", arguments=arguments, permission="read")
    headline = headline_of(question, tmp_path)
    assert headline.endswith("wants to read /etc/hostname")
    assert call_lines(question, 80, headline) == ["  │ offset: 3"]
    assert call_lines(question, 80) == ["  │ filePath: /etc/hostname", "  │ offset: 3"]


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("The user refused edit on 'a.py' and says: use make", "You refused it: use make"),
        ("The user refused edit on 'a.py'. Nothing was done; do not try it again another way.", "You refused it."),
    ],
)
def test_a_refusal_is_told_to_who_has_refused(error: str, shown: str) -> None:
    state = Failed(input={}, error=error, time=Span(start=0, end=60_000), kind="rejected")
    part = ToolPart(id="prt_1", session_id="ses_1", message_id="msg_1", call_id="call_1", tool="edit", state=state)
    assert [text for text, _ in details(part)] == [shown]

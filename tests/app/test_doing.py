"""The word of the line of progress follows the events of a turn."""

from toolwright.app.doing import Doing
from toolwright.calls.parts import Span
from toolwright.events import Event, PartUpdated
from toolwright.messages import ReasoningPart, TextPart
from toolwright.session.events import PartDelta, SessionStatus


def text(*, session: str = "ses_1", ended: bool = False) -> Event:
    span = Span(start=1, end=2 if ended else None)
    return PartUpdated(part=TextPart(id="p1", session_id=session, message_id="m1", text="", time=span))


def thought() -> Event:
    return PartUpdated(
        part=ReasoningPart(id="p2", session_id="ses_1", message_id="m1", text="", time=Span(start=1, end=None))
    )


def delta(part: str, session: str = "ses_1") -> Event:
    return PartDelta(session_id=session, message_id="m1", part_id=part, field="text", delta="x")


def status(**told: object) -> Event:
    return SessionStatus(session_id="ses_1", status=dict(told))


def test_thinking_writing_and_thinking_again_are_told_apart() -> None:
    doing = Doing("ses_1")
    words = [doing.word()]
    for event in (thought(), delta("p2"), text(), delta("p1"), text(ended=True)):
        doing.take(event)
        words.append(doing.word())
    assert words == ["thinking", "thinking", "thinking", "writing", "writing", "thinking"]


def test_another_session_changes_nothing() -> None:
    doing = Doing("ses_1")
    doing.take(text(session="ses_2"))
    doing.take(delta("p1", session="ses_2"))
    assert doing.word() == "thinking"


def test_a_wait_counts_down_and_says_why_until_the_next_attempt_answers() -> None:
    doing = Doing("ses_1", lambda: 1_000.0)
    doing.take(
        status(type="retry", attempt=1, attempts=6, message="Too many requests.", reason="rate limit", next=1_003_000)
    )
    assert doing.word() == "waiting 3 s (2 of 6): rate limit"
    doing.take(text())
    assert doing.word() == "writing"


def test_a_wait_of_which_nothing_is_known_says_that_there_was_no_answer() -> None:
    doing = Doing("ses_1", lambda: 1_000.0)
    doing.take(status(type="retry"))
    assert doing.word() == "waiting 0 s: the provider did not answer"


def test_a_summary_is_named_while_it_is_written() -> None:
    doing = Doing("ses_1")
    doing.take(status(type="busy", doing="writing a summary"))
    assert doing.word() == "writing a summary"
    doing.take(status(type="busy"))
    assert doing.word() == "thinking"

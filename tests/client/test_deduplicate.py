"""What a server tells, in whatever way and how often: told once, and whole."""

import pytest

from toolwright.calls.parts import Completed, Running, Span, ToolPart
from toolwright.client.deduplicate import EventDeduplicator
from toolwright.events import Event, PartUpdated, PermissionAsked, PermissionReplied
from toolwright.messages import Assistant, Message, ModelRef, Moment, Paths, TextPart, User
from toolwright.session.events import MessageUpdated, PartDelta, SessionIdle, SessionStatus

S = "ses_1"
USER = User(
    id="msg_1", session_id=S, time=Moment(created=1), agent="build", model=ModelRef(provider_id="p", model_id="m")
)
REPLY = Assistant(
    id="msg_2",
    session_id=S,
    parent_id="msg_1",
    time=Moment(created=2),
    provider_id="p",
    model_id="m",
    agent="build",
    mode="build",
    path=Paths(cwd="/", root="/"),
)


def text(words: str, *, end: int | None = None, id: str = "prt_1", message: str = "msg_2") -> TextPart:  # noqa: A002
    return TextPart(id=id, session_id=S, message_id=message, text=words, time=Span(start=1, end=end))


def piece(words: str) -> PartDelta:
    return PartDelta(session_id=S, message_id="msg_2", part_id="prt_1", field="text", delta=words)


def call(*, done: bool) -> ToolPart:
    state = (
        Completed(input={}, output="", title="", metadata={}, time=Span(start=1, end=2))
        if done
        else Running(input={}, time=Span(start=1))
    )
    return ToolPart(id="prt_9", session_id=S, message_id="msg_2", call_id="c", tool="bash", state=state)


def told(telling: EventDeduplicator, *events: Event) -> list[Event]:
    return [one for event in events for one in telling.take(event)]


def words_of(events: list[Event]) -> str:
    return "".join(one.delta for one in events if isinstance(one, PartDelta))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([text(""), piece("ab"), piece("c"), text("abc", end=2)], id="in pieces"),
        pytest.param([text("a"), text("ab"), text("abc"), text("abc", end=2)], id="whole each time"),
        pytest.param([text("abc", end=2)], id="at its end alone"),
        pytest.param([text(""), piece("a"), text("abc", end=2)], id="with the middle missing"),
        pytest.param([text(""), piece("abc"), text("abc", end=2), text("abc", end=2)], id="twice"),
    ],
)
def test_a_text_is_told_in_pieces_and_once(events: list[TextPart | PartDelta]) -> None:
    telling = EventDeduplicator()
    found = told(
        telling,
        MessageUpdated(info=REPLY),
        *(PartUpdated(part=one) if isinstance(one, TextPart) else one for one in events),
    )
    assert words_of(found) == "abc"
    parts = [one.part for one in found if isinstance(one, PartUpdated)]
    assert parts == [text(""), text("abc", end=2)]


def test_the_words_of_a_user_come_whole() -> None:
    said = PartUpdated(part=text("do it", message="msg_1"))
    assert told(EventDeduplicator(), MessageUpdated(info=USER), said) == [MessageUpdated(info=USER), said]


def test_after_a_gap_only_what_is_new_is_told() -> None:
    telling = EventDeduplicator()
    busy = SessionStatus(session_id=S, status={"type": "busy"})
    asked = PermissionAsked(id="per_1", session_id=S, permission="bash", patterns=(), always=(), metadata={})
    told(telling, busy, MessageUpdated(info=USER), MessageUpdated(info=REPLY), PartUpdated(part=text("")), piece("ab"))
    told(telling, PartUpdated(part=call(done=False)), asked)
    later = Message(REPLY, {"prt_1": text("abc", end=2), "prt_9": call(done=True)})

    found = list(telling.catch_up(S, [Message(USER), later], at_work=False))

    assert words_of(found) == "c"
    assert [type(one) for one in found] == [PartDelta, PartUpdated, PartUpdated, SessionStatus, SessionIdle]
    assert list(telling.withdrawn([])) == [PermissionReplied(session_id=S, request_id="per_1", reply="reject")]
    assert list(telling.catch_up(S, [Message(USER), later], at_work=False)) == [], "a second look finds nothing new"


def test_of_what_somebody_has_read_only_the_rest_is_told() -> None:
    telling = EventDeduplicator()
    telling.seen(S, [Message(USER), Message(REPLY, {"prt_1": text("ab")})])
    assert words_of(told(telling, PartUpdated(part=text("abc", end=2)))) == "c"


def test_a_message_that_came_while_nothing_was_heard_is_told() -> None:
    telling = EventDeduplicator()
    told(telling, MessageUpdated(info=USER))
    events = list(telling.catch_up(S, [Message(USER), Message(REPLY, {"prt_1": text("Hello.", end=2)})], at_work=False))
    assert MessageUpdated(info=REPLY) in events
    assert words_of(events) == "Hello." or any(isinstance(one, PartUpdated) for one in events)


def test_a_message_from_before_that_was_never_told_is_not_told_later() -> None:
    telling = EventDeduplicator()
    told(telling, MessageUpdated(info=REPLY))
    assert list(telling.catch_up(S, [Message(USER), Message(REPLY)], at_work=False)) == []

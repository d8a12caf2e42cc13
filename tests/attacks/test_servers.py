"""A server that answers nonsense to who attaches to it: a sentence, and what can be understood is still heard."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolwright.client.calls import ServerError, answer_of, as_list, message_of, session_of
from toolwright.client.events import event_of, payload_of, question_of
from toolwright.client.reading import agent_of, command_of, result_of, todo_of, undo_of, undo_of_change
from toolwright.messages import Assistant, Message, Moment, Paths, Tokens

ODD: list[Any] = [None, 5, "x", [], [[]], {}, {"info": 5}, {"info": {}, "parts": 1}, {"name": [], "model": 7}]
LAST = Message(
    Assistant(
        id="msg_1", session_id="ses_1", parent_id="msg_0", time=Moment(created=1), provider_id="p", model_id="m",
        agent="build", mode="build", path=Paths(cwd="/", root="/"), cost=0, tokens=Tokens(),
    ),
    {},
)  # fmt: skip
READERS: dict[str, Callable[[Any], object]] = {
    "a session": session_of,
    "a message": message_of,
    "a list": lambda value: as_list(value)[0]["id"] if isinstance(value, dict) else as_list(5),
    "a todo": lambda value: todo_of(1, value),
    "an undo": undo_of,
    "a change": lambda value: undo_of_change(value, "/"),
    "a result": lambda value: result_of(LAST, [], [value]),
}


@pytest.mark.parametrize("value", ODD, ids=lambda value: json.dumps(value)[:20])
@pytest.mark.parametrize("what", READERS)
def test_an_answer_that_is_none_is_a_sentence(what: str, value: Any) -> None:
    with pytest.raises(ServerError) as told:
        READERS[what](value)
    assert len(str(told.value)) <= 500
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("value", ODD[:6], ids=lambda value: json.dumps(value)[:20])
@pytest.mark.parametrize("reader", [agent_of, command_of])
def test_so_is_one_without_a_name(reader: Callable[[Any], object], value: Any) -> None:
    with pytest.raises(ServerError):
        reader(value)


def test_an_answer_nested_without_end_is_a_sentence() -> None:
    with pytest.raises(ServerError, match="not JSON"):
        answer_of(200, b"[" * 100_000)


@pytest.mark.parametrize("data", ["", "{", "[" * 100_000, "null", "[]", "{}", '{"type": 5, "properties": {}}',
    '{"type": "x"}', '{"type": "x", "properties": []}', '{"type": "x", "properties": {"info": []}}',
    '{"type": "x", "properties": {"part": "y"}}'])  # fmt: skip
def test_an_event_that_is_none_is_passed_over(data: str) -> None:
    assert payload_of(data) is None


@pytest.mark.parametrize("kind", ["permission.asked", "question.asked", "session.idle", "message.updated"])
@pytest.mark.parametrize("properties", [{}, {"id": 5}, {"questions": 5}, {"permission": [], "patterns": 3}])
def test_so_is_a_question_that_cannot_be_understood(kind: str, properties: Any) -> None:
    payload = payload_of(json.dumps({"type": kind, "properties": properties}))
    assert payload is not None
    assert question_of(payload) is None
    assert event_of(payload) is None

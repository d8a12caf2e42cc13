"""What servers that imitate OpenAI do differently, and how it is read all the same."""

from typing import Any

import pytest

from tests.models.conftest import (
    CHAT,
    calls_of,
    events_of,
    finish_of,
    seals_of,
    text_of,
    thoughts_of,
    usage_of,
)
from tests.models.replies import sse
from tests.models.server import Server
from toolwright.models.info import Usage
from toolwright.models.model import Event


async def read(server: Server, *chunks: Any, field: str = "", done: bool = True) -> list[Event]:
    server.stream(*map(sse, chunks), *([sse("[DONE]")] if done else []))
    record = {"interleaved": {"field": field}} if field else {}
    return await events_of(CHAT.model(server, record=record))


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def call(index: int | None, call_id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    part |= {} if index is None else {"index": index}
    part |= {} if call_id is None else {"id": call_id}
    return delta(tool_calls=[part])


async def test_calls_that_all_have_index_0_are_told_apart_by_id(server: Server) -> None:
    events = await read(server, call(0, "a", "read", '{"x":'), call(0, None, None, "1}"), call(0, "b", "grep", "{}"))
    found = [(entry.id, entry.name, entry.arguments) for entry in calls_of(events)]
    assert found == [("a", "read", '{"x":1}'), ("b", "grep", "{}")]


async def test_pieces_without_index_or_id_belong_to_the_last_call(server: Server) -> None:
    events = await read(
        server, call(None, "a", "read", ""), call(None, None, None, '{"x":'), call(None, None, None, "1}")
    )
    assert [(entry.id, entry.arguments) for entry in calls_of(events)] == [("a", '{"x":1}')]


async def test_pieces_of_several_calls_may_be_mixed(server: Server) -> None:
    events = await read(
        server,
        call(0, "a", "read", ""),
        call(1, "b", "grep", ""),
        call(0, None, None, '{"x":'),
        call(1, None, None, '{"y":'),
        call(0, None, None, "1}"),
        call(1, None, None, "2}"),
    )
    assert [entry.arguments for entry in calls_of(events)] == ['{"x":1}', '{"y":2}']


async def test_a_call_without_id_gets_one(server: Server) -> None:
    events = await read(server, call(0, None, "read", "{}"), call(1, "", "read", "{}"))
    first, second = calls_of(events)
    assert first.id.startswith("call_")
    assert first.id != second.id


async def test_an_id_repeated_in_every_piece_is_one_call(server: Server) -> None:
    events = await read(server, call(0, "a", "read", '{"x":'), call(0, "a", "read", "1}"))
    assert [entry.arguments for entry in calls_of(events)] == ['{"x":1}']


@pytest.mark.parametrize(("second", "names"), [("read", ["read"]), ("grep", ["read", "grep"])])
async def test_a_name_that_comes_again_before_any_argument_is_the_same_call_and_another_name_is_another(
    server: Server, second: str, names: list[str]
) -> None:
    events = await read(server, call(0, None, "read", ""), call(0, None, second, '{"x":1}'))
    calls = calls_of(events)
    assert [entry.name for entry in calls] == names
    assert calls[-1].arguments == '{"x":1}'


async def test_arguments_as_an_object_are_taken_as_text(server: Server) -> None:
    events = await read(server, call(0, "a", "read", {"filePath": "ü"}))
    assert calls_of(events)[0].arguments == '{"filePath":"ü"}'


async def test_a_stream_without_the_word_done_is_complete_once_it_has_a_finish_reason(server: Server) -> None:
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = await read(server, delta(content="x"), last, done=False)
    assert finish_of(events).reason == "stop"


async def test_a_stream_that_is_done_without_a_finish_reason_is_judged_by_its_content(server: Server) -> None:
    events = await read(server, call(0, "a", "read", "{}"))
    assert finish_of(events).reason == "tool_calls"


async def test_reasoning_under_either_name(server: Server) -> None:
    events = await read(server, delta(reasoning_content="one "), delta(reasoning="two"), delta(content="x"))
    assert thoughts_of(events) == "one two"
    assert seals_of(events) == [{"field": "reasoning"}]


async def test_thinking_as_a_list_of_content(server: Server) -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    events = await read(server, delta(content=[thinking]), delta(content=[{"type": "text", "text": "x"}]))
    assert (thoughts_of(events), text_of(events)) == ("hm", "x")


async def test_reasoning_details_are_put_together_for_replay(server: Server) -> None:
    def detail(**fields: Any) -> dict[str, Any]:
        return delta(reasoning_details=[{"type": "reasoning.text", "index": 0, **fields}])

    sealed = {"type": "reasoning.encrypted", "index": 1, "data": "SEALED"}
    events = await read(
        server,
        detail(text="one "),
        detail(text="two"),
        detail(signature="S"),
        delta(content="x"),
        delta(reasoning_details=[sealed]),
        field="reasoning_details",
    )
    assert thoughts_of(events) == "one two"
    whole = {"type": "reasoning.text", "index": 0, "text": "one two", "signature": "S"}
    assert seals_of(events)[-1] == {"reasoning_details": [whole, sealed]}


async def test_a_refusal_is_text(server: Server) -> None:
    assert text_of(await read(server, delta(refusal="I will not."))) == "I will not."


async def test_reasoning_counted_beside_the_output_is_not_taken_from_it(server: Server) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "total_tokens": 20,
        "completion_tokens_details": {"reasoning_tokens": 6},
    }
    events = await read(server, delta(content="x"), {"choices": [], "usage": usage})
    assert usage_of(events) == Usage(input=10, output=4, reasoning=6)


async def test_cache_hits_under_another_name(server: Server) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_cache_hit_tokens": 8}
    events = await read(server, delta(content="x"), {"choices": [], "x_groq": {"usage": usage}})
    assert usage_of(events) == Usage(input=2, output=4, cache_read=8)


async def test_no_usage_is_no_event(server: Server) -> None:
    events = await read(server, delta(content="x"))
    assert not any(isinstance(event, Usage) for event in events)

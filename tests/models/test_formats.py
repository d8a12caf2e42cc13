"""The four formats as providers have them now: what goes back, what is read, what is never lost."""

import json
from typing import Any

import pytest

from tests.models.conftest import (
    CHAT,
    GEMINI,
    RESPONSES,
    Format,
    calls_of,
    events_of,
    finish_of,
    seals_of,
    text_of,
    thoughts_of,
    usage_of,
)
from tests.models.replies import Reply, sse
from tests.models.server import Answer, Server
from toolwright.models.connect import connect
from toolwright.models.info import Usage
from toolwright.models.model import (
    AssistantMessage,
    Event,
    Model,
    ModelCall,
    ModelError,
    ModelMessage,
    Reasoning,
    ReplySettings,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

READ = ToolSpec(name="read", description="Read a file.", schema={"type": "object", "properties": {}})


def asked(call_id: str, *thoughts: Reasoning) -> list[Any]:
    call = ModelCall(id=call_id, name="read", arguments={})
    return [
        UserMessage(content=("go",)),
        AssistantMessage(content=(*thoughts, call)),
        ToolMessage(call_id=call_id, name="read", output="text"),
    ]


def named(server: Server, provider: str, model: str, **record: Any) -> Model:
    config = {"api": "openai-chat", "options": {"baseURL": server.url}, "models": {model: record}}
    return connect(provider, model, config)


async def body_of(server: Server, model: Model, messages: list[Any], settings: ReplySettings | None = None) -> Any:
    server.stream(*CHAT.write(Reply(text="x")))
    await events_of(model, messages, (READ,), settings)
    return server.seen[-1].body


async def read_chat(server: Server, *chunks: Any, record: Any = None) -> list[Event]:
    server.stream(*(sse(chunk) for chunk in chunks), sse("[DONE]"))
    return await events_of(CHAT.model(server, record=record or {}))


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def piece(name: str = "", arguments: str = "", **more: Any) -> dict[str, Any]:
    function = {**({"name": name} if name else {}), "arguments": arguments}
    return delta(tool_calls=[{"function": function, **more}])


# What goes back.


async def test_gemini_gets_the_id_of_a_call_with_its_result(server: Server) -> None:
    server.stream(*GEMINI.write(Reply(text="x")))
    await events_of(GEMINI.model(server), asked("fc_1"), (READ,))
    contents = server.seen[-1].body["contents"]
    assert contents[1]["parts"][0]["functionCall"]["id"] == "fc_1"
    assert contents[2]["parts"][0]["functionResponse"]["id"] == "fc_1"


@pytest.mark.parametrize("call_id", ["functions.read:0", "call_1__thought__" + "x" * 400, "chatcmpl-tool-1|2"])
async def test_ids_of_calls_go_back_as_they_came(server: Server, call_id: str) -> None:
    body = await body_of(server, named(server, "gateway", "kimi-k3"), asked(call_id))
    assert body["messages"][1]["tool_calls"][0]["id"] == call_id
    assert body["messages"][2]["tool_call_id"] == call_id


async def test_openai_gets_ids_of_at_most_forty_letters(server: Server) -> None:
    body = await body_of(server, named(server, "openai", "gpt-4o"), asked("call_" + "x" * 60))
    call_id = body["messages"][1]["tool_calls"][0]["id"]
    assert len(call_id) <= 40
    assert body["messages"][2]["tool_call_id"] == call_id


@pytest.mark.parametrize(
    "model", ["ministral-8b", "magistral-small", "open-mixtral-8x7b", "pixtral-large", "devstral-2"]
)
async def test_every_model_of_mistral_gets_ids_of_nine(server: Server, model: str) -> None:
    body = await body_of(server, named(server, "vllm", model), asked("call_12345678"))
    assert len(body["messages"][1]["tool_calls"][0]["id"]) == 9


async def test_mistral_is_sent_no_field_that_it_forbids(server: Server) -> None:
    thought = Reasoning(text="hm", signature={"field": "reasoning_content"})
    body = await body_of(server, named(server, "mistral", "mistral-large-latest"), asked("abcdefghi", thought))
    assert "stream_options" not in body
    assert "reasoning_content" not in json.dumps(body)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_in_the_field_it_came_in(server: Server, field: str) -> None:
    model = named(server, "gateway", "deepseek-v4-pro", reasoning=True)
    server.stream(sse(delta(**{field: "so "})), sse(delta(**{field: "it is"})), sse(delta(content="x")), sse("[DONE]"))
    events = await events_of(model)
    thought = Reasoning(text=thoughts_of(events), signature=seals_of(events)[0])
    server.answers.clear()
    body = await body_of(server, model, asked("c1", thought))
    assert body["messages"][1][field] == "so it is"


async def test_thinking_blocks_of_a_gateway_go_back_whole(server: Server) -> None:
    blocks = [
        {"type": "thinking", "thinking": "so ", "index": 0},
        {"type": "thinking", "thinking": "it is", "index": 0},
    ]
    sealed = {"type": "thinking", "thinking": "", "signature": "SEAL", "index": 0}
    events = await read_chat(
        server, *(delta(thinking_blocks=[block]) for block in (*blocks, sealed)), delta(content="x")
    )
    whole = {"type": "thinking", "thinking": "so it is", "signature": "SEAL", "index": 0}
    assert seals_of(events)[-1] == {"thinking_blocks": [whole]}
    server.answers.clear()
    thought = Reasoning(text="", signature=seals_of(events)[-1])
    body = await body_of(server, CHAT.model(server), asked("c1", thought))
    assert body["messages"][1]["thinking_blocks"] == [whole]


async def test_a_cache_key_can_be_left_out(server: Server) -> None:
    server.stream(*RESPONSES.write(Reply(text="x")))
    for given, there in ({}, True), ({"setCacheKey": False}, False):
        await events_of(RESPONSES.model(server, options=given), settings=ReplySettings(cache_key="ses_1"))
        assert ("prompt_cache_key" in server.seen[-1].body) is there


# How much is asked for.


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ({"context": 262_144, "output": 262_144}, 32_000),
        ({"context": 1_000_000, "output": 8_192}, 8_192),
        ({"context": 20_000, "output": 20_000}, 20_000 - 10_000 - 1_250),
        ({"context": 5_000, "output": 4_096}, 256),
        ({"output": 128_000}, 32_000),
    ],
)
async def test_a_reply_is_asked_to_be_no_longer_than_fits(server: Server, limit: dict[str, int], most: int) -> None:
    model = named(server, "moonshotai", "kimi-k2.6", limit=limit)
    server.stream(*CHAT.write(Reply(text="x")))
    await events_of(model, [UserMessage(content=("x" * 4 * 9_992,))])
    assert server.seen[-1].body["max_tokens"] == most


# What is read.


async def test_two_calls_of_one_id_are_two_calls(server: Server) -> None:
    events = await read_chat(
        server,
        piece("read", '{"filePath":"a"}', id="c1", index=0),
        piece("read", '{"filePath":"b"}', id="c1", index=1),
    )
    assert [json.loads(call.arguments)["filePath"] for call in calls_of(events)] == ["a", "b"]


@pytest.mark.parametrize("more", [{}, {"index": 0}, {"id": "same"}, {"id": ""}], ids=str)
async def test_calls_without_a_number_of_their_own_are_told_apart_by_their_names(server: Server, more: Any) -> None:
    events = await read_chat(
        server,
        piece("read", '{"filePath":', **more),
        piece("", '"a"}', **{name: value for name, value in more.items() if name == "index"}),
        piece("read", '{"filePath":"b"}', **more),
        piece("list", "", **more),
        piece("glob", "{}", **more),
    )
    assert [(call.name, call.arguments) for call in calls_of(events)] == [
        ("read", '{"filePath":"a"}'),
        ("read", '{"filePath":"b"}'),
        ("list", "{}"),
        ("glob", "{}"),
    ]


async def test_a_name_that_is_repeated_with_every_piece_is_one_call(server: Server) -> None:
    pieces = ['{"a": ', '{"b": 1}', ', "c": ', '{"d": {}}', "}"]
    events = await read_chat(server, *(piece("read", text, id="c1", index=0) for text in pieces))
    (call,) = calls_of(events)
    assert json.loads(call.arguments) == {"a": {"b": 1}, "c": {"d": {}}}


async def test_half_a_character_waits_for_its_other_half(server: Server) -> None:
    halves = [b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % half for half in (b"a\\ud83d", b"\\ude00b")]
    server.stream(*halves, sse("[DONE]"))
    assert text_of(await events_of(CHAT.model(server))) == "a😀b"


async def test_an_event_without_content_is_nothing(server: Server) -> None:
    server.stream(b"event: ping\ndata: \n\n", b"data:\n\n", *CHAT.write(Reply(text="x")))
    assert text_of(await events_of(CHAT.model(server))) == "x"


async def test_an_error_object_in_a_stream_is_an_error(server: Server) -> None:
    server.stream(sse({"object": "error", "message": "the prompt is bad", "type": "BadRequestError", "code": 400}))
    with pytest.raises(ModelError) as caught:
        await events_of(CHAT.model(server))
    assert (caught.value.kind, caught.value.status) == ("bad_request", 400)


async def test_tokens_written_to_the_cache_are_counted(server: Server) -> None:
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 30},
    }
    server.stream(sse({"type": "response.completed", "response": {"usage": usage}}))
    assert usage_of(await events_of(RESPONSES.model(server))) == Usage(
        input=50, output=10, cache_read=20, cache_write=30
    )


# Thinking and calls between tags.


@pytest.mark.parametrize("size", [1, 3, 50])
async def test_thinking_between_tags_is_reasoning_while_it_streams(server: Server, size: int) -> None:
    text = "\n<think>\nfirst a < b</think>\n\nThe answer: <b>x</b>"
    events = await read_chat(server, *(delta(content=text[at : at + size]) for at in range(0, len(text), size)))
    assert thoughts_of(events).strip() == "first a < b"
    assert text_of(events).strip() == "The answer: <b>x</b>"


async def test_thinking_that_never_ends_is_no_answer(server: Server) -> None:
    events = await read_chat(server, delta(content="<think>on and on"))
    assert (thoughts_of(events), text_of(events)) == ("on and on", "")


async def test_a_tag_in_the_middle_is_text(server: Server) -> None:
    events = await read_chat(server, delta(content="Write <think> first. <thi"))
    assert text_of(events) == "Write <think> first. <thi"


@pytest.mark.parametrize("size", [1, 7, 200])
async def test_a_call_written_as_text_is_a_call_where_the_profile_says_so(server: Server, size: int) -> None:
    call = '<tool_call>\n{"name": "read", "arguments": {"filePath": "a <b>.txt"}}\n</tool_call>'
    text = f"I look.\n{call}\n{call}"
    chunks = [delta(content=text[at : at + size]) for at in range(0, len(text), size)]
    events = await read_chat(server, *chunks, record={"profile": {"text_calls": True}})
    assert [json.loads(one.arguments) for one in calls_of(events)] == [{"filePath": "a <b>.txt"}] * 2
    assert text_of(events).strip() == "I look."
    assert finish_of(events).reason == "tool_calls"
    server.answers.clear()
    assert text_of(await read_chat(server, *chunks)) == text


async def test_what_only_looks_like_a_call_stays_text(server: Server) -> None:
    text = "<tool_call>not json</tool_call> and <tool_call>unclosed"
    events = await read_chat(server, delta(content=text), record={"profile": {"text_calls": True}})
    assert (text_of(events), calls_of(events)) == (text, [])


# Gemini's ends.


def candidate(text: str, reason: str, **more: Any) -> bytes:
    parts = [{"text": text}] if text else []
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5}
    return sse({"candidates": [{"content": {"parts": parts}, "finishReason": reason, **more}], "usageMetadata": usage})


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"])
async def test_gemini_says_why_it_gave_up(server: Server, reason: str) -> None:
    server.stream(candidate("", reason, finishMessage="print is no call"))
    with pytest.raises(ModelError, match=f"{reason}.*print is no call") as caught:
        await events_of(GEMINI.model(server))
    assert caught.value.retryable


async def test_a_long_reply_of_gemini_is_asked_for_to_its_end(server: Server) -> None:
    server.stream(candidate("one ", "CONTINUATION", continuationToken="T1"))
    server.stream(candidate("two ", "CONTINUATION", continuationToken="T2"))
    server.stream(candidate("three", "STOP"))
    paged = ModelCall(id="c", name="list", arguments={"page": 1, "continuationToken": "of the tool's own"})
    history: list[ModelMessage] = [
        UserMessage(content=("Go.",)),
        AssistantMessage(content=(paged,)),
        ToolMessage(call_id="c", name="list", output="x"),
    ]
    events = await events_of(GEMINI.model(server), history)
    assert text_of(events) == "one two three"
    assert [seen.body.get("continuationToken") for seen in server.seen] == [None, "T1", "T2"]
    assert server.seen[0].body["contents"] == server.seen[1].body["contents"] == server.seen[2].body["contents"]
    assert usage_of(events) == Usage(input=10, output=15)
    assert finish_of(events).reason == "stop"


# Servers that do not stream.


async def test_a_whole_reply_is_read_like_a_stream(server: Server) -> None:
    message = {
        "role": "assistant",
        "content": "Look:",
        "reasoning_content": "hm",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a":1}'}}],
    }
    whole = {
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    }
    text = json.dumps(whole, indent=1).encode()
    server.answer(Answer(pieces=[text[:40], text[40:]], headers={"content-type": "application/json"}))
    events = await events_of(CHAT.model(server))
    assert (thoughts_of(events), text_of(events)) == ("hm", "Look:")
    assert [(call.id, call.arguments) for call in calls_of(events)] == [("c1", '{"a":1}')]
    assert usage_of(events) == Usage(input=9, output=3)


# Much at once.


@pytest.mark.slow
async def test_a_reply_of_fifty_megabytes(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="x" * 50_000_000, size=1_000_000)))
    assert len(text_of(await events_of(form.model(server)))) == 50_000_000


async def test_a_thousand_calls_in_one_reply(server: Server, form: Format) -> None:
    calls = [(f"c{number}", "read", json.dumps({"n": number})) for number in range(1000)]
    server.stream(*form.write(Reply(calls=calls, size=50)))
    made = calls_of(await events_of(form.model(server)))
    assert [json.loads(call.arguments)["n"] for call in made] == list(range(1000))

"""What is sent: the same conversation in the four formats, as the server gets it."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.models.conftest import ANTHROPIC, CHAT, FORMATS, GEMINI, HELLO, RESPONSES, Format, events_of
from tests.models.replies import Reply
from tests.models.server import Server
from toolwright.definition import Attachment
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelMessage,
    Reasoning,
    ReplySettings,
    SystemMessage,
    ToolMessage,
    ToolSpec,
    UserMessage,
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = Attachment(mime="image/png", url=f"data:image/png;base64,{PIXEL}", filename="dot.png")
READ = ToolSpec(
    name="read",
    description="Read a file.",
    schema={"type": "object", "properties": {"filePath": {"type": "string"}}, "required": ["filePath"]},
)
SEALS: dict[str, dict[str, Any]] = {
    "openai-chat": {},
    "openai-responses": {"id": "rs_1", "encrypted_content": "SEAL"},
    "anthropic": {"signature": "SEAL"},
    "gemini": {},
}


def turn(form: Format, model: str = "", call_id: str = "call|weird.id:1") -> list[ModelMessage]:
    """A conversation with everything in it: two system texts, an image, reasoning, text, two calls, their results."""
    signature = {"thoughtSignature": "SEAL"} if form is GEMINI else {}
    return [
        SystemMessage(text="You are terse."),
        SystemMessage(text="Today is Monday."),
        UserMessage(content=("look", IMAGE)),
        AssistantMessage(
            content=(
                Reasoning(text="think", signature=SEALS[form.api]),
                "hm",
                ModelCall(id=call_id, name="read", arguments={"filePath": "ä.txt"}, signature=signature),
                ModelCall(id="c2", name="read", arguments={"filePath": "b.png"}),
            ),
            model=model,
        ),
        ToolMessage(call_id=call_id, name="read", output="hello"),
        ToolMessage(call_id="c2", name="read", output="no such file", failed=True),
    ]


async def sent(
    server: Server,
    form: Format,
    messages: Sequence[ModelMessage],
    tools: Sequence[ToolSpec] = (READ,),
    settings: ReplySettings | None = None,
    **config: Any,
) -> Any:
    server.stream(*form.write(Reply(text="x")))
    await events_of(form.model(server, **config), messages, tools, settings)
    return server.seen[-1].body


async def test_a_turn_in_chat_completions(server: Server) -> None:
    assert await sent(server, CHAT, turn(CHAT)) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tool_choice": "auto",
        "messages": [
            {"role": "system", "content": "You are terse.\n\nToday is Monday."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
                ],
            },
            {
                "role": "assistant",
                "content": "hm",
                "tool_calls": [
                    {
                        "id": "call|weird.id:1",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"filePath":"ä.txt"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"filePath":"b.png"}'},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "call|weird.id:1", "content": "hello"},
            {"role": "tool", "tool_call_id": "c2", "content": "no such file"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Read a file.", "parameters": dict(READ.schema)},
            }
        ],
    }
    assert server.seen[-1].path == "/v1/chat/completions"
    assert server.seen[-1].headers["authorization"] == "Bearer secret"


async def test_a_turn_in_responses(server: Server) -> None:
    assert await sent(server, RESPONSES, turn(RESPONSES), settings=ReplySettings(cache_key="ses_1")) == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "ses_1",
        "tool_choice": "auto",
        "input": [
            {"role": "developer", "content": "You are terse."},
            {"role": "developer", "content": "Today is Monday."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "encrypted_content": "SEAL",
                "summary": [{"type": "summary_text", "text": "think"}],
            },
            {"role": "assistant", "content": "hm"},
            {
                "type": "function_call",
                "call_id": "call_weird_id_1",
                "name": "read",
                "arguments": '{"filePath":"ä.txt"}',
            },
            {"type": "function_call", "call_id": "c2", "name": "read", "arguments": '{"filePath":"b.png"}'},
            {"type": "function_call_output", "call_id": "call_weird_id_1", "output": "hello"},
            {"type": "function_call_output", "call_id": "c2", "output": "no such file"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Read a file.",
                "parameters": dict(READ.schema),
                "strict": False,
            }
        ],
    }
    assert server.seen[-1].path == "/v1/responses"


async def test_a_turn_in_messages(server: Server) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    assert await sent(server, ANTHROPIC, turn(ANTHROPIC)) == {
        "model": "m",
        "max_tokens": 8192,
        "stream": True,
        "tool_choice": {"type": "auto"},
        "system": [
            {"type": "text", "text": "You are terse."},
            {"type": "text", "text": "Today is Monday.", **mark},
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "think", "signature": "SEAL"},
                    {"type": "text", "text": "hm"},
                    {"type": "tool_use", "id": "call_weird_id_1", "name": "read", "input": {"filePath": "ä.txt"}},
                    {"type": "tool_use", "id": "c2", "name": "read", "input": {"filePath": "b.png"}, **mark},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_weird_id_1", "content": "hello"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "c2",
                        "is_error": True,
                        "content": "no such file",
                        **mark,
                    },
                ],
            },
        ],
        "tools": [{"name": "read", "description": "Read a file.", "input_schema": dict(READ.schema)}],
    }
    seen = server.seen[-1]
    assert (seen.path, seen.headers["x-api-key"], seen.headers["anthropic-version"]) == (
        "/v1/messages",
        "secret",
        "2023-06-01",
    )
    assert "authorization" not in seen.headers


async def test_a_turn_in_gemini(server: Server) -> None:
    assert await sent(server, GEMINI, turn(GEMINI), settings=ReplySettings(top_k=64)) == {
        "generationConfig": {"topK": 64},
        "systemInstruction": {"parts": [{"text": "You are terse."}, {"text": "Today is Monday."}]},
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "contents": [
            {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": PIXEL}}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm"},
                    {
                        "functionCall": {"id": "call|weird.id:1", "name": "read", "args": {"filePath": "ä.txt"}},
                        "thoughtSignature": "SEAL",
                    },
                    {"functionCall": {"id": "c2", "name": "read", "args": {"filePath": "b.png"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "call|weird.id:1", "name": "read", "response": {"output": "hello"}}},
                    {"functionResponse": {"id": "c2", "name": "read", "response": {"error": "no such file"}}},
                ],
            },
        ],
        "tools": [
            {"functionDeclarations": [{"name": "read", "description": "Read a file.", "parameters": dict(READ.schema)}]}
        ],
    }
    assert server.seen[-1].path == "/v1/models/m:streamGenerateContent?alt=sse"
    assert server.seen[-1].headers["x-goog-api-key"] == "secret"


async def test_what_another_model_has_sealed_is_left_out(server: Server, form: Format) -> None:
    body = json.dumps(await sent(server, form, turn(form, model="other/model")))
    assert "SEAL" not in body
    assert "think" not in body
    assert "hm" in body


async def test_what_this_model_has_sealed_goes_back(server: Server) -> None:
    for form in (RESPONSES, ANTHROPIC, GEMINI):
        server.answers.clear()
        assert "SEAL" in json.dumps(await sent(server, form, turn(form, model="acme/m")))


@pytest.mark.parametrize("form", [RESPONSES, ANTHROPIC], ids=lambda form: form.api)
async def test_reasoning_that_led_to_nothing_is_left_out(server: Server, form: Format) -> None:
    """As after an abort: a sealed stretch must be followed by what it led to."""
    aborted = AssistantMessage(content=(Reasoning(text="think", signature=SEALS[form.api]),))
    messages: list[ModelMessage] = [UserMessage(content=("a",)), aborted, UserMessage(content=("b",))]
    assert "SEAL" not in json.dumps(await sent(server, form, messages))


async def test_redacted_thinking_goes_back_as_it_came(server: Server) -> None:
    reply = AssistantMessage(content=(Reasoning(text="", signature={"redacted": "DATA"}), "x"))
    body = await sent(server, ANTHROPIC, [UserMessage(content=("a",)), reply, UserMessage(content=("b",))])
    assert body["messages"][1]["content"][0] == {"type": "redacted_thinking", "data": "DATA"}


async def test_reasoning_goes_back_in_the_field_a_server_wants(server: Server) -> None:
    config = {"interleaved": {"field": "reasoning_content"}}
    body = await sent(server, CHAT, turn(CHAT), record=config)
    assert body["messages"][2]["reasoning_content"] == "think"
    server.answers.clear()
    silent: list[ModelMessage] = [
        UserMessage(content=("a",)),
        AssistantMessage(content=("b",)),
        UserMessage(content=("c",)),
    ]
    body = await sent(server, CHAT, silent, record=config)
    assert body["messages"][1]["reasoning_content"] == ""


async def test_reasoning_details_go_back_as_they_came(server: Server) -> None:
    details = [{"type": "reasoning.encrypted", "data": "X", "index": 0}]
    reply = AssistantMessage(content=(Reasoning(text="hm", signature={"reasoning_details": details}), "x"))
    config = {"interleaved": {"field": "reasoning_details"}}
    body = await sent(server, CHAT, [UserMessage(content=("a",)), reply], record=config)
    assert body["messages"][1]["reasoning_details"] == details


async def test_a_call_that_another_model_made_gets_the_signature_gemini_3_takes(server: Server) -> None:
    body = await sent(server, GEMINI, turn(GEMINI, model="other/model"), record={"id": "gemini-3-pro-preview"})
    parts = body["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [None, "skip_thought_signature_validator", None]
    assert server.seen[-1].path.startswith("/v1/models/gemini-3-pro-preview:")


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.api)
async def test_an_image_in_a_result_reaches_the_model(server: Server, form: Format) -> None:
    messages = turn(form)
    messages[2] = UserMessage(content=("look",))
    messages[4] = ToolMessage(call_id="call|weird.id:1", name="read", output="a picture", attachments=(IMAGE,))
    body = await sent(server, form, messages)
    found: Any
    match form.api:
        case "openai-chat":
            last = body["messages"][-1]
            assert [message["role"] for message in body["messages"]][-3:] == ["tool", "tool", "user"]
            found = last["content"][1]["image_url"]["url"]
        case "openai-responses":
            found = body["input"][-2]["output"][1]["image_url"]
        case "anthropic":
            found = body["messages"][-1]["content"][0]["content"][1]["source"]["data"]
        case _:
            parts = body["contents"][-1]["parts"]
            assert [next(iter(part)) for part in parts] == ["functionResponse", "functionResponse", "inlineData"]
            found = parts[2]["inlineData"]["data"]
    assert found.endswith(PIXEL)


async def test_a_file_the_model_cannot_take_is_named_in_words(server: Server, form: Format) -> None:
    strange = Attachment(mime="application/octet-stream", url="data:;base64,AAAA", filename="core.bin")
    body = json.dumps(await sent(server, form, [UserMessage(content=("see", strange))]))
    assert "[core.bin (application/octet-stream) is not shown: files of this type cannot be sent to a model." in body


async def test_an_image_for_a_model_without_eyes_is_named_in_words(server: Server, form: Format) -> None:
    config = {"modalities": {"input": ["text"]}}
    body = json.dumps(await sent(server, form, [UserMessage(content=("see", IMAGE))], record=config))
    assert "[dot.png (image/png) is not shown: this model does not take images." in body
    assert PIXEL not in body


async def test_settings_reach_the_wire(server: Server, form: Format) -> None:
    settings = ReplySettings(temperature=0.5, top_p=0.9, max_output=500, stop=("END",), tool_choice="required")
    body = await sent(server, form, turn(form), settings=settings)
    fields = body["generationConfig"] if form is GEMINI else body
    assert fields["temperature"] == 0.5
    assert fields["topP" if form is GEMINI else "top_p"] == 0.9
    assert 500 in fields.values()
    choice = body["toolConfig" if form is GEMINI else "tool_choice"]
    chosen = {"anthropic": {"type": "any"}, "gemini": {"functionCallingConfig": {"mode": "ANY"}}}
    assert choice == chosen.get(form.api, "required")
    if form is not RESPONSES:
        assert ["END"] in fields.values()


async def test_the_reply_is_limited_by_what_the_model_can(server: Server, form: Format) -> None:
    record = {"limit": {"context": 100_000, "output": 300}}
    body = await sent(server, form, turn(form), settings=ReplySettings(max_output=500), record=record)
    fields = body["generationConfig"] if form is GEMINI else body
    assert 300 in fields.values()
    assert 500 not in fields.values()


async def test_a_model_without_temperature_is_not_sent_one(server: Server) -> None:
    for form in (CHAT, RESPONSES, ANTHROPIC):
        server.answers.clear()
        body = await sent(
            server, form, turn(form), settings=ReplySettings(temperature=1), record={"temperature": False}
        )
        assert "temperature" not in body


@pytest.mark.parametrize(
    ("form", "options", "expected"),
    [
        (CHAT, {"reasoningEffort": "high"}, {"reasoning_effort": "high"}),
        (CHAT, {"enable_thinking": True}, {"enable_thinking": True}),
        (RESPONSES, {"reasoningEffort": "low"}, {"reasoning": {"effort": "low"}}),
        (
            RESPONSES,
            {"reasoning": {"effort": "low"}, "reasoningSummary": "x"},
            {"reasoning": {"effort": "low", "summary": "x"}},
        ),
        (RESPONSES, {"textVerbosity": "low", "store": True}, {"text": {"verbosity": "low"}, "store": True}),
        (ANTHROPIC, {"effort": "high"}, {"output_config": {"effort": "high"}}),
        (GEMINI, {"safetySettings": []}, {"safetySettings": []}),
        (
            GEMINI,
            {"thinkingConfig": {"thinkingBudget": 0}},
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        ),
    ],
)
async def test_options_are_put_where_the_wire_has_them(
    server: Server, form: Format, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    body = await sent(server, form, [UserMessage(content=("a",))], settings=ReplySettings(options=options))
    assert expected.items() <= body.items()


THINKING = ReplySettings(
    options={"thinking": {"type": "enabled", "budgetTokens": 16_000}}, max_output=32_000, temperature=1.0
)


@pytest.mark.parametrize(("limit", "total"), [(64_000, 48_000), (40_000, 40_000), (0, 48_000)])
async def test_thinking_has_its_tokens_on_top_of_the_reply(server: Server, limit: int, total: int) -> None:
    record = {"limit": {"output": limit}}
    body = await sent(server, ANTHROPIC, [UserMessage(content=("a",))], settings=THINKING, record=record)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 16_000}
    assert body["max_tokens"] == total
    assert "temperature" not in body
    assert server.seen[-1].headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"


async def test_beta_features_of_the_user_are_kept(server: Server) -> None:
    options = {"headers": {"Anthropic-Beta": "mine-2025"}}
    await sent(server, ANTHROPIC, [UserMessage(content=("a",))], settings=THINKING, options=options)
    assert server.seen[-1].headers["anthropic-beta"] == "mine-2025,interleaved-thinking-2025-05-14"


async def test_thinking_is_not_switched_on_in_the_middle_of_a_turn(server: Server) -> None:
    """Another model began the turn; its calls carry no thinking that this provider would accept."""
    body = await sent(server, ANTHROPIC, turn(ANTHROPIC, model="other/model"), settings=THINKING)
    assert "thinking" not in body
    server.answers.clear()
    body = await sent(server, ANTHROPIC, turn(ANTHROPIC), settings=THINKING)
    assert body["thinking"]["budget_tokens"] == 16_000


async def test_a_history_with_calls_declares_a_tool_even_when_none_is_offered(server: Server) -> None:
    body = await sent(server, ANTHROPIC, turn(ANTHROPIC), tools=())
    assert [tool["name"] for tool in body["tools"]] == ["_noop"]
    assert body["tool_choice"] == {"type": "none"}
    server.answers.clear()
    body = await sent(server, ANTHROPIC, [UserMessage(content=("a",))], tools=())
    assert "tools" not in body


async def test_empty_texts_and_messages_are_not_sent(server: Server, form: Format) -> None:
    messages: list[ModelMessage] = [
        UserMessage(content=("a", "")),
        AssistantMessage(content=("",)),
        AssistantMessage(content=()),
        UserMessage(content=("",)),
    ]
    body = await sent(server, form, messages, tools=())
    conversation = body.get("messages") or body.get("input") or body.get("contents")
    assert len(conversation) == 1


async def test_messages_of_one_side_are_one_message(server: Server) -> None:
    body = await sent(server, ANTHROPIC, [*turn(ANTHROPIC), UserMessage(content=("and now?",))])
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][2]["content"]] == ["tool_result", "tool_result", "text"]


async def test_headers_of_provider_model_and_request_are_sent(server: Server, form: Format) -> None:
    await sent(
        server,
        form,
        [UserMessage(content=("a",))],
        settings=ReplySettings(headers={"x-request": "3"}),
        options={"headers": {"X-Provider": "1"}},
        record={"headers": {"x-model": "2"}},
    )
    headers = server.seen[-1].headers
    assert (headers["x-provider"], headers["x-model"], headers["x-request"]) == ("1", "2", "3")


class Counted(dict[str, Any]):
    """Arguments that know how often they were encoded."""

    times = 0

    def items(self) -> Any:
        Counted.times += 1
        return super().items()


async def test_a_message_is_encoded_once_for_the_whole_session(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="x")))
    messages: list[ModelMessage] = [
        UserMessage(content=("go",)),
        AssistantMessage(content=(ModelCall(id="c1", name="read", arguments=Counted(filePath="a")),)),
        ToolMessage(call_id="c1", name="read", output="hello"),
    ]
    model = form.model(server)
    Counted.times = 0
    for number in range(5):
        async for _ in model.stream(messages, (READ,), ReplySettings()):
            pass
        messages.append(UserMessage(content=(f"step {number}",)))
    assert Counted.times == 1
    assert json.dumps(server.seen[-1].body).count('"go"') == 1
    await model.close()


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.api)
async def test_a_note_is_sent_after_the_words_of_the_user(server: Server, form: Format) -> None:
    body = json.dumps(await sent(server, form, [UserMessage(content=("Hello.",), note="[Today is Monday.]")], ()))
    assert r"Hello.\n\n[Today is Monday.]" in body
    body = json.dumps(await sent(server, form, [UserMessage(content=(IMAGE,), note="[Today is Monday.]")], ()))
    assert body.index("[Today is Monday.]") > body.index(PIXEL)


async def test_words_with_a_note_are_one_text_to_servers_that_take_no_list(server: Server) -> None:
    body = await sent(server, CHAT, [UserMessage(content=("Hello.",), note="[Today is Monday.]")], ())
    assert body["messages"] == [{"role": "user", "content": "Hello.\n\n[Today is Monday.]"}]


CITY = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
}
CLOSED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}
STRICT_ANSWER = {"name": "answer", "strict": True, "schema": CLOSED}


@pytest.mark.parametrize(
    ("form", "path", "expected"),
    [
        (CHAT, ("response_format",), {"type": "json_schema", "json_schema": STRICT_ANSWER}),
        (RESPONSES, ("text", "format"), {"type": "json_schema", **STRICT_ANSWER}),
        (ANTHROPIC, ("output_config", "format"), {"type": "json_schema", "schema": CLOSED}),
        (GEMINI, ("generationConfig", "responseMimeType"), "application/json"),
    ],
)
async def test_a_provider_that_can_is_asked_to_hold_the_answer_to_its_schema(
    server: Server, form: Format, path: tuple[str, ...], expected: object
) -> None:
    for answers, wanted in ((True, expected), (False, None)):
        settings = ReplySettings(answer_schema=CITY)
        found = await sent(server, form, HELLO, settings=settings, record={"profile": {"answers": answers}})
        for step in path:
            found = (found or {}).get(step)
        assert found == wanted
        assert server.seen[-1].body["tools"]


async def test_an_optional_field_of_an_answer_is_no_reason_to_be_silent_and_a_list_is(server: Server) -> None:
    told = []
    for schema in ({**CITY, "required": ["name"]}, {"type": "array", "items": CITY}):
        settings = ReplySettings(answer_schema=schema)
        body = await sent(server, CHAT, HELLO, settings=settings, record={"profile": {"answers": True}})
        told.append(body.get("response_format", {}).get("json_schema", {}).get("strict"))
    assert told == [False, None]

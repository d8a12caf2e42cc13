"""Chat completions as single providers want them."""

import json
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from tests.models.conftest import CHAT, GEMINI, RESPONSES, Format, events_of
from tests.models.replies import Reply
from tests.models.server import Server
from tests.models.test_requests import READ, turn
from toolwright.models.connect import connect
from toolwright.models.formats.openai_chat import ChatWire
from toolwright.models.known.profiles import profile_of
from toolwright.models.model import AssistantMessage, ModelMessage, ReplySettings, ToolSpec, UserMessage


async def sent_to(server: Server, provider: str, model: str, messages: Sequence[ModelMessage], **options: Any) -> Any:
    server.stream(*CHAT.write(Reply(text="x")))
    config = {"api": "openai-chat", "options": {"baseURL": server.url, **options}}
    await events_of(connect(provider, model, config), messages, (), ReplySettings(max_output=9, cache_key="ses_1"))
    return server.seen[-1].body


async def test_mistral_gets_ids_of_nine_and_a_word_between_result_and_user(server: Server) -> None:
    long_ids = [turn(CHAT, call_id=f"call_0000000000{number}") for number in (1, 2)]
    messages = [*long_ids[0], UserMessage(content=("next",)), *long_ids[1][2:]]
    body = await sent_to(server, "mistral", "mistral-large-latest", messages)
    roles = [message["role"] for message in body["messages"]]
    assert roles == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    ids = {message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"}
    assert all(len(call_id) == 9 and call_id.isalnum() for call_id in ids)
    assert len(ids) == 3


async def test_claude_behind_a_chat_gateway_gets_cache_marks(server: Server) -> None:
    body = await sent_to(server, "openrouter", "anthropic/claude-sonnet-4.5", turn(CHAT))
    marked = [
        message["role"]
        for message in body["messages"]
        if isinstance(message["content"], list) and "cache_control" in message["content"][-1]
    ]
    assert marked == ["system", "tool", "tool"]
    plain = await sent_to(server, "openrouter", "openai/gpt-5.1", turn(CHAT))
    assert "cache_control" not in json.dumps(plain)


async def test_openai_has_its_own_words_for_limit_and_cache(server: Server) -> None:
    body = await sent_to(server, "openai", "gpt-4o", turn(CHAT))
    assert (body["max_completion_tokens"], body["prompt_cache_key"]) == (9, "ses_1")
    body = await sent_to(server, "lmstudio", "m", turn(CHAT))
    assert body["max_tokens"] == 9
    assert "prompt_cache_key" not in body
    body = await sent_to(server, "lmstudio", "m", turn(CHAT), setCacheKey=True)
    assert body["prompt_cache_key"] == "ses_1"


async def test_litellm_gets_a_tool_when_the_history_has_calls(server: Server) -> None:
    body = await sent_to(server, "my-litellm", "m", turn(CHAT))
    assert [tool["function"]["name"] for tool in body["tools"]] == ["_noop"]


async def test_a_model_that_takes_one_call_in_a_message_gets_each_before_its_result(server: Server) -> None:
    body = await sent_to(server, "llamacpp", "Meta-Llama-3.1-8B-Instruct", turn(CHAT))
    said = [message for message in body["messages"] if message["role"] in {"assistant", "tool"}]
    assert [message["role"] for message in said] == ["assistant", "tool", "assistant", "tool"]
    for call, result in ((said[0], said[1]), (said[2], said[3])):
        assert [one["id"] for one in call["tool_calls"]] == [result["tool_call_id"]]
    assert (said[0]["content"], said[2]["content"]) == ("hm", "")
    body = await sent_to(server, "llamacpp", "qwen3", turn(CHAT))
    assert [len(message.get("tool_calls", ())) for message in body["messages"] if message["role"] == "assistant"] == [2]


def test_what_was_taken_apart_is_let_go_with_its_message() -> None:
    info = connect("llamacpp", "llama-3-8b", {"options": {"baseURL": "http://localhost:1/v1"}}).info
    wire = ChatWire(info, profile_of(info))
    messages = [*turn(CHAT), AssistantMessage(content=("done",))]
    first = wire.request(messages, (), ReplySettings()).body
    assert wire.request(messages, (), ReplySettings()).body == first
    kept = [weakref.ref(message) for message in messages if isinstance(message, AssistantMessage)]
    del messages
    assert [reference() for reference in kept] == [None, None]


STRICT = ToolSpec(
    name="write",
    description="Write.",
    schema={
        "type": "object",
        "properties": {"content": {"type": "string"}},
        "required": ["content"],
        "additionalProperties": False,
    },
)


@pytest.mark.parametrize(
    ("form", "provider", "model", "strict"),
    [
        (CHAT, "openai", "gpt-4o", [True, None]),
        (CHAT, "vllm", "gpt-oss-120b", [None, None]),
        (RESPONSES, "openai", "gpt-5.2", [True, False]),
        (RESPONSES, "azure", "gpt-6.1-sol", [True, False]),
        (RESPONSES, "mine", "m", [False, False]),
    ],
)
async def test_a_provider_that_can_is_asked_to_hold_the_model_to_schemas_that_allow_it(
    server: Server, form: Format, provider: str, model: str, strict: list[bool | None]
) -> None:
    server.stream(*form.write(Reply(text="x")))
    config = {"api": form.api, "options": {"baseURL": server.url, "apiKey": "k"}, "models": {model: {}}}
    await events_of(connect(provider, model, config), tools=(STRICT, READ))
    tools = server.seen[-1].body["tools"]
    assert [(tool.get("function") or tool).get("strict") for tool in tools] == strict


@pytest.mark.parametrize(("model", "mode"), [("gemini-3.7-flash", "VALIDATED"), ("gemini-2.0-flash", "AUTO")])
async def test_gemini_is_asked_for_arguments_that_keep_to_the_schemas(server: Server, model: str, mode: str) -> None:
    server.stream(*GEMINI.write(Reply(text="x")))
    config = {"options": {"baseURL": server.url, "apiKey": "k"}, "models": {model: {}}}
    await events_of(connect("google", model, config), tools=(STRICT,))
    assert server.seen[-1].body["toolConfig"] == {"functionCallingConfig": {"mode": mode}}

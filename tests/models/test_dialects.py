"""Chat completions as single providers want them."""

import json
from collections.abc import Sequence
from typing import Any

from tests.models.conftest import CHAT, events_of
from tests.models.replies import Reply
from tests.models.server import Server
from tests.models.test_requests import turn
from toolwright.models.connect import connect
from toolwright.models.model import ModelMessage, ReplySettings, UserMessage


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

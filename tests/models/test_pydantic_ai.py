"""An independent reader of the same bytes: what pydantic-ai makes of a reply, we make of it too."""

import json
from importlib import import_module
from typing import Any

import pytest

from tests.models.conftest import (
    ANTHROPIC,
    FORMATS,
    HELLO,
    Format,
    calls_of,
    events_of,
    finish_of,
    seals_of,
    text_of,
    thoughts_of,
    usage_of,
)
from tests.models.replies import Reply
from tests.models.server import Answer, Server
from tests.models.test_requests import IMAGE, READ, turn
from toolwright.models.connect import connect
from toolwright.models.info import ModelInfo
from toolwright.models.model import Event, Model, ModelError, ModelMessage, ReplySettings, SystemMessage, UserMessage
from toolwright.models.pydantic_ai import PydanticAIModel

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed; it comes with the extra `providers`")

REPLIES = {
    "text": Reply(text="Hello, how are you? Größe 日本 🎉"),
    "reasoning": Reply(reasoning="Let me think.", seal="SEAL", text="Four."),
    "a call": Reply(text="Reading.", calls=[("call_1", "read", '{"filePath": "a.txt", "limit": 5}')]),
    "ten calls": Reply(
        reasoning="Many.",
        seal="SEAL",
        calls=[(f"call_{number}", "read", json.dumps({"filePath": f"{number}.txt"})) for number in range(10)],
        size=1,
    ),
    "much": Reply(calls=[("call_1", "write", json.dumps({"content": "line\n" * 4000}))], size=100),
}

_KINDS = {
    "openai-chat": ("openai", "OpenAIChatModel", "OpenAIProvider"),
    "openai-responses": ("openai", "OpenAIResponsesModel", "OpenAIProvider"),
    "anthropic": ("anthropic", "AnthropicModel", "AnthropicProvider"),
    "gemini": ("google", "GoogleModel", "GoogleProvider"),
}


def theirs(form: Format, server: Server) -> PydanticAIModel:
    module, model, provider = _KINDS[form.api]
    # Their clients of Anthropic and Google add the version to the address themselves.
    url = server.url if module == "openai" else server.url.removesuffix("/v1")
    made: Any = getattr(import_module(f"pydantic_ai.providers.{module}"), provider)(api_key="secret", base_url=url)
    info = form.model(server).info
    return PydanticAIModel(info, getattr(import_module(f"pydantic_ai.models.{module}"), model)("m", provider=made))


def said(events: list[Event], *, ids: bool) -> dict[str, Any]:
    """What a reader made of a reply, in terms that do not depend on how it cuts the pieces."""
    usage = usage_of(events)
    return {
        "text": text_of(events),
        "thoughts": thoughts_of(events),
        "calls": [(call.id if ids else "", call.name, json.loads(call.arguments)) for call in calls_of(events)],
        "usage": (usage.input, usage.output + usage.reasoning, usage.cache_read, usage.cache_write),
        "reason": finish_of(events).reason,
    }


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
async def test_both_readers_agree(server: Server, form: Format, reply: Reply) -> None:
    server.stream(*form.write(reply))
    ours = said(await events_of(form.model(server)), ids=form.has_call_ids)
    assert said(await events_of(theirs(form, server)), ids=form.has_call_ids) == ours
    assert len(server.seen) == 2


@pytest.mark.parametrize("form", [form for form in FORMATS if "openai-chat" not in form.api], ids=lambda form: form.api)
async def test_both_readers_find_the_seal(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(reasoning="hm", seal="SEAL", calls=[("call_1", "read", "{}")])))
    for model in (form.model(server), theirs(form, server)):
        events = await events_of(model)
        assert "SEAL" in json.dumps([*seals_of(events), *(call.signature for call in calls_of(events))])


async def test_a_whole_turn_can_be_sent_through_it(server: Server, form: Format) -> None:
    server.stream(*form.write(Reply(text="x")))
    messages = [*turn(form, model="other/model"), UserMessage(content=("and this?", IMAGE))]
    assert text_of(await events_of(theirs(form, server), messages, (READ,))) == "x"
    body = json.dumps(server.seen[-1].body, ensure_ascii=False)
    assert all(words in body for words in ("You are terse.", "look", "hm", "ä.txt", "no such file", "and this?"))


@pytest.mark.parametrize(("status", "kind"), [(401, "auth"), (400, "bad_request"), (404, "not_found")])
async def test_its_errors_are_ours(server: Server, form: Format, status: int, kind: str) -> None:
    body = json.dumps({"error": {"message": "no"}}).encode()
    server.answer(Answer(status=status, pieces=[body], headers={"content-type": "application/json"}))
    with pytest.raises(ModelError) as caught:
        await events_of(theirs(form, server))
    assert (caught.value.kind, caught.value.status) == (kind, status)


async def test_a_provider_it_does_not_know_is_an_error() -> None:
    model: Model = connect("nowhere", "m", {"api": "pydantic-ai"})
    with pytest.raises(ModelError, match="nowhere cannot be asked"):
        await events_of(model, HELLO)


async def test_claude_gets_marks_for_the_cache(server: Server) -> None:
    """As it does by our own way."""
    anthropic = pytest.importorskip("pydantic_ai.models.anthropic")
    provider = pytest.importorskip("pydantic_ai.providers.anthropic")
    server.stream(*ANTHROPIC.write(Reply(text="x")))
    inner = anthropic.AnthropicModel(
        "claude-opus-5-5", provider=provider.AnthropicProvider(api_key="x", base_url=server.url.removesuffix("/v1"))
    )
    info = ModelInfo(provider="anthropic", id="claude-opus-5-5", api="pydantic-ai", reasoning=True)
    messages: list[ModelMessage] = [SystemMessage(text="Be terse."), *HELLO]
    await events_of(PydanticAIModel(info, inner), messages, (), ReplySettings(temperature=0.5))
    body = server.seen[-1].body
    assert json.dumps(body).count("cache_control") >= 2
    assert "temperature" not in body

"""The providers' own libraries as judges: of every request we send, and of the replies our tests are made of."""

import importlib.util
import json
from typing import Any

import pytest

from tests.models.conftest import ANTHROPIC, CHAT, GEMINI, RESPONSES, Format, events_of
from tests.models.replies import Reply
from tests.models.server import Server
from tests.models.test_requests import IMAGE, READ, turn
from tests.models.typed_dicts import complaints
from toolwright.definition import Attachment
from toolwright.models.connect import connect
from toolwright.models.known.families import family_settings, variants
from toolwright.models.model import Model, ReplySettings, ToolMessage, UserMessage

pytestmark = pytest.mark.slow
PDF = Attachment(mime="application/pdf", url="data:application/pdf;base64,JVBERi0=", filename="a.pdf")
WHOLE = Reply(reasoning="think", seal="U0VBTA==", text="Hello, wörld", calls=[("call_1", "read", '{"a": "ü"}')])


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if not _is_installed(name)]
    return pytest.mark.skipif(bool(missing), reason=f"needs the library of the provider: {', '.join(missing)}")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def conversation(form: Format) -> list[Any]:
    """Everything that can be in one: text, a picture, a PDF, calls, a failed one, a picture in a result, thinking."""
    first = turn(form, model="acme/m", call_id="call_1")
    return [
        *first[:-1],
        ToolMessage(call_id="c2", name="read", output="", failed=True, attachments=(IMAGE,)),
        UserMessage(content=("And this?", PDF)),
    ]


async def body_of(server: Server, form: Format, model: Model, settings: ReplySettings) -> Any:
    server.answers.clear()
    server.stream(*form.write(Reply(text="x")))
    await events_of(model, conversation(form), (READ,), settings)
    return server.seen[-1].body


def every_way(model: Model) -> list[ReplySettings]:
    """The usual settings and each degree of reasoning."""
    usual = family_settings(model.info)
    return [usual, ReplySettings(temperature=0.5, top_p=0.9, max_output=100, cache_key="ses_1")] + [
        ReplySettings(options={**usual.options, **options}) for options in variants(model.info).values()
    ]


def named(server: Server, provider: str, model: str, api: str) -> Model:
    options = {"baseURL": server.url, "apiKey": "secret"}
    return connect(provider, model, {"api": api, "options": options})


@needs("openai")
def test_the_judge_is_strict() -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    good = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    assert complaints(good, CompletionCreateParamsStreaming) == []
    assert complaints({**good, "extra": 1}, CompletionCreateParamsStreaming) == ["body.extra is unknown"]
    assert complaints({**good, "temperature": "x"}, CompletionCreateParamsStreaming)
    assert complaints({**good, "messages": [{"role": "user"}]}, CompletionCreateParamsStreaming)
    assert complaints({"model": "m", "stream": True}, CompletionCreateParamsStreaming) == ["body.messages is missing"]


@needs("openai")
@pytest.mark.parametrize("model", ["gpt-6.1-sol", "gpt-5.4-mini", "gpt-4o"])
async def test_chat_requests_are_what_openai_says(server: Server, model: str) -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    made = named(server, "openai", model, "openai-chat")
    for settings in every_way(made):
        assert complaints(await body_of(server, CHAT, made, settings), CompletionCreateParamsStreaming) == []


@needs("openai")
@pytest.mark.parametrize("model", ["gpt-6.1-sol", "gpt-6-astra", "gpt-5.4-mini", "gpt-5-pro", "o3", "gpt-4o"])
async def test_responses_requests_are_what_openai_says(server: Server, model: str) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    made = named(server, "openai", model, "openai-responses")
    for settings in every_way(made):
        assert complaints(await body_of(server, RESPONSES, made, settings), ResponseCreateParamsStreaming) == []


@needs("anthropic")
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-4-6", "claude-opus-4-5"])
async def test_messages_requests_are_what_anthropic_says(server: Server, model: str) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    made = named(server, "anthropic", model, "anthropic")
    sampling = model in {"claude-sonnet-4-6", "claude-opus-4-5"}
    for settings in every_way(made):
        found = complaints(await body_of(server, ANTHROPIC, made, settings), MessageCreateParamsStreaming)
        # Gone from the library, still taken by the models that ever took them.
        old = {"body.temperature is unknown", "body.top_p is unknown", "body.top_k is unknown"} if sampling else set()
        assert set(found) <= old


@needs("google.genai")
@pytest.mark.parametrize("model", ["gemini-4-argon", "gemini-3.8-flash", "gemini-2.5-flash"])
async def test_gemini_requests_are_what_google_says(server: Server, model: str) -> None:
    from google.genai import types

    made = named(server, "google", model, "gemini")
    for settings in every_way(made):
        body = await body_of(server, GEMINI, made, settings)
        assert set(body) <= {"contents", "tools", "toolConfig", "generationConfig", "systemInstruction"}
        for content in (*body["contents"], body["systemInstruction"]):
            types.Content.model_validate(content)
        types.GenerationConfig.model_validate(body["generationConfig"])
        types.ToolConfig.model_validate(body["toolConfig"])
        for tool in body["tools"]:
            types.Tool.model_validate(tool)


@needs("mistralai")
async def test_mistral_requests_are_what_mistral_says(server: Server) -> None:
    from mistralai.client.models import ChatCompletionStreamRequest

    made = named(server, "mistral", "mistral-large-latest", "openai-chat")
    known = {field.alias or name for name, field in ChatCompletionStreamRequest.model_fields.items()}
    for settings in every_way(made):
        body = await body_of(server, CHAT, made, settings)
        assert set(body) <= known
        ChatCompletionStreamRequest.model_validate(body)


# Our replies, read by them.


@needs("openai")
async def test_openai_reads_our_chat_replies(server: Server) -> None:
    import openai

    server.stream(*CHAT.write(WHOLE))
    async with (
        openai.AsyncOpenAI(base_url=server.url, api_key="x") as client,
        client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "hi"}]) as stream,
    ):
        reply = await stream.get_final_completion()
    message = reply.choices[0].message
    assert message.content == WHOLE.text
    assert [(call.id, call.function.arguments) for call in message.tool_calls or ()] == [("call_1", '{"a": "ü"}')]
    assert reply.usage is not None


@needs("mistralai")
async def test_mistral_reads_our_chat_replies(server: Server) -> None:
    """Those without calls: Mistral's come whole, with a name in every piece."""
    from mistralai.client import Mistral

    server.stream(*CHAT.write(Reply(text=WHOLE.text)))
    texts = list[str]()
    async with Mistral(api_key="x", server_url=server.url.removesuffix("/v1")) as client:
        messages: Any = [{"role": "user", "content": "hi"}]
        stream: Any = await client.chat.stream_async(model="m", messages=messages)
        async for event in stream:
            texts += [choice.delta.content or "" for choice in event.data.choices]
    assert "".join(texts) == WHOLE.text


@needs("openai")
async def test_openai_reads_our_responses(server: Server) -> None:
    import openai

    server.stream(*RESPONSES.write(WHOLE))
    async with (
        openai.AsyncOpenAI(base_url=server.url, api_key="x") as client,
        client.responses.stream(model="m", input="hi") as stream,
    ):
        kinds = [event.type async for event in stream]
    assert "response.output_text.delta" in kinds
    assert kinds[-1] == "response.completed"


@needs("anthropic")
async def test_anthropic_reads_our_messages(server: Server) -> None:
    import anthropic

    server.stream(*ANTHROPIC.write(WHOLE))
    messages: Any = [{"role": "user", "content": "hi"}]
    async with (
        anthropic.AsyncAnthropic(base_url=server.url.removesuffix("/v1"), api_key="x") as client,
        client.messages.stream(model="m", max_tokens=9, messages=messages) as stream,
    ):
        reply = await stream.get_final_message()
    assert [block.type for block in reply.content] == ["thinking", "text", "tool_use"]
    assert json.loads(json.dumps(reply.model_dump()["content"][2]["input"])) == {"a": "ü"}


@needs("google.genai")
async def test_google_reads_our_chunks(server: Server) -> None:
    from google import genai

    server.stream(*GEMINI.write(WHOLE))
    client = genai.Client(api_key="x", http_options={"base_url": server.url.removesuffix("/v1")})
    texts, calls = [], []
    stream: Any = await client.aio.models.generate_content_stream(model="m", contents="hi")
    async for chunk in stream:
        for part in chunk.candidates[0].content.parts or ():
            texts.append(part.text or "" if not part.thought else "")
            calls += [part.function_call] if part.function_call else []
    await client.aio.aclose()
    assert "".join(texts) == WHOLE.text
    assert [(call.name, call.args) for call in calls] == [("read", {"a": "ü"})]

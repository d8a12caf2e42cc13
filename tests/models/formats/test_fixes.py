"""A request that is refused is fixed as the error tells, once, and the fix is kept."""

import json
import logging
from typing import Any

import pytest

from tests.models.conftest import ANTHROPIC, CHAT, GEMINI, RESPONSES, Format, events_of, text_of
from tests.models.replies import Reply
from tests.models.server import Answer, Server
from tests.models.test_dialects import STRICT
from tests.models.test_errors import refused
from tests.models.test_requests import READ, SEALS, turn
from toolwright.definition import Attachment
from toolwright.models.model import Model, ModelError, ReplySettings, UserMessage

FULL = ReplySettings(
    temperature=0.5,
    top_p=0.9,
    max_output=64_000,
    cache_key="ses_1",
    options={"reasoningEffort": "high", "verbosity": "low"},
)


def complaint(words: str, **more: Any) -> Answer:
    return refused(400, {"error": {"message": words, "type": "invalid_request_error", **more}})


async def asked_twice(
    server: Server, form: Format, answer: Answer, settings: ReplySettings = FULL, **config: Any
) -> Model:
    """A model that was refused once and then answered, two prompts long."""
    server.answer(answer, Answer(pieces=list(form.write(Reply(text="x")))))
    model = form.model(server, **config)
    for _ in range(2):
        assert text_of(await events_of(model, turn(form, model="acme/m"), (READ,), settings)) == "x"
    assert len(server.seen) == 3
    return model


@pytest.mark.parametrize(
    ("words", "more", "field"),
    [
        (
            "Unsupported parameter: 'temperature' is not supported with this model.",
            {"param": "temperature"},
            "temperature",
        ),
        ("invalid temperature: only 1 is allowed for this model", {}, "temperature"),
        ("`top_p` is deprecated for this model.", {}, "top_p"),
        ("Extra inputs are not permitted: stream_options", {}, "stream_options"),
        ("Unrecognized request argument supplied: reasoning_effort", {}, "reasoning_effort"),
        ("Unknown parameter: 'verbosity'.", {"param": "verbosity"}, "verbosity"),
    ],
)
async def test_a_field_that_is_refused_is_left_out(server: Server, words: str, more: Any, field: str) -> None:
    await asked_twice(server, CHAT, complaint(words, **more))
    assert [field in seen.body for seen in server.seen] == [True, False, False]
    assert "messages" in server.seen[-1].body


async def test_a_field_inside_another_is_left_out_too(server: Server) -> None:
    words = "Unsupported value: 'reasoning.summary' is not supported"
    settings = ReplySettings(options={"reasoningSummary": "auto", "reasoningEffort": "low"})
    await asked_twice(server, RESPONSES, complaint(words, param="reasoning.summary"), settings)
    assert server.seen[0].body["reasoning"] == {"summary": "auto", "effort": "low"}
    assert server.seen[-1].body["reasoning"] == {"effort": "low"}


async def test_gemini_is_asked_without_the_level_it_does_not_know(server: Server) -> None:
    answer = refused(400, {"error": {"code": 400, "message": "thinkingLevel MINIMAL is not supported for this model."}})
    settings = ReplySettings(temperature=1.0, options={"thinkingConfig": {"thinkingLevel": "minimal"}})
    await asked_twice(server, GEMINI, answer, settings)
    assert [("thinkingConfig" in seen.body["generationConfig"]) for seen in server.seen] == [True, False, False]


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("max_tokens is too large: 64000. This model supports at most 16384 completion tokens", 16_384),
        ("'max_tokens' is too large: 64000. (64000 > 32768 - 5000)", 27_768),
        ("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens", 8_192),
        ("max_tokens must be smaller", 16_000),
    ],
)
async def test_a_reply_is_asked_to_be_shorter(server: Server, words: str, most: int) -> None:
    await asked_twice(server, CHAT, complaint(words))
    assert [seen.body["max_tokens"] for seen in server.seen] == [64_000, most, most]


async def test_a_reply_is_asked_to_be_as_long_as_the_account_can_pay(server: Server) -> None:
    words = "You requested up to 64000 tokens, but can only afford 9000."
    await asked_twice(server, CHAT, refused(402, {"error": {"message": words, "code": 402}}))
    assert server.seen[-1].body["max_tokens"] == 9_000


async def test_a_model_without_tools_is_asked_without(server: Server) -> None:
    await asked_twice(server, CHAT, complaint("registry.ollama.ai/library/gemma3 does not support tools"))
    assert [("tools" in seen.body) for seen in server.seen] == [True, False, False]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (ANTHROPIC, "messages.1.content.0: The block is bound to a different conversation."),
        (RESPONSES, "invalid_encrypted_content: The encrypted content could not be verified."),
        (GEMINI, "Thought signature is not valid."),
    ],
)
async def test_old_reasoning_is_left_out_and_new_reasoning_kept(server: Server, form: Format, words: str) -> None:
    server.answer(complaint(words), Answer(pieces=list(form.write(Reply(text="x")))))
    model, old = form.model(server), turn(form, model="acme/m")
    await events_of(model, old, (READ,))
    await events_of(model, old, (READ,))
    assert [("SEAL" in json.dumps(seen.body)) for seen in server.seen] == [True, False, False]
    await events_of(model, [*old, *turn(form, model="acme/m")], (READ,))
    assert json.dumps(server.seen[-1].body).count("SEAL") == 1
    assert SEALS[form.api] is not None


PICTURE = Attachment(mime="image/png", url="data:image/png;base64,AAAA", filename="shot.png")
NO_PICTURES = [
    (400, "Invalid content type. image_url is only supported by certain models."),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (400, "acme/m is not a multimodal model"),
    (404, "No endpoints found that support image input"),
    (400, "unknown variant `image_url`, expected `text`"),
    (400, "This model does not support image input."),
]


@pytest.mark.parametrize(("status", "words"), NO_PICTURES)
async def test_a_server_that_takes_no_pictures_is_told_their_names_and_the_user_is_told_so(
    server: Server, status: int, words: str
) -> None:
    server.answer(refused(status, {"error": {"message": words}}), Answer(pieces=list(CHAT.write(Reply(text="x")))))
    model = CHAT.model(server, record={"modalities": {"input": ["text", "image"]}})
    prompt = [UserMessage(content=("What is this?", PICTURE))]
    with pytest.raises(ModelError, match="takes no such files") as caught:
        await events_of(model, prompt)
    assert (caught.value.retryable, caught.value.retry_after) == (True, 0.0)
    assert text_of(await events_of(model, prompt)) == "x"
    assert ["data:image" in json.dumps(seen.body) for seen in server.seen] == [True, False]
    assert "shot.png (image/png) is not shown" in json.dumps(server.seen[-1].body)


async def test_the_same_words_without_a_picture_change_nothing(server: Server) -> None:
    server.answer(complaint("This model does not support image input."))
    with pytest.raises(ModelError) as caught:
        await events_of(CHAT.model(server), [UserMessage(content=("Hello",))])
    assert not caught.value.retryable


async def test_a_server_that_cannot_stream_is_asked_for_whole_replies(server: Server) -> None:
    whole = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
    answer = Answer(pieces=[json.dumps(whole).encode()], headers={"content-type": "application/json"})
    server.answer(complaint("Streaming is not supported for this chat format"), answer)
    model = CHAT.model(server)
    assert text_of(await events_of(model)) == "x"
    assert [seen.body.get("stream") for seen in server.seen] == [True, None]
    assert "stream_options" not in server.seen[-1].body


async def test_a_stream_that_breaks_off_twice_before_it_begins_is_asked_for_whole(server: Server) -> None:
    whole = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
    answer = Answer(pieces=[json.dumps(whole).encode()], headers={"content-type": "application/json"})
    server.answer(Answer(), Answer(), answer)
    model = CHAT.model(server)
    with pytest.raises(ModelError, match="broke off"):
        await events_of(model)
    assert text_of(await events_of(model)) == "x"


async def test_the_fix_is_said_in_the_log(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "toolwright"):
        await asked_twice(server, CHAT, complaint("Unknown parameter: 'verbosity'.", param="verbosity"))
    (record,) = caplog.records
    assert record.getMessage() == (
        "acme/m refused the request (invalid_request_error Unknown parameter: 'verbosity'.). "
        "It is asked again without verbosity, from now on."
    )


@pytest.mark.parametrize(
    "answer",
    [
        complaint("The file is not a picture"),
        complaint("messages must not be empty"),
        refused(401, {"error": {"message": "invalid temperature"}}),
        refused(429, {"error": {"message": "temperature: too many requests"}}),
        refused(500, {"error": {"message": "temperature is unsupported"}}),
    ],
    ids=str,
)
async def test_what_cannot_be_fixed_is_raised_at_once(server: Server, answer: Answer) -> None:
    server.answer(answer)
    with pytest.raises(ModelError):
        await events_of(CHAT.model(server), turn(CHAT), (READ,), FULL)
    assert len(server.seen) == 1


async def test_a_provider_that_refuses_everything_is_not_asked_for_ever(server: Server) -> None:
    names = "temperature top_p stream_options reasoning_effort verbosity tool_choice are not supported"
    server.answer(complaint(names))
    with pytest.raises(ModelError):
        await events_of(CHAT.model(server), turn(CHAT), (READ,), FULL)
    assert len(server.seen) == 6


@pytest.mark.parametrize("form", [CHAT, RESPONSES])
async def test_a_schema_that_is_not_strict_enough_is_sent_as_a_plain_one(server: Server, form: Format) -> None:
    words = "Invalid schema for function 'write': In context=(), 'additionalProperties' is required to be false."
    answer = complaint(words, code="invalid_function_parameters", param="tools[0].parameters")
    server.answer(answer, Answer(pieces=list(form.write(Reply(text="x")))))
    model = form.model(server, record={"profile": {"strict": True}})
    for _ in range(2):
        assert text_of(await events_of(model, tools=(STRICT,))) == "x"
    assert [b'"strict":true' in seen.raw for seen in server.seen] == [True, False, False]
    assert all(b'"name":"write"' in seen.raw for seen in server.seen)


async def test_gemini_is_asked_without_the_mode_it_does_not_know(server: Server) -> None:
    words = "Invalid value at 'tool_config.function_calling_config.mode': VALIDATED is not supported by this model."
    server.answer(complaint(words), Answer(pieces=list(GEMINI.write(Reply(text="x")))))
    model = GEMINI.model(server, record={"profile": {"strict": True}})
    assert text_of(await events_of(model, tools=(STRICT,))) == "x"
    assert ["toolConfig" in seen.body for seen in server.seen] == [True, False]


ANSWER = ReplySettings(
    answer_schema={"type": "object", "properties": {"temperature": {"type": "number"}}, "required": ["temperature"]}
)


@pytest.mark.parametrize(
    ("form", "words", "place"),
    [
        (CHAT, "Invalid parameter: 'response_format' of type 'json_schema' is not supported.", "response_format"),
        (RESPONSES, "Unsupported value: text.format is not supported with this model.", "text"),
        (ANTHROPIC, "output_config.format: structured outputs are not supported by this model.", "output_config"),
        (GEMINI, "Function calling with a response mime type: 'application/json' is unsupported", "generationConfig"),
    ],
)
async def test_an_answer_whose_schema_is_refused_is_asked_for_in_words(
    server: Server, form: Format, words: str, place: str
) -> None:
    server.answer(complaint(words), Answer(pieces=list(form.write(Reply(text="x")))))
    model = form.model(server, record={"profile": {"answers": True}})
    for _ in range(2):
        assert text_of(await events_of(model, settings=ANSWER)) == "x"
    assert [b'"temperature"' in seen.raw for seen in server.seen] == [True, False, False]
    assert place in server.seen[0].body

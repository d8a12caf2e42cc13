"""Everything that can go wrong between us and a provider, over real HTTP."""

import asyncio
import json
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from tests.models.conftest import ANTHROPIC, CHAT, GEMINI, HELLO, RESPONSES, Format, events_of, text_of
from tests.models.replies import Reply, sse
from tests.models.server import Answer, Server
from tests.waiting import patience
from toolwright.models.connect import connect
from toolwright.models.model import Model, ModelError, ReplySettings, Trouble
from toolwright.models.transport.failures import retry_after


async def error_of(model: Model) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(model)
    return caught.value


def refused(status: int, body: Any = "", **headers: str) -> Answer:
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/plain" if isinstance(body, str) else "application/json"
    return Answer(
        status=status,
        pieces=[text.encode()],
        headers={"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}},
    )


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, {"error": {"message": "temperature must be at most 2"}}, "bad_request", False),
        (401, {"error": {"message": "invalid x-api-key", "type": "authentication_error"}}, "auth", False),
        (403, "forbidden", "auth", False),
        (400, {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}, "auth", False),
        (402, {"error": {"message": "Insufficient Balance"}}, "quota", False),
        (404, {"error": {"message": "model m does not exist"}}, "not_found", False),
        (408, "", "overload", True),
        (413, {"error": {"type": "request_too_large", "message": "Request exceeds"}}, "context_overflow", False),
        (429, {"error": {"message": "Rate limit reached"}}, "quota", True),
        (429, {"error": {"message": "You exceeded", "code": "insufficient_quota"}}, "quota", False),
        (400, {"error": {"message": "Your credit balance is too low"}}, "quota", False),
        (500, {"error": {"message": "oops"}}, "overload", True),
        (502, "<html><body>Bad gateway</body></html>", "overload", True),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overload", True),
        (400, {"error": {"message": "prompt is too long: 208310 tokens > 200000"}}, "context_overflow", False),
        (400, {"error": {"code": "context_length_exceeded", "message": "too much"}}, "context_overflow", False),
        (400, {"error": {"message": "The input token count (1200000) exceeds the maximum"}}, "context_overflow", False),
        (500, {"error": {"message": "the request exceeds the available context size"}}, "context_overflow", False),
        (400, {"error": {"code": "content_filter", "message": "policy"}}, "content_filter", False),
        (422, [{"error": {"message": "in a list"}}], "bad_request", False),
        (400, {"detail": "a word of FastAPI"}, "bad_request", False),
        (400, "[" * 50_000, "bad_request", False),
    ],
)
async def test_a_refusal_says_what_kind_it_is(
    server: Server, status: int, body: Any, kind: Trouble, retryable: bool
) -> None:
    server.answer(refused(status, body))
    error = await error_of(CHAT.model(server))
    assert (error.kind, error.status, error.retryable) == (kind, status, retryable)


async def test_a_refusal_repeats_the_providers_words_and_says_what_to_do(server: Server, form: Format) -> None:
    server.answer(refused(401, {"error": {"message": "invalid x-api-key."}}))
    error = await error_of(form.model(server))
    assert str(error) == (
        "Acme answered with an error (401): invalid x-api-key. Check the key: `tw auth` shows which one is used."
    )


async def test_a_refusal_never_contains_the_key(server: Server, form: Format) -> None:
    server.answer(refused(401, {"error": {"message": "wrong key: secret", "detail": "Bearer secret is no key"}}))
    error = await error_of(form.model(server))
    assert "wrong key: ********" in str(error)
    assert "secret" not in str(error) + error.said


async def test_a_long_refusal_is_cut(server: Server) -> None:
    server.answer(refused(400, "x" * 200_000))
    assert len(str(await error_of(CHAT.model(server)))) < 1000


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after-ms": "500"}, 0.5),
        ({"retry-after-ms": "500", "retry-after": "9"}, 0.5),
    ],
)
async def test_429_says_how_long_to_wait(server: Server, headers: dict[str, str], seconds: float) -> None:
    server.answer(refused(429, "slow down", **headers))
    assert (await error_of(CHAT.model(server))).retry_after == seconds


def test_retry_after_may_be_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.models.transport.failures.time.time", lambda: 1e9)
    assert retry_after({"retry-after": formatdate(1e9 + 60, usegmt=True)}) == 60
    assert retry_after({"retry-after": formatdate(1e9 - 60, usegmt=True)}) == 0
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


async def test_a_stream_without_its_end_is_cut(server: Server, form: Format) -> None:
    """At whatever event it stops."""
    events = list(form.write(Reply(reasoning="hm", text="Hello", calls=[("c1", "read", '{"a": 1}')])))
    endings = {"openai-chat": 3, "openai-responses": 1, "anthropic": 1, "gemini": 1}
    for length in range(1, len(events) - endings[form.api] + 1):
        server.answers.clear()
        server.stream(*events[:length])
        error = await error_of(form.model(server))
        assert (error.kind, error.retryable) == ("cut", True)


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_connection_that_breaks_is_cut(server: Server, form: Format, end: str) -> None:
    events = list(form.write(Reply(text="Hello, how are you?")))
    server.stream(*events[:-4], end=end)
    error = await error_of(form.model(server))
    assert error.kind == "cut"
    assert error.retryable


async def test_half_an_event_at_the_end_is_cut_not_malformed(server: Server, form: Format) -> None:
    first, second, *_ = form.write(Reply(text="Hello, how are you?"))
    server.stream(first, second[: len(second) // 2])
    assert (await error_of(form.model(server))).kind == "cut"


async def test_what_came_before_the_cut_has_been_seen(server: Server, form: Format) -> None:
    events = list(form.write(Reply(text="Hello, how are you?", size=1)))
    server.stream(*events[:-4], end="close")
    model = form.model(server)
    stream = model.stream(HELLO, (), ReplySettings())
    seen = [await anext(stream) for _ in range(5)]
    assert text_of(seen) == "Hello"
    with pytest.raises(ModelError, match="broke"):
        [event async for event in stream]
    await model.close()


async def test_silence_has_a_limit(server: Server, form: Format) -> None:
    first, *_ = form.write(Reply(text="Hello"))
    server.stream(first, 3600.0)
    error = await error_of(form.model(server, options={"chunkTimeout": 200}))
    assert (error.kind, error.retryable) == ("network", True)
    assert str(error) == "Acme has been silent for 0.2 seconds."


async def test_silence_before_the_first_byte_has_the_same_limit(server: Server) -> None:
    server.answer(Answer(wait=3600.0))
    error = await error_of(CHAT.model(server, options={"chunkTimeout": 200}))
    assert (error.kind, error.retryable) == ("network", True)


async def test_a_whole_answer_may_have_a_limit(server: Server) -> None:
    events = CHAT.write(Reply(text="Hello, how are you?"))
    server.stream(*(piece for event in events for piece in (event, 0.05)))
    error = await error_of(CHAT.model(server, options={"timeout": 100}))
    assert (error.kind, str(error)) == (
        "network",
        "The answer of Acme took longer than 0.1 seconds, the provider's `timeout`.",
    )


async def test_silence_after_the_last_event_is_not_waited_for(server: Server) -> None:
    server.stream(*ANTHROPIC.write(Reply(text="Hello")), 3600.0)
    async with patience():
        assert text_of(await events_of(ANTHROPIC.model(server))) == "Hello"


async def test_a_break_after_the_finish_reason_is_no_loss(server: Server) -> None:
    *events, _usage, _done = CHAT.write(Reply(text="Hello"))
    server.stream(*events, end="reset")
    assert text_of(await events_of(CHAT.model(server))) == "Hello"


@pytest.mark.parametrize("data", ["{not json", "[1, 2]", '"text"', '{"choices": [{"delta": 5}]}', "null"])
async def test_malformed_data_is_an_error_that_names_the_provider(server: Server, data: str) -> None:
    first, *rest = CHAT.write(Reply(text="Hello"))
    server.stream(first, sse(data), *rest)
    error = await error_of(CHAT.model(server))
    assert (error.kind, error.retryable) == ("network", True)
    assert str(error).startswith("Acme sent something that is not an answer")


@pytest.mark.parametrize(
    ("form", "event"),
    [
        (CHAT, {"error": {"message": "Overloaded", "type": "overloaded_error"}}),
        (CHAT, {"error": {"message": "busy", "code": 503}}),
        (RESPONSES, {"type": "error", "code": "server_error", "message": "busy", "param": None}),
        (RESPONSES, {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "busy"}}}),
        (ANTHROPIC, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        (GEMINI, {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
    ],
)
async def test_an_error_inside_the_stream_is_an_error(server: Server, form: Format, event: Any) -> None:
    first, *rest = form.write(Reply(text="Hello"))
    server.stream(first, sse(event), *rest)
    error = await error_of(form.model(server))
    assert (error.kind, error.retryable) == ("overload", True)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "rate_limit_error", "message": "slow"}, "quota"),
        ({"type": "authentication_error", "message": "who"}, "auth"),
        ({"type": "invalid_request_error", "message": "what"}, "bad_request"),
        ({"type": "invalid_request_error", "message": "prompt is too long"}, "context_overflow"),
        ("just words", "overload"),
    ],
)
async def test_an_error_inside_the_stream_has_its_kind(server: Server, error: Any, kind: Trouble) -> None:
    server.stream(sse({"type": "error", "error": error}))
    assert (await error_of(ANTHROPIC.model(server))).kind == kind


async def test_a_blocked_prompt_is_a_content_filter(server: Server) -> None:
    server.stream(sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}))
    error = await error_of(GEMINI.model(server))
    assert (error.kind, error.retryable) == ("content_filter", False)


async def test_an_error_that_calls_itself_a_success_is_still_one(server: Server) -> None:
    body = {"error": {"message": "no such model", "type": "not_found_error"}}
    server.answer(refused(200, body))
    assert (await error_of(CHAT.model(server))).kind == "bad_request"


async def test_a_web_page_in_place_of_a_stream_points_at_the_address(server: Server) -> None:
    server.answer(Answer(pieces=[b"<html>hello</html>"], headers={"content-type": "text/html; charset=utf-8"}))
    error = await error_of(CHAT.model(server))
    assert error.kind == "bad_request"
    assert "text/html (200) in place of a stream of events. Check the provider's `baseURL`" in str(error)


async def test_a_redirect_is_told_and_not_followed(server: Server) -> None:
    server.answer(refused(308, "", location="https://me:secret@other.example/v2/chat?x=1"))
    error = await error_of(CHAT.model(server))
    assert "sends requests on (308) to https://other.example/v2/chat. If that is where it is now, set" in str(error)
    assert (error.kind, error.retryable, len(server.seen)) == ("bad_request", False, 1)


@pytest.mark.parametrize("status", [300, 304])
async def test_an_answer_that_leads_on_to_nowhere_points_at_the_address(server: Server, status: int) -> None:
    server.answer(refused(status, "no"))
    error = await error_of(CHAT.model(server))
    assert f"text/plain ({status}) in place of a stream of events" in str(error)


@pytest.mark.parametrize(("status", "told"), [(399, "(399) to http"), (400, "answered with an error (400)")])
async def test_only_an_answer_that_leads_on_has_a_place_that_is_told(server: Server, status: int, told: str) -> None:
    server.answer(refused(status, "no", location="https://other.example/"))
    assert told in str(await error_of(CHAT.model(server)))


async def test_an_answer_in_a_form_nobody_asked_for_is_not_tried_again(server: Server) -> None:
    server.answer(refused(200, "", content_encoding="br"))
    error = await error_of(CHAT.model(server))
    assert "cannot be read: it has the content encoding 'br', which was not asked for." in str(error)
    assert not error.retryable


async def test_a_file_of_certificates_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/none/such.pem")
    error = await error_of(connect("acme", "m", {"options": {"baseURL": "https://127.0.0.1:9/v1"}}))
    assert "SSL_CERT_FILE names /none/such.pem, from which no certificates can be read." in str(error)
    assert not error.retryable


async def test_nothing_at_a_local_address_is_said_at_once(unused_tcp_port_factory: Callable[[], int]) -> None:
    url = f"http://127.0.0.1:{unused_tcp_port_factory()}/v1"
    error = await error_of(connect("ollama", "m", {"options": {"baseURL": url}}))
    assert (error.kind, error.retryable) == ("network", False)
    assert "Start the server" in str(error)


async def test_a_host_that_does_not_exist_may_come_back() -> None:
    error = await error_of(connect("acme", "m", {"options": {"baseURL": "http://does-not-exist.invalid/v1"}}))
    assert (error.kind, error.retryable) == ("network", True)


@pytest.mark.parametrize("url", ["localhost:11434", "http://[::1", "ftp://host/v1"])
async def test_an_address_that_is_none_is_named(url: str) -> None:
    error = await error_of(connect("acme", "m", {"options": {"baseURL": url}}))
    assert not error.retryable
    assert url in str(error)


async def test_leaving_early_lets_the_connection_go(server: Server) -> None:
    server.stream(*CHAT.write(Reply(text="Hello, how are you?")), 5.0)
    model = CHAT.model(server)
    stream = model.stream(HELLO, (), ReplySettings())
    await anext(stream)
    await stream.aclose()
    await model.close()
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_cancelling_is_not_an_error_of_the_model(server: Server, form: Format) -> None:
    first, *rest = form.write(Reply(text="Hello"))
    server.answer(Answer(pieces=[first, 30.0]), Answer(pieces=[first, *rest]))
    model = form.model(server)
    task = asyncio.create_task(events_of(model))
    await server.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert text_of(await events_of(model)) == "Hello"

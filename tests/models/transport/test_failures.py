"""What a provider's refusal means, in all the shapes that it comes in."""

from typing import Any

import pytest

from toolwright.models.transport.failures import SHOWN, refusal, stream_refusal


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "retryable", "wait"),
    [
        (401, {}, '{"error":{"message":"No"}}', "auth", False, None),
        (403, {}, '{"error":{"message":"No"}}', "auth", False, None),
        (403, {}, '{"error":{"message":"Flagged by moderation"}}', "content_filter", False, None),
        (400, {}, '{"error":{"message":"API key not valid"}}', "auth", False, None),
        (402, {}, '{"error":{"message":"Pay"}}', "quota", False, None),
        (429, {}, '{"error":{"message":"Slow down"}}', "quota", True, None),
        (429, {"retry-after": "7"}, '{"error":{"message":"Slow down"}}', "quota", True, 7.0),
        (429, {"retry-after-ms": "1500"}, '{"error":{"message":"Slow down"}}', "quota", True, 1.5),
        (429, {"retry-after": "-3"}, '{"error":{"message":"Slow down"}}', "quota", True, 0.0),
        (429, {"retry-after": "inf"}, '{"error":{"message":"Slow down"}}', "quota", True, None),
        (429, {"retry-after": "soon"}, '{"error":{"message":"Slow down"}}', "quota", True, None),
        (429, {"retry-after": "0"}, '{"error":{"message":"Try again in 9s"}}', "quota", True, 0.0),
        (429, {}, '{"error":{"message":"Please try again in 1m2.5s"}}', "quota", True, 62.5),
        (429, {}, '{"error":{"message":"Please try again in 250ms"}}', "quota", True, 0.25),
        (429, {}, '{"error":{"message":"Try again in 2h"}}', "quota", True, 7200.0),
        (429, {}, '{"error":{"message":"Try again in 3 minutes"}}', "quota", True, 180.0),
        (429, {}, '{"error":{"message":"Try again in peace"}}', "quota", True, None),
        (429, {}, '{"error":{"message":"Quota","details":[{"retryDelay":"26s"}]}}', "quota", True, 26.0),
        (
            429,
            {},
            '{"error":{"message":"Quota","details":[{"retryDelay":"x"},5,{"reason":"RATE"}]}}',
            "quota",
            True,
            None,
        ),
        (429, {}, '{"error":{"message":"Quota","details":{"retryDelay":"26s"}}}', "quota", True, None),
        (429, {}, '{"error":{"message":"Requests per day"}}', "quota", False, None),
        (429, {"retry-after": "9"}, '{"error":{"message":"Requests per day"}}', "quota", True, 9.0),
        (429, {}, '{"error":{"message":"Gone","code":"insufficient_quota"}}', "quota", False, None),
        (429, {"retry-after": "9"}, '{"error":{"message":"Gone","code":"insufficient_quota"}}', "quota", False, 9.0),
        (429, {}, '{"error":{"message":"Your credit balance is too low"}}', "quota", False, None),
        (429, {"retry-after": "9"}, '{"error":{"message":"Your credit balance is too low"}}', "quota", True, 9.0),
        (400, {}, '{"error":{"message":"Your credit balance is too low"}}', "quota", False, None),
        (400, {}, '{"error":{"message":"max_tokens is too large"}}', "bad_request", False, None),
        (400, {}, '{"error":{"message":"prompt is too long: 9 tokens"}}', "context_overflow", False, None),
        (400, {}, '{"error":{"message":"Bad","code":"context_length_exceeded"}}', "context_overflow", False, None),
        (413, {}, '{"error":{"message":"Big"}}', "context_overflow", False, None),
        (500, {}, '{"error":{"message":"prompt is too long"}}', "context_overflow", False, None),
        (500, {}, '{"error":{"message":"Oops"}}', "overload", True, None),
        (499, {}, '{"error":{"message":"Oops"}}', "bad_request", False, None),
        (408, {}, '{"error":{"message":"Late"}}', "overload", True, None),
        (409, {}, '{"error":{"message":"Both"}}', "overload", True, None),
        (425, {}, '{"error":{"message":"Early"}}', "overload", True, None),
        (400, {}, '{"error":{"message":"The server is overloaded"}}', "overload", True, None),
        (400, {}, '{"error":{"message":"Blocked for safety"}}', "content_filter", False, None),
        (404, {}, '{"error":{"message":"No such model"}}', "not_found", False, None),
        (404, {}, '{"error":{"message":"Blocked for safety"}}', "content_filter", False, None),
    ],
)
def test_a_refusal_is_tried_again_only_where_time_helps_and_after_the_time_that_is_asked_for(
    status: int, headers: dict[str, str], body: str, kind: str, retryable: bool, wait: float | None
) -> None:
    error = refusal("p", status, headers, body)
    assert (error.kind, error.status, error.retryable, error.retry_after) == (kind, status, retryable, wait)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error":{"message":"Bad","type":"invalid_request_error","param":"model"}}', "Bad."),
        ('{"message":"Bad"}', "Bad."),
        ('{"detail":"Bad"}', "Bad."),
        ('{"detail":[{"msg":"x"}]}', '[{"msg": "x"}].'),
        ('[{"error":{"message":"In a list"}}]', "In a list."),
        ("[]", "[]."),
        ('"a text"', "a text."),
        ("5", "5."),
        ("plain words", "plain words."),
        ("<HTML><body>Bad gateway</body></html>", "no reason given."),
        ("", "no reason given."),
        ('{"error":"only words"}', "only words."),
        ('{"error":{}}', "no reason given."),
        ('{"error":{"code":"some_code"}}', "some_code."),
        ('{"error":{"message":"Outer","metadata":{"raw":"inner"}}}', "Outer: inner."),
        ('{"error":{"message":"Outer inner","metadata":{"raw":"inner"}}}', "Outer inner."),
        ('{"error":{"message":"Outer","metadata":["raw"]}}', "Outer."),
        ('{"error":{"message":"Outer","metadata":{"raw":5}}}', "Outer."),
    ],
)
def test_the_words_of_a_provider_are_found_wherever_they_stand(body: str, words: str) -> None:
    assert str(refusal("p", 400, {}, body)) == f"p answered with an error (400): {words}"


def test_the_parameter_that_is_refused_is_kept() -> None:
    assert refusal("p", 400, {}, '{"error": {"message": "Bad", "param": "temperature"}}').param == "temperature"


@pytest.mark.parametrize(
    ("error", "status", "kind", "retryable"),
    [
        ({"message": "m", "type": "overloaded_error"}, 529, "overload", True),
        ({"message": "m", "code": 429}, 429, "quota", True),
        ({"message": "m", "code": 399, "type": "rate_limit"}, 429, "quota", True),
        ({"message": "m", "code": 600}, 500, "overload", True),
        ({"message": "m", "code": 400}, 400, "bad_request", False),
        ({"message": "m", "code": 599}, 599, "overload", True),
        ({"message": "m", "status": "RESOURCE_EXHAUSTED"}, 429, "quota", True),
        ({"message": "m", "type": "invalid_request_error"}, 400, "bad_request", False),
        ({"message": "m", "type": "not_found_error"}, 404, "not_found", False),
        ("words", 500, "overload", True),
    ],
)
def test_an_error_in_a_stream_has_the_status_that_its_code_or_type_stands_for(
    error: Any, status: int, kind: str, retryable: bool
) -> None:
    refused = stream_refusal("p", error)
    assert (refused.status, refused.kind, refused.retryable) == (status, kind, retryable)


def test_words_beyond_what_is_shown_are_cut() -> None:
    assert "x" * SHOWN in str(refusal("p", 418, {}, "x" * SHOWN))
    assert str(refusal("p", 418, {}, "x" * (SHOWN + 1))).count("x") == SHOWN

"""What a provider's refusal means: status, headers and body in, a ModelError out."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from toolwright.models.model import ModelError, Trouble

SHOWN = 600
"""Characters of the provider's own words that go into a message."""


def refusal(provider: str, status: int, headers: Mapping[str, str], body: str) -> ModelError:
    """The error for an answer with a status of 400 or more."""
    words, code = _said(body)
    return _error(provider, status, words, code, retry_after(headers))


def stream_refusal(provider: str, error: Any) -> ModelError:
    """The error for an error object inside a stream that had begun well."""
    words, code = _said(json.dumps({"error": error}))
    return _error(provider, _status_of(error, code), words, code, None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from `retry-after-ms` or `retry-after` in seconds or as a date."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    return _seconds_until(value) if value else None


def _seconds_until(date: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz

    parsed = parsedate_tz(date)
    return None if parsed is None else max(0.0, mktime_tz(parsed) - time.time())


def _said(body: str) -> tuple[str, str]:
    """The message and the machine-readable words of an error body, in any provider's shape."""
    try:
        value = json.loads(body)
    except ValueError:
        return ("" if "<html" in body[:1000].lower() else body.strip(), "")
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return str(error), ""
    nested = error.get("metadata") or {}
    detail = nested.get("raw") if isinstance(nested, dict) else None
    words = error.get("message") or error.get("detail") or ""
    text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
    if isinstance(detail, str) and detail not in text:
        text = f"{text}: {detail}"
    return text, " ".join(str(error[key]) for key in ("type", "code", "status") if error.get(key))


_STATUSES: Mapping[str, int] = {
    "authentication": 401,
    "permission": 403,
    "invalid_api_key": 401,
    "not_found": 404,
    "rate_limit": 429,
    "too_many_requests": 429,
    "resource_exhausted": 429,
    "insufficient_quota": 429,
    "overloaded": 529,
    "unavailable": 503,
    "invalid_request": 400,
    "invalid_prompt": 400,
    "invalid_argument": 400,
    "bad_request": 400,
}


def _status_of(error: Any, code: str) -> int:
    number = error.get("code") if isinstance(error, dict) else None
    if isinstance(number, int) and 400 <= number < 600:
        return number
    lowered = code.lower()
    return next((status for word, status in _STATUSES.items() if word in lowered), 500)


_OVERFLOW = re.compile(
    r"context_length_exceeded|context.{0,20}length|context window|prompt is too long|prompt too long"
    r"|input is too long|input token count.{0,60}exceeds|request_too_large|request entity too large|max_prompt_tokens"
    r"|maximum prompt length|too many (input )?tokens|reduce the length of|exceeds? the (available )?context|model_max"
    r"|exceeded model token limit|input length and .?max_tokens",
)
_FILTER = re.compile(r"content_filter|content_policy|content management policy|safety|prohibited_content|flagged")
_UNPAID = re.compile(r"insufficient_quota|credit balance|billing|payment|exceeded your current quota|out of credits")
_BAD_KEY = re.compile(r"api[ _]?key not valid|invalid[ _]api[ _]key|incorrect api key|api_key_invalid|expired token")
_BUSY = re.compile(r"overloaded|at capacity|server_error|internal_server|temporarily unavailable")


def _kind(status: int, said: str) -> Trouble:
    if status in {401, 403} or _BAD_KEY.search(said):
        return "auth"
    if status in {402, 429} or _UNPAID.search(said):
        return "quota"
    if status == 413 or _OVERFLOW.search(said):
        return "context_overflow"
    if status >= 500 or status in {408, 409, 425} or _BUSY.search(said):
        return "overload"
    if _FILTER.search(said):
        return "content_filter"
    return "not_found" if status == 404 else "bad_request"


_NEXT: Mapping[Trouble, str] = {
    "auth": "Check the key: `tw auth` shows which one is used.",
    "quota": "Wait, or check the plan and billing of the account.",
    "overload": "Try again in a while.",
    "context_overflow": "The conversation is too long for this model; compact it or take one with a larger context.",
    "content_filter": "Put the request another way.",
    "not_found": "Check the model's name and the provider's base URL.",
}


def _error(provider: str, status: int, words: str, code: str, wait: float | None) -> ModelError:
    said = f"{code} {words}".lower()
    kind = _kind(status, said)
    unpaid = status == 402 or _UNPAID.search(said) is not None
    shown = words or code or "no reason given"
    if len(shown) > SHOWN:
        shown = f"{shown[:SHOWN]}..."
    return ModelError(
        f"{provider} answered with an error ({status}): {shown.rstrip('.')}. {_NEXT.get(kind, '')}".rstrip(),
        kind,
        status=status,
        retry_after=wait,
        retryable=kind == "overload" or (kind == "quota" and not unpaid),
    )

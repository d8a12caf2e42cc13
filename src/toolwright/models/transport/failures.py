"""Refusals of providers: status, headers and body in, a ModelError out. Codes count before words."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from toolwright.models.model import ModelError, Trouble
from toolwright.protocols.json_text import read_json
from toolwright.record import record

SHOWN = 600
"""Characters of the provider's own words that go into a message."""


def refusal(provider: str, status: int, headers: Mapping[str, str], body: str) -> ModelError:
    """The error for an answer with a status of 400 or more."""
    words = _said(body)
    return _error(provider, status, words, retry_after(headers))


def stream_refusal(provider: str, error: Any) -> ModelError:
    """The error for an error object inside a stream that had begun well."""
    words = _said(json.dumps({"error": error}))
    return _error(provider, _status_of(error, words.codes), words, None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from `retry-after-ms` or `retry-after` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return seconds if seconds is not None or not value else _seconds_until(value)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _seconds_until(date: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz

    parsed = parsedate_tz(date)
    return None if parsed is None else max(0.0, mktime_tz(parsed) - time.time())


@record(frozen=True, slots=True, kw_only=True)
class _Said:
    """The codes and words of a body."""

    words: str = ""
    codes: str = ""
    """Its machine-readable words, in small letters."""
    param: str = ""
    wait: float | None = None
    """Seconds to wait, where the body says so."""


def _said(body: str) -> _Said:
    """The message and the machine-readable words of an error body, in any provider's shape."""
    try:
        value = read_json(body)
    except ValueError:
        return _Said(words="" if "<html" in body[:1000].lower() else body.strip())
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return _Said(words=str(error))
    nested = error.get("metadata") or {}
    detail = nested.get("raw") if isinstance(nested, dict) else None
    words = error.get("message") or error.get("detail") or ""
    text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
    if isinstance(detail, str) and detail not in text:
        text = f"{text}: {detail}"
    codes = [str(error[key]) for key in ("type", "code", "status") if error.get(key)]
    details = [entry for entry in _list(error.get("details")) if isinstance(entry, dict)]
    codes += [str(entry["reason"]) for entry in details if entry.get("reason")]
    return _Said(
        words=text,
        codes=" ".join(codes).lower(),
        param=str(error.get("param") or ""),
        wait=next(_waits(details), None) or _wait_in_words(text),
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _waits(details: list[dict[str, Any]]) -> Iterator[float]:
    """The waits in Google's details: `{"retryDelay": "26s"}`."""
    for entry in details:
        delay = _number(str(entry.get("retryDelay") or "").removesuffix("s"))
        if delay is not None:
            yield delay


_WAIT = re.compile(
    r"(?:try again|retry)(?: your request)? (?:in|after) "
    r"(?:(\d+)\s?h(?:ours?)?)?\s?(?:(\d+)\s?m(?:in(?:ute)?s?)?(?!s))?\s?"
    r"(?:(\d+(?:\.\d+)?)\s?(ms|s\b|sec))?",
    re.IGNORECASE,
)


def _wait_in_words(text: str) -> float | None:
    """`Please try again in 1m2.5s`, as OpenAI and Groq write it."""
    match = _WAIT.search(text)
    if match is None or not any(match.group(1, 2, 3)):
        return None
    hours, minutes, number, unit = match.groups()
    seconds = float(number or 0) / (1000 if unit == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds


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
    "badrequest": 400,
    "invalid_prompt": 400,
    "invalid_argument": 400,
    "bad_request": 400,
}


def _status_of(error: Any, codes: str) -> int:
    number = error.get("code") if isinstance(error, dict) else None
    if isinstance(number, int) and 400 <= number < 600:
        return number
    return next((status for word, status in _STATUSES.items() if word in codes), 500)


_OVERFLOW_CODE = re.compile(r"context_length_exceeded|request_too_large|model_max|string_above_max_length")
_OVERFLOW = re.compile(
    r"context_length_exceeded|context.{0,20}length|context window|prompt is too long|prompt too long"
    r"|input is too long|input token count.{0,60}exceeds|request_too_large|request entity too large|max_prompt_tokens"
    r"|maximum prompt length|too many (input )?tokens|reduce the length of|exceeds? the (available )?context|model_max"
    r"|exceeded model token limit|input length and .?max_tokens|prompt exceeds max length|inputs. tokens \+"
    r"|longer than the maximum model length|range of input length|input tokens is too long|exceed max message tokens"
    r"|must have less than \d+ tokens|input length .{0,40}exceed|prompt.{0,30}exceeds?.{0,30}(limit|maximum)",
)
_TOO_MUCH_OUTPUT = re.compile(
    r"max_(completion_|output_|new_)?tokens.{0,10} (is|are) too (large|high)|maximum allowed number of output"
)
_FILTER = re.compile(
    r"content_filter|content_policy|content management policy|safety|prohibited_content|flagged|moderation"
)
_UNPAID_CODE = re.compile(
    r"insufficient_quota|insufficient_balance|billing_(error|hard_limit|not_active)|payment_required|exceeded_current_quota"
)
_UNPAID = re.compile(r"credit balance is too low|insufficient balance|out of credits|purchase.{0,20}credits|arrears")
_DAILY = re.compile(r"per ?day|daily|perday")
_BAD_KEY = re.compile(r"api[ _]?key not valid|invalid[ _]api[ _]key|incorrect api key|api_key_invalid|expired token")
_BUSY = re.compile(
    r"overloaded|at capacity|server_error|internal_server|temporarily unavailable|model is (currently )?loading"
)


def _unpaid(status: int, said: _Said, wait: float | None) -> bool:
    """Return whether only money helps, by code; by words only where the provider does not say how long to wait."""
    if status == 402 or _UNPAID_CODE.search(said.codes):
        return True
    return wait is None and _UNPAID.search(said.words.lower()) is not None


def _kind(status: int, said: _Said, *, unpaid: bool) -> Trouble:
    everything = f"{said.codes} {said.words}".lower()
    if status == 403 and _FILTER.search(everything):
        return "content_filter"
    if status in {401, 403} or _BAD_KEY.search(everything):
        return "auth"
    if status in {402, 429} or unpaid:
        return "quota"
    if _TOO_MUCH_OUTPUT.search(everything):
        return "bad_request"
    if status == 413 or _OVERFLOW_CODE.search(said.codes) or _OVERFLOW.search(everything):
        return "context_overflow"
    if status >= 500 or status in {408, 409, 425} or _BUSY.search(everything):
        return "overload"
    if _FILTER.search(everything):
        return "content_filter"
    return "not_found" if status == 404 else "bad_request"


_NEXT: Mapping[Trouble, str] = {
    "auth": "Check the key: `tw auth` shows which one is used.",
    "quota": "Wait, or check the plan and billing of the account.",
    "overload": "Try again in a while.",
    "context_overflow": "The conversation is too long for this model; take one with a larger context, or begin anew.",
    "content_filter": "Put the request another way.",
    "not_found": "Check the model's name and the provider's base URL.",
}


def _error(provider: str, status: int, said: _Said, header_wait: float | None) -> ModelError:
    wait = header_wait if header_wait is not None else said.wait
    unpaid = _unpaid(status, said, wait)
    kind = _kind(status, said, unpaid=unpaid)
    reason = said.words or said.codes or "no reason given"
    if len(reason) > SHOWN:
        reason = f"{reason[:SHOWN]}..."
    return ModelError(
        f"{provider} answered with an error ({status}): {reason.rstrip('.')}. {_NEXT.get(kind, '')}".rstrip(),
        kind,
        status=status,
        retry_after=wait,
        retryable=kind == "overload" or (kind == "quota" and not unpaid and not _spent_for_today(said, wait)),
        said=f"{said.codes} {said.words}".strip(),
        param=said.param,
    )


def _spent_for_today(said: _Said, wait: float | None) -> bool:
    """A daily quota does not come back within the waits we make, unless the provider says when."""
    return wait is None and _DAILY.search(said.words.lower()) is not None

"""Asking an identity server: a form or JSON out, JSON back, and never a secret in what goes wrong."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolwright.errors import ToolwrightError
from toolwright.models.transport.endpoint import is_local
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.text.display import visible

if TYPE_CHECKING:
    import httpx2


PATIENCE = 30.0
"""Seconds that an identity server may take for an answer."""
LARGEST = 1_000_000
"""Bytes of an answer that are read."""


class ProviderLoginFailed(ToolwrightError):
    """A login that did not come about, and why."""


def post(url: str, *, form: Mapping[str, str] | None = None, json: Mapping[str, str] | None = None) -> tuple[int, Json]:
    """The status and the object with which the server answers. No redirect is followed with a secret in hand."""
    import httpx2

    try:
        with (
            _client(url) as client,
            client.stream("POST", url, data=form, json=json, headers={"accept": "application/json"}) as answer,
        ):
            return answer.status_code, _object(answer)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise ProviderLoginFailed(f"{_host(url)} cannot be reached: {visible(reason, lines=False)}.") from error


def refusal(url: str, status: int, said: Mapping[str, Any]) -> ProviderLoginFailed:
    """Return the server's words when it gives no token."""
    words = [said.get(name) for name in ("error_description", "error", "message")]
    why = next((word for word in words if isinstance(word, str) and word), f"it answered {status}")
    return ProviderLoginFailed(f"{_host(url)} gave no token: {visible(why, lines=False)[:300]}.")


def safe_address(url: str) -> str:
    """The address, if secrets may be sent there: over TLS, or on this machine."""
    if url.startswith("https://") or (url.startswith("http://") and is_local(url)):
        return url.rstrip("/")
    raise ProviderLoginFailed(f"{url!r} is not safe to log in at: it must begin with https://.")


def expiry(said: Mapping[str, Any]) -> int:
    """When a token is over, in milliseconds since 1970; 0 where nobody has said."""
    lasts = said.get("expires_in")
    return int((time.time() + lasts) * 1000) if isinstance(lasts, int | float) and lasts > 0 else 0


def text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""


def _client(url: str) -> "httpx2.Client":
    import httpx2

    return httpx2.Client(headers={"user-agent": "toolwright"}, timeout=PATIENCE, trust_env=not is_local(url))


def _object(answer: "httpx2.Response") -> Json:
    data = bytearray()
    for chunk in answer.iter_bytes():
        data += chunk
        if len(data) > LARGEST:
            break
    try:
        value = read_json(data[:LARGEST].decode("utf-8", "replace"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _host(url: str) -> str:
    return urlsplit(url).netloc or url

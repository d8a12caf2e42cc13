"""Logins by a code that the user types in on a page (RFC 8628): GitHub Copilot and Azure.

Both give tokens to registered applications alone, and nobody may use another's registration. So the user names one of
their own, with the device flow switched on.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolwright.models.logins.identity import ProviderLoginFailed, expiry, post, refusal, safe_address, text
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.display import visible

KIND = "device"
COPILOT = "github-copilot"
COPILOT_CLIENT = "TOOLWRIGHT_COPILOT_CLIENT_ID"
"""The variable with the id of the user's own GitHub application."""
GITHUB = "TOOLWRIGHT_GITHUB_URL"
"""The variable with the address of a GitHub of one's own."""
_CODE = "urn:ietf:params:oauth:grant-type:device_code"


@record(frozen=True, slots=True, kw_only=True)
class DeviceLogin:
    """Where codes and tokens are given, and who asks for what."""

    codes: str
    tokens: str
    client: str
    scope: str


def service_of(provider: str, env: Mapping[str, str]) -> DeviceLogin:
    return _github(env) if provider == COPILOT else _azure(env)


async def log_in(
    service: DeviceLogin, show: Callable[[str], None], pause: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> Json:
    """The record of a new login; `show` tells the user where to type in what."""
    code = await asyncio.to_thread(_code, service)
    show(f"Open {visible(code.page, lines=False)} and enter the code {visible(code.user_code, lines=False)}")
    grant = await _granted(service, code, pause)
    return _record(grant, {"tokens": service.tokens, "client": service.client, "scope": service.scope})


def renew(record: Json) -> Json:
    """The record with new tokens. The old one with which to renew is often spent by it."""
    url = safe_address(text(record, "tokens"))
    form = {
        "client_id": text(record, "client"),
        "grant_type": "refresh_token",
        "refresh_token": text(record, "refresh"),
        "scope": text(record, "scope"),
    }
    status, answer = post(url, form=form)
    if not text(answer, "access_token"):
        raise refusal(url, status, answer)
    return _record(answer, record)


def _github(env: Mapping[str, str]) -> DeviceLogin:
    server = safe_address(env.get(GITHUB) or "https://github.com")
    if not env.get(COPILOT_CLIENT):
        raise ProviderLoginFailed(
            f"GitHub wants to know which application asks. Register one with device flow at "
            f"{server}/settings/developers and set {COPILOT_CLIENT} to its client id; or set COPILOT_GITHUB_TOKEN to a "
            "fine-grained token that has the permission Copilot Requests."
        )
    return DeviceLogin(
        codes=f"{server}/login/device/code",
        tokens=f"{server}/login/oauth/access_token",
        client=env[COPILOT_CLIENT],
        scope="read:user",
    )


def _azure(env: Mapping[str, str]) -> DeviceLogin:
    if not env.get("AZURE_CLIENT_ID") or not env.get("AZURE_TENANT_ID"):
        raise ProviderLoginFailed(
            "Azure wants to know which application asks and for whom. Register one that allows public client flows, "
            "and set AZURE_TENANT_ID and AZURE_CLIENT_ID; or set AZURE_OPENAI_API_KEY to a key."
        )
    authority = safe_address(env.get("AZURE_AUTHORITY_HOST") or "https://login.microsoftonline.com")
    server = f"{authority}/{env['AZURE_TENANT_ID']}/oauth2/v2.0"
    return DeviceLogin(
        codes=f"{server}/devicecode",
        tokens=f"{server}/token",
        client=env["AZURE_CLIENT_ID"],
        scope="https://cognitiveservices.azure.com/.default offline_access",
    )


@record(frozen=True, slots=True, kw_only=True)
class Code:
    """The code that the user types in, and what we ask with meanwhile."""

    user_code: str
    page: str
    device_code: str
    interval: float
    lasts: float


def _code(service: DeviceLogin) -> Code:
    url = service.codes
    status, answer = post(url, form={"client_id": service.client, "scope": service.scope})
    if not text(answer, "device_code") or not text(answer, "user_code"):
        raise refusal(url, status, answer)
    return Code(
        user_code=text(answer, "user_code"),
        page=text(answer, "verification_uri"),
        device_code=text(answer, "device_code"),
        interval=_number(answer.get("interval"), 5.0),
        lasts=_number(answer.get("expires_in"), 900.0),
    )


async def _granted(service: DeviceLogin, code: Code, pause: Callable[[float], Awaitable[None]]) -> Json:
    """Ask as often as the server allows until the user has answered or the code is over."""
    url = service.tokens
    form = {"client_id": service.client, "device_code": code.device_code, "grant_type": _CODE}
    interval, end = code.interval, time.monotonic() + code.lasts
    while time.monotonic() < end:
        await pause(interval)
        status, answer = await asyncio.to_thread(post, url, form=form)
        match text(answer, "error"):
            case "" if text(answer, "access_token"):
                return answer
            case "authorization_pending":
                continue
            case "slow_down":
                interval = max(interval + 5, _number(answer.get("interval"), 0.0))
            case "access_denied" | "authorization_declined":
                raise ProviderLoginFailed("The login was refused in the browser. Nothing was stored.")
            case "expired_token":
                break
            case _:
                raise refusal(url, status, answer)
    raise ProviderLoginFailed("Nobody entered the code in time. Try again.")


def _record(said: Json, known: Mapping[str, Any]) -> Json:
    return {
        "type": "oauth",
        "login": KIND,
        "tokens": known["tokens"],
        "client": known["client"],
        "scope": known["scope"],
        "access": text(said, "access_token"),
        "refresh": text(said, "refresh_token") or known.get("refresh", ""),
        "expires": expiry(said),
    }


def _number(value: Any, otherwise: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if good else otherwise

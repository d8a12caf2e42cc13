"""GitHub Copilot: a code that the user types in at github.com, and tokens that are renewed.

GitHub gives tokens to registered applications alone, and nobody may use another's registration. So the user names one:
an OAuth app or a GitHub App of their own with the device flow switched on.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolwright.models.logins.identity import LoginFailed, expiry, post, refusal, safe_address, text
from toolwright.record import record

Json = dict[str, Any]

KIND = "github"
PROVIDER = "github-copilot"
CLIENT = "TOOLWRIGHT_COPILOT_CLIENT_ID"
"""The variable with the id of the user's own GitHub application."""
SERVER = "TOOLWRIGHT_GITHUB_URL"
"""The variable with the address of a GitHub of one's own."""
_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@record(frozen=True, slots=True, kw_only=True)
class Code:
    """What the user types in, and what we ask with meanwhile."""

    user_code: str
    page: str
    device_code: str
    interval: float
    lasts: float


async def log_in(
    env: Mapping[str, str],
    show: Callable[[str], None],
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Json:
    """The record of a new login; `show` tells the user where to type in what."""
    client, server = env.get(CLIENT, ""), safe_address(env.get(SERVER) or "https://github.com")
    if not client:
        raise LoginFailed(
            f"GitHub wants to know which application asks. Register an OAuth app with device flow at "
            f"{server}/settings/developers and set {CLIENT} to its client id; or set COPILOT_GITHUB_TOKEN to a "
            "fine-grained token that has the permission Copilot Requests."
        )
    code = await asyncio.to_thread(_code, server, client)
    show(f"Open {code.page} and enter the code {code.user_code}")
    said = await _granted(server, client, code, pause)
    return _record(said, {"server": server, "client": client})


def renew(record: Json) -> Json:
    """The record with new tokens. GitHub spends the old one with which to renew."""
    url = f"{safe_address(text(record, 'server'))}/login/oauth/access_token"
    form = {
        "client_id": text(record, "client"),
        "grant_type": "refresh_token",
        "refresh_token": text(record, "refresh"),
    }
    status, said = post(url, form=form)
    if not text(said, "access_token"):
        raise refusal(url, status, said)
    return _record(said, record)


def _code(server: str, client: str) -> Code:
    url = f"{server}/login/device/code"
    status, said = post(url, form={"client_id": client, "scope": "read:user"})
    if not text(said, "device_code") or not text(said, "user_code"):
        raise refusal(url, status, said)
    return Code(
        user_code=text(said, "user_code"),
        page=text(said, "verification_uri") or f"{server}/login/device",
        device_code=text(said, "device_code"),
        interval=_number(said.get("interval"), 5.0),
        lasts=_number(said.get("expires_in"), 900.0),
    )


async def _granted(server: str, client: str, code: Code, pause: Callable[[float], Awaitable[None]]) -> Json:
    """Ask as often as GitHub allows until the user has answered or the code is over."""
    url = f"{server}/login/oauth/access_token"
    form = {"client_id": client, "device_code": code.device_code, "grant_type": _DEVICE}
    interval, end = code.interval, time.monotonic() + code.lasts
    while time.monotonic() < end:
        await pause(interval)
        status, said = await asyncio.to_thread(post, url, form=form)
        match text(said, "error"):
            case "" if text(said, "access_token"):
                return said
            case "authorization_pending":
                continue
            case "slow_down":
                interval = max(interval + 5, _number(said.get("interval"), 0.0))
            case "access_denied":
                raise LoginFailed("The login was refused at GitHub. Nothing was stored.")
            case "expired_token":
                break
            case _:
                raise refusal(url, status, said)
    raise LoginFailed("Nobody entered the code in time. Try again.")


def _record(said: Json, known: Mapping[str, Any]) -> Json:
    return {
        "type": "oauth",
        "login": KIND,
        "server": known["server"],
        "client": known["client"],
        "access": text(said, "access_token"),
        "refresh": text(said, "refresh_token") or known.get("refresh", ""),
        "expires": expiry(said),
    }


def _number(value: Any, otherwise: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if good else otherwise

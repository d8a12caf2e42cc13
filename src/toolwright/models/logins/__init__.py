"""Logins to providers that publish one for programs like this: GitHub Copilot, OpenRouter, Google and Azure."""

from collections.abc import Callable, Mapping
from typing import Any

PROVIDERS = ("github-copilot", "openrouter", "google", "azure")


async def log_in(
    provider: str,
    env: Mapping[str, str],
    show: Callable[[str], None],
    port: int | None = None,
    *,
    tunnel: bool = False,
) -> dict[str, Any]:
    """Have the user log in to one of PROVIDERS; the record for the auth file. LoginFailed says what went wrong.

    `show` tells the user what to do, `port` is where the browser comes back to, by a `tunnel` or not.
    """
    from toolwright.models.logins import device, google, openrouter

    match provider:
        case google.PROVIDER:
            return await google.log_in(env, show)
        case openrouter.PROVIDER:
            return await openrouter.log_in(env, show, openrouter.PORT if port is None else port, tunnel=tunnel)
        case _:
            return await device.log_in(device.service_of(provider, env), show)

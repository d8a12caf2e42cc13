"""OpenRouter: the user agrees in the browser, and we are given a key (PKCE, with no application registered)."""

import asyncio
import base64
import hashlib
import os
import secrets
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from toolwright.deadline import time_limit
from toolwright.mcp.callback import Callback
from toolwright.models.logins.identity import ProviderLoginFailed, post, refusal, safe_address, text
from toolwright.protocols.json_types import Json

PROVIDER = "openrouter"
SERVER = "TOOLWRIGHT_OPENROUTER_URL"
PORT = 3000
"""The port that OpenRouter names for programs on the user's own machine."""
PATIENCE = 300.0
"""Seconds that a person has to agree."""


async def log_in(
    env: Mapping[str, str], show: Callable[[str], None], port: int = PORT, *, tunnel: bool = False
) -> Json:
    """The record of a new login; `show` tells the user where to go. The key has no end, so nothing is renewed."""
    server = safe_address(env.get(SERVER) or "https://openrouter.ai")
    verifier = secrets.token_urlsafe(48)
    # The way back is a secret too: only who was sent there by this login knows it.
    path = f"/{secrets.token_urlsafe(24)}"
    try:
        async with Callback(port, path, tunnel=tunnel) as callback:
            show(f"Open {server}/auth?{urlencode(_question(verifier, f'http://localhost:{callback.port}{path}'))}")
            async with time_limit(PATIENCE):
                answer = await callback.answered
    except OSError as error:
        if isinstance(error, TimeoutError):
            raise ProviderLoginFailed(f"Nobody logged in within {PATIENCE:g} seconds. Try again.") from None
        raise ProviderLoginFailed(
            f"Port {port} cannot be used ({os.strerror(error.errno or 0)}). Is another login under way? "
            "Choose another with --port."
        ) from error
    if not answer.get("code"):
        raise ProviderLoginFailed(
            f"OpenRouter sent no code back ({answer.get('error') or 'no reason given'}). Try again."
        )
    return {"type": "api", "key": await asyncio.to_thread(_key, server, answer["code"], verifier)}


def _question(verifier: str, callback: str) -> Mapping[str, str]:
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return {"callback_url": callback, "code_challenge": digest, "code_challenge_method": "S256"}


def _key(server: str, code: str, verifier: str) -> str:
    url = f"{server}/api/v1/auth/keys"
    status, answer = post(url, json={"code": code, "code_verifier": verifier, "code_challenge_method": "S256"})
    key = text(answer, "key")
    if not key:
        nested = answer.get("error")
        raise refusal(url, status, nested if isinstance(nested, dict) else answer)
    return key

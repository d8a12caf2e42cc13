"""Being logged in to a server: its token for every request, renewed when it is over, and the login in the browser."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolwright.mcp.callback import Callback
from toolwright.mcp.client.oauth import LoginFailed, ask_for, code_from, find_issuer, known_as, redeem, renew
from toolwright.mcp.client.tokens import FILE, Grant, Grants
from toolwright.mcp.protocol import object_of, text_of
from toolwright.record import record

if TYPE_CHECKING:
    import httpx2

    from toolwright.mcp.client.server import McpServer

EARLY = 30.0
"""Seconds before its end that a token is renewed."""
PORT = 19876
PATH = "/mcp/oauth/callback"
PATIENCE = 300.0
"""Seconds that a person has to log in."""


@record(slots=True)
class Login:
    """The login of one server, as its requests need it."""

    server: str
    url: str
    grants: Grants

    @classmethod
    def of(cls, server: "McpServer") -> "Login":
        return cls(server.name, server.said.url, Grants(server.around.data / FILE))

    async def token(self) -> str:
        """The token as it stands; empty if nobody is logged in."""
        grant = self.grants.of(self.server, self.url)
        if grant is None:
            return ""
        if grant.expires and grant.expires - EARLY < time.time() and grant.refresh_token:
            grant = await self._renewed(grant) or grant
        return grant.access_token

    async def refused(self, _: str) -> bool:
        grant = self.grants.of(self.server, self.url)
        return grant is not None and bool(grant.refresh_token) and await self._renewed(grant) is not None

    async def _renewed(self, old: Grant) -> Grant | None:
        """The login with new tokens; another process may have renewed it already."""
        import httpx2

        now = self.grants.of(self.server, self.url)
        if now is not None and now.access_token != old.access_token:
            return now
        try:
            async with _client(self.url) as http:
                fresh = await renew(http, old)
        except (LoginFailed, httpx2.HTTPError):
            return None
        self.grants.put(self.server, fresh)
        return fresh


async def log_in(server: "McpServer", show: Callable[[str], None]) -> Grant:
    """Have the person log in in the browser, and keep what comes of it. LoginFailed says what went wrong."""
    said, url = object_of(server.said.oauth), server.said.url
    redirect = text_of(said.get("redirectUri"))
    port = urlsplit(redirect).port if redirect else said.get("callbackPort", PORT)
    redirect = redirect or f"http://127.0.0.1:{port}{PATH}"
    import httpx2

    try:
        async with _client(url) as http, Callback(port or PORT, urlsplit(redirect).path) as callback:
            issuer = await find_issuer(http, url)
            grant = await known_as(http, issuer, url, said, redirect)
            asked = ask_for(issuer, grant, redirect, text_of(said.get("scope")) or issuer.scope)
            show(asked.address)
            async with asyncio.timeout(PATIENCE):
                answer = await callback.answered
            grant = await redeem(http, grant, code_from(answer, asked, issuer), asked)
    except TimeoutError:
        raise LoginFailed(f"Nobody logged in within {PATIENCE:g} seconds. Try again.") from None
    except OSError as error:
        raise LoginFailed(
            f"Port {port or PORT} cannot be used ({error.strerror}). Is another login under way? "
            "Another port can be set as `oauth.callbackPort`."
        ) from error
    except httpx2.HTTPError as error:
        raise LoginFailed(f"The login server cannot be reached: {str(error) or type(error).__name__}.") from error
    Grants(server.around.data / FILE).put(server.name, grant)
    return grant


def _client(url: str) -> "httpx2.AsyncClient":
    import httpx2

    local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    return httpx2.AsyncClient(headers={"user-agent": "toolwright"}, timeout=30.0, trust_env=not local)

"""Being logged in to a server: its token for every request, renewed when it is over, and the login in the browser."""

import asyncio
import time
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.mcp.callback import Callback
from toolwright.mcp.client.challenges import joined_scopes
from toolwright.mcp.client.link import NeedsAuth
from toolwright.mcp.client.oauth import (
    LoginFailed,
    answer_in,
    ask_for,
    code_from,
    find_issuer,
    known_as,
    redeem,
    renew,
)
from toolwright.mcp.client.tokens import FILE, Grants, LoginGrant
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.jsonrpc import RpcError
from toolwright.record import record

if TYPE_CHECKING:
    import httpx2

    from toolwright.mcp.client.server import McpServer

EARLY = 30.0
"""Seconds before its end that a token is renewed."""
PORT = 19876
PATH = "/mcp/oauth/callback"
UNAUTHORISED = 401
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

    def grant(self) -> LoginGrant | None:
        """The login there is."""
        return self.grants.of(self.server, self.url)

    async def token(self) -> str:
        """Return the stored token; empty without a login."""
        grant = self.grant()
        if grant is None:
            return ""
        if grant.expires and grant.expires - EARLY < time.time() and grant.refresh_token:
            grant = await self._renewed(grant) or grant
        return grant.access_token

    async def refused(self) -> bool:
        """Told that the token was not accepted; whether there is another now."""
        grant = self.grant()
        return grant is not None and bool(grant.refresh_token) and await self._renewed(grant) is not None

    async def _renewed(self, old: LoginGrant) -> LoginGrant | None:
        """The login with new tokens; another process may have renewed it already."""
        import httpx2

        now = self.grant()
        if now is not None and now.access_token != old.access_token:
            return now
        try:
            async with _client(self.url) as http:
                fresh = await renew(http, old)
        except (LoginFailed, httpx2.HTTPError):
            return None
        self.grants.put(self.server, fresh)
        return fresh


def login_problem(server: "McpServer", error: RpcError) -> ToolError | None:
    """Return the problem if an error of the server is about its login: there is none, or it lacks a scope."""
    data = object_of(error.data)
    if server.type != "remote" or server.said.oauth is False:
        return None
    if data.get("status") == UNAUTHORISED:
        return NeedsAuth(server.name)
    if not (scope := text_of(data.get("scope"))):
        return None
    grant = Login.of(server).grant()
    if grant is not None and grant.covers(scope):
        return refused_all_the_same(server.name, scope)
    return NeedsAuth(server.name, joined_scopes(grant.scope if grant else "", scope))


def refused_all_the_same(server: str, scope: str) -> ToolError:
    """The error of a server that wants a scope which its login has."""
    return ToolError(f"The MCP server {server} refuses this, although its login has the scope {scope}.", "denied")


class Guide(Protocol):
    """Brings the person to the login, and hears what they enter by hand."""

    async def show(self, address: str) -> None:
        """Send the person to the address. Nobody waits here for a browser."""
        ...

    async def entered(self, complaint: str) -> str:
        """Return what the person enters after a complaint about the last; wait where nothing can be entered."""
        ...


async def log_in(server: "McpServer", guide: Guide, scope: str = "", *, tunnel: bool = False) -> LoginGrant:
    """Have the person log in in the browser, and keep what comes of it. LoginFailed says what went wrong.

    The browser comes back by itself where it runs on this machine. From another one, the person can enter the address
    that it was sent back to.
    """
    oauth, url = object_of(server.said.oauth), server.said.url
    redirect = text_of(oauth.get("redirectUri"))
    port = urlsplit(redirect).port if redirect else oauth.get("callbackPort", PORT)
    redirect = redirect or f"http://127.0.0.1:{port}{PATH}"
    import httpx2

    try:
        back = Callback(port or PORT, urlsplit(redirect).path, tunnel=tunnel)
        async with _client(url) as http, back as callback:
            issuer = await find_issuer(http, url)
            grant = await known_as(http, issuer, url, oauth, redirect)
            asked = ask_for(issuer, grant, redirect, scope or text_of(oauth.get("scope")) or issuer.scope)
            async with time_limit(PATIENCE):
                await guide.show(asked.address)
                answer = await _first_answer(callback, guide)
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


async def _first_answer(callback: Callback, guide: Guide) -> dict[str, str]:
    """Return what the browser brings or the person enters, whichever comes first."""
    entering = asyncio.create_task(_entered(guide))
    try:
        await asyncio.wait([callback.answered, entering], return_when=asyncio.FIRST_COMPLETED)
        return callback.answered.result() if callback.answered.done() else entering.result()
    finally:
        entering.cancel()
        await asyncio.gather(entering, return_exceptions=True)


async def _entered(guide: Guide) -> dict[str, str]:
    complaint = ""
    while not (answer := answer_in(await guide.entered(complaint))):
        complaint = "That is no address that a login was sent back to: there is no code in it."
    return answer


def _client(url: str) -> "httpx2.AsyncClient":
    import httpx2

    local = urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    return httpx2.AsyncClient(headers={"user-agent": "toolwright"}, timeout=30.0, trust_env=not local)

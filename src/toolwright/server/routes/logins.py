"""Keys and logins of providers and of MCP servers."""

import asyncio
from typing import Any

from toolwright.config.auth import AuthFile
from toolwright.errors import UsageError
from toolwright.extensions.plugin_logins import KINDS, Way
from toolwright.http_server.refusal import bad_request, not_found
from toolwright.mcp.client.oauth import LoginFailed
from toolwright.mcp.client.tokens import FILE, Grants
from toolwright.models.logins.identity import ProviderLoginFailed
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.routes.programs import mcp_server, mcp_states

routes = Routes()

_TEXT = {"type": "string"}
_WAY: Json = {"type": "object", "required": ["method"], "properties": {"method": {"type": "integer"}}}


@routes.get("/provider/auth", "provider.auth")
async def ways_to_log_in(ask: RouteCall) -> Any:
    """List how each provider takes a login or a key; a login is named by its place in the list."""
    providers = await ask.serving.logins(await ask.workspace()).ways()
    return {provider: [_way_json(one) for one in ways] for provider, ways in providers.items()}


def _way_json(way: Way) -> Json:
    return {"type": way.type, "label": way.label}


@routes.post("/provider/{providerID}/oauth/authorize", "provider.oauth.authorize", _WAY)
async def begin_login(ask: RouteCall) -> Any:
    """Begin to log in to a provider: where the person goes, and whether a code comes back from there."""
    workspace, body = await ask.workspace(), await ask.body()
    ask.require_secret("Logins begin")
    values = body.get("inputs")
    inputs = {str(name): str(value) for name, value in values.items()} if isinstance(values, dict) else {}
    try:
        begun = await ask.serving.logins(workspace).begin(ask.path["providerID"], body["method"], inputs)
    except ProviderLoginFailed as error:
        raise bad_request(str(error)) from error
    return None if begun.done else {"url": begun.url, "method": begun.method, "instructions": begun.instructions}


@routes.post("/provider/{providerID}/oauth/callback", "provider.oauth.callback", _WAY)
async def finish_login(ask: RouteCall) -> Any:
    """Wait until the person has logged in to a provider, and store what comes of it."""
    workspace, body = await ask.workspace(), await ask.body()
    ask.require_secret("Logins are finished")
    code = str(body.get("code") or "")
    try:
        await ask.serving.logins(workspace).finish(ask.path["providerID"], body["method"], code)
    except ProviderLoginFailed as error:
        raise bad_request(str(error)) from error
    return True


@routes.at(
    "PUT",
    "/auth/{providerID}",
    "auth.set",
    {"type": "object", "required": ["type"], "properties": {"type": {"enum": list(KINDS)}, "key": _TEXT}},
)
async def store_key(ask: RouteCall) -> Any:
    """Store the key of a provider or of an account there (`openai@work`), or what a login elsewhere came to."""
    workspace, body = await ask.workspace(), await ask.body()
    ask.require_secret("Keys are stored")
    if body["type"] == "api" and not body.get("key"):
        raise bad_request("A key is stored as {type: api, key}.")
    provider = ask.path["providerID"]
    try:
        workspace.connections.catalog.provider(provider)
    except UsageError:
        raise not_found(f"There is no provider {provider[:80]!r}.") from None
    await asyncio.to_thread(AuthFile(workspace.folders.auth).store, provider, body)
    workspace.connections.use_stored(provider)
    return True


@routes.at("DELETE", "/auth/{providerID}", "auth.remove")
async def forget_key(ask: RouteCall) -> Any:
    """Forget the key of a provider that is stored."""
    workspace = await ask.workspace()
    ask.require_secret("Keys are removed")
    await asyncio.to_thread(AuthFile(workspace.folders.auth).remove, ask.path["providerID"])
    workspace.connections.use_stored(ask.path["providerID"])
    return True


@routes.post("/mcp/{name}/auth", "mcp.auth.start")
async def begin_mcp_login(ask: RouteCall) -> Any:
    """Begin to log in to an MCP server: the address where the person goes."""
    server = await mcp_server(ask)
    ask.require_secret("Logins begin")
    try:
        begun = await ask.serving.logins(await ask.workspace()).begin_mcp(server.name)
    except LoginFailed as error:
        raise bad_request(str(error)) from error
    return {"authorizationUrl": begun.url, "oauthState": ""}


@routes.post("/mcp/{name}/auth/callback", "mcp.auth.callback", {"type": "object", "properties": {"code": _TEXT}})
async def finish_mcp_login(ask: RouteCall) -> Any:
    """Log in to an MCP server with the code, or the address, that the browser was sent back with."""
    return await _logged_in(ask, str((await ask.body()).get("code") or ""))


@routes.post("/mcp/{name}/auth/authenticate", "mcp.auth.authenticate")
async def wait_for_mcp_login(ask: RouteCall) -> Any:
    """Wait until the browser has come back to this machine from the login that was begun."""
    return await _logged_in(ask, "")


async def _logged_in(ask: RouteCall, code: str) -> Any:
    server = await mcp_server(ask)
    ask.require_secret("Logins are finished")
    workspace = await ask.workspace()
    try:
        await ask.serving.logins(workspace).finish_mcp(server.name, code)
    except LoginFailed as error:
        raise bad_request(str(error)) from error
    await server.settled()
    return mcp_states(workspace)[server.name]


@routes.at("DELETE", "/mcp/{name}/auth", "mcp.auth.remove")
async def forget_mcp_login(ask: RouteCall) -> Any:
    """Forget the login to an MCP server."""
    server, workspace = await mcp_server(ask), await ask.workspace()
    ask.require_secret("Logins are removed")
    return {"success": await asyncio.to_thread(Grants(workspace.folders.data / FILE).remove, server.name)}

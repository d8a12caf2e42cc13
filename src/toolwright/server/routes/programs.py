"""The programs beside the tools: MCP servers, language servers that are at work, and formatters."""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from toolwright.config.schema import config_schema
from toolwright.http_server.refusal import bad_request, not_found
from toolwright.lsp.pool import Slot
from toolwright.protocols.json_types import Json
from toolwright.schema.check import problems_with
from toolwright.server.asking import RouteCall, Routes
from toolwright.settings import Settings
from toolwright.settings.derive import read as read_settings
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.mcp.client.server import McpServer

routes = Routes()

_STATUS = {"running": "connected", "waiting": "error"}
"""Clients' names for the states of a server; one that starts, or that is not needed, is not at work."""

SETTLING = 2.0
"""Seconds that MCP servers are given to connect before their status is returned."""


@routes.get("/lsp", "lsp.status")
async def language_servers(ask: RouteCall) -> Any:
    """The language servers that run, and those that failed and wait to be started again."""
    workspace = await ask.workspace()
    if "languages" not in vars(workspace):  # none was needed so far, and to tell so is no reason to look for them
        return []
    return [_server(workspace, slot) for slot in workspace.languages.pool.slots.values() if slot.state in _STATUS]


@routes.get("/formatter", "formatter.status")
async def formatters(ask: RouteCall) -> Any:
    """The formatters that are known, and whether each would be used on a file of this folder."""
    workspace = await ask.workspace()
    if workspace.settings.formatter is False:
        return []
    chooser = workspace.formatters.chooser
    return [
        {"name": one.name, "extensions": list(one.extensions), "enabled": chooser.uses(one)}
        for one in chooser.formatters
    ]


@routes.get("/mcp", "mcp.status")
async def mcp_servers(ask: RouteCall) -> Any:
    """List the MCP servers with their status. They are started by this, as by the first prompt."""
    workspace = await ask.workspace()
    if not has_mcp(workspace):
        return {}
    # One that failed is tried again by who needs it, not by who looks.
    starting = [one for one in workspace.mcp.by_name.values() if one.status in ("idle", "connecting")]
    if starting:
        await asyncio.wait([asyncio.ensure_future(one.settled()) for one in starting], timeout=SETTLING)
    return mcp_states(workspace)


@routes.post(
    "/mcp",
    "mcp.add",
    {
        "type": "object",
        "required": ["name", "config"],
        "properties": {"name": {"type": "string", "minLength": 1}, "config": {"type": "object"}},
    },
)
async def add_server(ask: RouteCall) -> Any:
    """Have one more MCP server until the folder is closed; the answer is the status of all of them."""
    workspace, body = await ask.workspace(), await ask.body()
    ask.require_secret("Servers are added")
    data = {"mcp": {body["name"]: body["config"]}}
    if issues := problems_with(data, config_schema()):
        raise bad_request("The server cannot be used:", issues)
    server = workspace.mcp.add(body["name"], read_settings(Settings, data).mcp[body["name"]])
    if server.enabled:
        await server.settled()
    return mcp_states(workspace)


def has_mcp(workspace: Workspace) -> bool:
    """Tell whether there are MCP servers: none is looked for where nobody has named one."""
    return bool(workspace.settings.mcp) or "mcp" in vars(workspace)


def mcp_states(workspace: Workspace) -> Json:
    """Return the status of each MCP server."""
    return {
        one.name: {"status": one.status} | ({"error": one.error} if one.error else {}) for one in workspace.mcp.states()
    }


@routes.post("/mcp/{name}/connect", "mcp.connect")
async def connect(ask: RouteCall) -> Any:
    """Switch an MCP server on; how it is then is told by GET /mcp."""
    await (await mcp_server(ask)).switch_on()
    return True


@routes.post("/mcp/{name}/disconnect", "mcp.disconnect")
async def disconnect(ask: RouteCall) -> Any:
    """Switch an MCP server off until it is switched on again."""
    await (await mcp_server(ask)).switch_off()
    return True


async def mcp_server(ask: RouteCall) -> "McpServer":
    """The MCP server that the request names."""
    workspace, name = await ask.workspace(), ask.path["name"]
    if not has_mcp(workspace) or name not in workspace.mcp.by_name:
        raise not_found(f"There is no MCP server {name[:80]!r} here. GET /mcp lists those there are.")
    return workspace.mcp[name]


@routes.get("/experimental/resource", "experimental.resource.list")
async def resources(ask: RouteCall) -> Any:
    """List what the MCP servers have to read, by server and address."""
    workspace = await ask.workspace()
    servers = workspace.mcp.by_name.values() if has_mcp(workspace) else ()
    return {
        f"{server.name}:{one['uri']}": {**one, "name": str(one.get("name") or one["uri"]), "client": server.name}
        for server in servers
        for one in server.lists["resources"]
        if isinstance(one.get("uri"), str)
    }


def _server(workspace: Workspace, slot: Slot) -> dict[str, str]:
    name = slot.found.server.id
    root = os.path.relpath(slot.found.root, workspace.directory)
    return {"id": name, "name": name, "root": "" if root == "." else root, "status": _STATUS[slot.state]}

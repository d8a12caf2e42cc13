"""The programs beside the tools: MCP servers, language servers that are at work, and formatters."""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from toolwright.lsp.pool import Slot
from toolwright.server.asking import Ask, Routes
from toolwright.server.refusal import not_found
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.mcp.client.server import McpServer

routes = Routes()

_STATUS = {"running": "connected", "waiting": "error"}
"""What clients call the states of a server; one that starts, or that is not needed, is not at work."""

SETTLING = 2.0
"""Seconds that MCP servers are given to connect before it is told how they are."""


@routes.get("/lsp", "lsp.status")
async def language_servers(ask: Ask) -> Any:
    """The language servers that run, and those that failed and wait to be started again."""
    workspace = await ask.workspace()
    if "languages" not in vars(workspace):  # none was needed so far, and to tell so is no reason to look for them
        return []
    return [_server(workspace, slot) for slot in workspace.languages.pool.slots.values() if slot.state in _STATUS]


@routes.get("/formatter", "formatter.status")
async def formatters(ask: Ask) -> Any:
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
async def mcp_servers(ask: Ask) -> Any:
    """How the MCP servers are. They are started for who asks, as for the first prompt."""
    workspace = await ask.workspace()
    if not workspace.settings.mcp:
        return {}
    # One that failed is tried again by who needs it, not by who looks.
    starting = [one for one in workspace.mcp.by_name.values() if one.status in ("idle", "connecting")]
    if starting:
        await asyncio.wait([asyncio.ensure_future(one.settled()) for one in starting], timeout=SETTLING)
    return {
        one.name: {"status": one.status} | ({"error": one.error} if one.error else {}) for one in workspace.mcp.states()
    }


@routes.post("/mcp/{name}/connect", "mcp.connect")
async def connect(ask: Ask) -> Any:
    """Switch an MCP server on; how it is then is told by GET /mcp."""
    await (await _mcp_server(ask)).switch_on()
    return True


@routes.post("/mcp/{name}/disconnect", "mcp.disconnect")
async def disconnect(ask: Ask) -> Any:
    """Switch an MCP server off until it is switched on again."""
    await (await _mcp_server(ask)).switch_off()
    return True


async def _mcp_server(ask: Ask) -> "McpServer":
    workspace, name = await ask.workspace(), ask.ids["name"]
    if name not in workspace.settings.mcp:
        raise not_found(f"There is no MCP server {name[:80]!r} here. GET /mcp lists those there are.")
    return workspace.mcp[name]


@routes.get("/experimental/resource", "experimental.resource.list")
async def resources(ask: Ask) -> Any:
    """What the MCP servers have to read, by server and address."""
    workspace = await ask.workspace()
    servers = workspace.mcp.by_name.values() if workspace.settings.mcp else ()
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

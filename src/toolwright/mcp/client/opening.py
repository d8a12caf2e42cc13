"""Opening a server: its program started, or its address opened in the way it understands."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from toolwright.errors import ToolError
from toolwright.mcp.client.client import McpClient
from toolwright.mcp.client.login import Login, login_problem
from toolwright.mcp.protocol import object_of
from toolwright.protocols.jsonrpc import RpcClosed, RpcError

if TYPE_CHECKING:
    from toolwright.mcp.client.server import McpServer


async def open_client(client: McpClient, server: "McpServer") -> None:
    """Connect the client to its server. ToolError says what stood in the way."""
    settings = server.said
    if server.type == "local" and not settings.command:
        raise ToolError("it has neither a command nor a url")
    if server.type == "remote" and not settings.url.startswith(("http://", "https://")):
        raise ToolError(f"{settings.url!r} is no address: it must begin with http:// or https://")
    await (_open_program(client, server) if server.type == "local" else _open_web(client, server))


async def _open_program(client: McpClient, server: "McpServer") -> None:
    from toolwright.mcp.client.program import ProgramLink

    settings, around = server.said, server.around
    folder = around.home.directory / Path(settings.cwd).expanduser()
    if not folder.is_dir():
        raise ToolError(f"its folder {folder} is not there")
    environment = {**around.environment, **settings.environment}
    program = settings.command[0]
    path = program if "/" in program else around.home.lookup.need(program)
    link = await ProgramLink.start(
        around.home.scopes, (path, *settings.command[1:]), cwd=folder, env=environment, handlers=client.handlers
    )
    client.link = link
    try:
        await client.begin(link)
    except RpcClosed as error:
        words = f": {link.stderr_tail()}" if link.stderr_tail() else ""
        raise ToolError(f"{await link.died()}{words}") from error
    except RpcError as error:
        raise ToolError(f"it refused to begin: {error}") from error


async def _open_web(client: McpClient, server: "McpServer") -> None:
    """First as the newer versions have it, then as the oldest, where the address wants none of the former."""
    from toolwright.mcp.client.web import Authority, WebLink

    settings = server.said
    authority: Authority | None = None
    if settings.oauth is not False:
        authority = Login.of(server)
    link = await WebLink.open(settings.url, settings.headers, client.handlers, authority)
    client.link = link
    try:
        await client.begin(link)
        return
    except RpcError as error:
        refusal = error
    if problem := login_problem(server, refusal):
        raise problem
    status = object_of(refusal.data).get("status")
    if status not in (400, 404, 405, 406, 415):
        raise ToolError(str(refusal)) from refusal
    await asyncio.shield(asyncio.ensure_future(link.close()))
    link = await WebLink.open(settings.url, settings.headers, client.handlers, authority)
    client.link = link
    try:
        await link.use_events()
        await client.begin(link)
    except (RpcError, RpcClosed):
        raise ToolError(str(refusal)) from refusal

"""The resources of servers: listed and read by the model, and mentioned by the person as `@server:uri`."""

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from toolwright.definition import Attachment, Offer, Result, Tool, ToolContext, tool
from toolwright.errors import ToolError, UsageError
from toolwright.mcp.client.content import resource
from toolwright.mcp.client.tools import sanitised
from toolwright.mcp.protocol import object_of, text_of
from toolwright.protocols.jsonrpc import RpcClosed, RpcError

if TYPE_CHECKING:
    from toolwright.mcp.client.server import McpServer
    from toolwright.mcp.client.servers import Servers
    from toolwright.session.prompt import Attached
    from toolwright.session.session import Session

READ = "read_mcp_resource"
MENTIONS = 10
"""Resources that one prompt may mention."""


def resource_tools(servers: "Servers") -> list[Tool]:
    """Two tools, offered as soon as a server has resources. Both are under the rules for `read`."""

    def offered(_: Offer) -> bool:
        return any(server.lists["resources"] for server in servers.by_name.values())

    @tool(id="list_mcp_resources", permission="read", asks=True, offered=offered, untrusted=True)
    async def listing(
        ctx: ToolContext, server: Annotated[str, "Only those of this server; all if it is left out"] = ""
    ) -> Result:
        """Lists the resources that the connected MCP servers have, with the address of each."""
        chosen = [_server(servers, server)] if server else list(servers.by_name.values())
        rows: list[str] = []
        for each in chosen:
            await ctx.ask("read", f"mcp:{each.name}:*")
            rows += _lines(each)
        return Result("\n".join(rows) or "There are no resources.", title=f"{len(rows)} resources")

    @tool(id=READ, permission="read", asks=True, offered=offered, untrusted=True)
    async def reading(
        ctx: ToolContext,
        server: Annotated[str, "The server that has it"],
        uri: Annotated[str, "Its address, as list_mcp_resources shows it"],
    ) -> Result:
        """Reads one resource of an MCP server."""
        owner = _server(servers, server)
        await ctx.ask("read", f"mcp:{owner.name}:{uri}")
        return await _read(owner, uri)

    return [listing, reading]


async def mentioned_resources(servers: "Servers", session: "Session", text: str) -> "list[Attached]":
    """The resources that a prompt mentions, read under the rules of the session."""
    from toolwright.session.prompt import mentioned

    attached: list[Attached] = []
    for name in mentioned(text)[:MENTIONS]:
        server_name, _, uri = name.partition(":")
        server = next((one for one in servers.by_name.values() if sanitised(one.name) == sanitised(server_name)), None)
        if server is None or not uri or not server.enabled:
            continue
        result = await session.call(READ, server=server.name, uri=uri)
        attached += _attached(name, result)
    return attached


async def _read(server: "McpServer", uri: str) -> Result:
    client = await server.client()
    try:
        answer = await client.read(uri)
    except (RpcError, RpcClosed) as error:
        raise ToolError(f"The MCP server {server.name} could not read {uri}: {error}", "not_found") from error
    contents = answer.get("contents")
    pieces = [resource(object_of(one)) for one in contents] if isinstance(contents, list) else []
    texts = [one for one in pieces if isinstance(one, str)]
    attachments = tuple(one for one in pieces if isinstance(one, Attachment))
    return Result("\n\n".join(texts), title=uri, attachments=attachments)


def _attached(name: str, result: Result) -> "Sequence[Attached]":
    """Return what was read as files of the prompt; what could not be read as the reason why."""
    from toolwright.session.prompt import Attached

    files = [Attached(url=one.url, mime=one.mime, filename=one.filename or name) for one in result.attachments]
    if result.output:
        data = base64.b64encode(result.output.encode("utf-8", "replace")).decode()
        files.insert(0, Attached(url=f"data:text/plain;base64,{data}", mime="text/plain", filename=name))
    return files


def _server(servers: "Servers", name: str) -> "McpServer":
    try:
        return servers[name]
    except UsageError as error:
        raise ToolError(str(error), "not_found") from error


def _lines(server: "McpServer") -> Iterator[str]:
    for entry in server.lists["resources"]:
        about = text_of(entry.get("description")) or text_of(entry.get("title")) or text_of(entry.get("name"))
        yield f"{server.name}  {text_of(entry.get('uri'))}  {about[:200]}".rstrip()

"""Tools of an MCP server in this program, and this program's own tools for MCP clients.

python examples/mcp_both_ways.py 8123
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from toolwright import Result, Workspace, open_workspace, serve_mcp

SERVERS = {"time": {"type": "local", "command": ["uvx", "mcp-server-time"]}}


def stock(article: str) -> str:
    """How much of an article there is."""
    return f"5 {article}"


def opened(folder: str | Path = ".", servers: dict[str, object] | None = None) -> Workspace:
    settings = {"mcp": servers or {}}
    return open_workspace(folder, tools=[stock], config=settings, rules={"stock": "ask"}, answer=lambda _: "once")


async def ask_server(workspace: Workspace, tool: str, **arguments: str) -> Result:
    """A tool of a server is called `server_tool`, here as by a model."""
    return await workspace.call(tool, **arguments)


async def serve(workspace: Workspace, port: int, say: Callable[[str], None] = print) -> None:
    """Runs until it is cancelled. Whoever has the token may call `stock` and `read`, under the rules here."""
    await serve_mcp(workspace, http=port, tools=["stock", "read"], say=say)


async def main(port: int) -> None:
    async with opened(servers=dict(SERVERS)) as workspace:
        print((await ask_server(workspace, "time_get_current_time", timezone="Europe/Oslo")).output)
        await serve(workspace, port)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))

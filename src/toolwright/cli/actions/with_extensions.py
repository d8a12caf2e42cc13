"""A workspace with what servers and plugins bring, for commands that only list."""

from toolwright.extensions import has_plugins
from toolwright.workspace import Workspace


async def join(workspace: Workspace) -> None:
    """Know the agents and commands of MCP servers and plugins; nothing is started where the settings name none."""
    if not workspace.settings.mcp and not has_plugins(workspace.config):
        return
    async with workspace:
        if workspace.settings.mcp:
            await workspace.mcp.known()
        if workspace.plugins is not None:
            await workspace.plugins.described()

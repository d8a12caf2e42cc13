"""The programs that attend to changes in a folder: language servers that are at work, and formatters."""

import os
from typing import Any

from toolwright.lsp.pool import Slot
from toolwright.server.asking import Ask, Routes
from toolwright.workspace import Workspace

routes = Routes()

_STATUS = {"running": "connected", "waiting": "error"}
"""What clients call the states of a server; one that starts, or that is not needed, is not at work."""


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


def _server(workspace: Workspace, slot: Slot) -> dict[str, str]:
    name = slot.found.server.id
    root = os.path.relpath(slot.found.root, workspace.directory)
    return {"id": name, "name": name, "root": "" if root == "." else root, "status": _STATUS[slot.state]}

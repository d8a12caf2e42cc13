"""A workspace whose only language server is the scripted one, for files that end in .scr."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.waiting import until
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

SERVER = (Path(__file__).parent / "scripted_server.py").read_text()
"""The program itself: a box does not show the file where the checkout lies in a temporary folder."""


def server(project: Path, mode: str = "") -> dict[str, Any]:
    """The scripted server as a configuration writes it."""
    command = [sys.executable, "-c", SERVER, mode, str(notes_of(project))]
    return {"scripted": {"command": command, "extensions": [".scr"]}}


def stage(project: Path, mode: str = "", *, boxed: bool = True, **more: Any) -> Workspace:
    """Open a workspace with the server. One that is not `boxed` leaves notes, which lie outside of the project."""
    sandbox = {} if boxed else {"sandbox": {"mode": "off"}}
    config: Mapping[str, Any] = {
        "permission": "allow",
        "lsp": server(project, mode),
        **sandbox,
        **more.pop("config", {}),
    }
    return make_workspace(project, config=config, environment={"PATH": os.environ["PATH"]}, **more)


def notes_of(project: Path) -> Path:
    return project.parent / "notes"


def started(project: Path) -> list[int]:
    """Return the processes that were started as the server without a box, in order."""
    notes = notes_of(project).read_text().splitlines() if notes_of(project).exists() else []
    return [int(line.split()[1]) for line in notes if line.startswith("pid ")]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def warmed(workspace: Workspace, *names: str) -> None:
    """Return when these files are open in their server."""
    wanted = {workspace.directory / name for name in names}
    slots = workspace.languages.pool.slots

    def opened() -> bool:
        return wanted <= {path for slot in slots.values() if slot.client for path in slot.client.documents}

    await until(opened)

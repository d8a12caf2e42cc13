"""Workspaces with scripted servers."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

SCRIPT = Path(__file__).parent / "scripted.py"


def scripted(*habits: str, **more: Any) -> dict[str, Any]:
    """The configuration of a scripted server."""
    return {"type": "local", "command": [sys.executable, "-I", str(SCRIPT), *habits], **more}


Served = Callable[..., Workspace]


@pytest.fixture
def served(project: Path) -> Served:
    """A workspace with a server `s` of these habits."""

    def make(*habits: str, user: Any = None, settings: Any = None, config: Any = None, **more: Any) -> Workspace:
        servers = {"mcp": {"s": scripted(*habits, **(settings or {}))}, **(config or {})}
        return make_workspace(project, config=servers, user=user, **more)

    return make

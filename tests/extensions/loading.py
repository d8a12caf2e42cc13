"""Files with tools, loaded: by calls that name one of them, or all at once."""

import shutil
from importlib.util import find_spec

import pytest

from toolwright.process.programs import nodejs
from toolwright.workspace import Workspace

HAS_NODE = shutil.which("node") is not None or find_spec(nodejs.PACKAGE) is not None
needs_node = pytest.mark.skipif(not HAS_NODE, reason="node is not installed")


async def have_all_loaded(workspace: Workspace) -> None:
    """Load every file with tools, as for a list of all."""
    assert workspace.registry.refresh is not None
    await workspace.registry.refresh("")

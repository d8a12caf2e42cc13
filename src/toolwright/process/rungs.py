"""What puts up a box: bubblewrap, Landlock or macOS, by one and the same two steps."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolwright.process import bubblewrap, landlock, seatbelt
from toolwright.process.box import Box, Wrapped


def put_up(box: Box) -> Wrapped:
    """The walls alone: what comes before a command, which may be the same for several."""
    match box.rung:
        case "bubblewrap":
            return bubblewrap.put_up(box, shutil.which("bwrap") or "bwrap")
        case "landlock":
            return landlock.put_up(box)
        case "seatbelt":
            return seatbelt.put_up(box)
        case "none":
            return Wrapped(argv=())


def within(walls: Wrapped, box: Box, argv: Sequence[str], cwd: Path) -> Wrapped:
    """A command in its folder within such walls."""
    entered = ("--chdir", str(cwd), "--") if box.rung == "bubblewrap" else ()
    disk = (cwd,) if box.rung == "none" else (cwd, box.temp)
    return replace(walls, argv=(*walls.argv, *entered, *argv), disk=disk)

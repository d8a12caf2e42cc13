"""Mechanisms that put up a box: bubblewrap, Landlock or macOS, by one and the same two steps."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolwright.process.box import bubblewrap, landlock, seatbelt
from toolwright.process.box.box import Box, Wrapped
from toolwright.process.box.mounts import exact_places, layout
from toolwright.process.keeper.order import READY


def put_up(box: Box, bwrap: str = "") -> Wrapped:
    """The walls alone: what comes before a command, which may be the same for several; `bwrap` is bubblewrap's path."""
    match box.rung:
        case "bubblewrap":
            return bubblewrap.put_up(box, bwrap)
        case "landlock":
            return landlock.put_up(box)
        case "seatbelt":
            return seatbelt.put_up(box)
        case "none":
            return Wrapped(argv=())


def within(walls: Wrapped, box: Box, argv: Sequence[str], cwd: Path, *, beside_others: bool = False) -> Wrapped:
    """A command in its folder within such walls. Others that are at work already may want to bring them down.

    We look at what we mount ourselves as we do it. Bubblewrap is made to wait until its box has been looked at.
    """
    looked_at = beside_others and box.rung == "bubblewrap"
    waiting = ("--file", READY, "/dev/.toolwright") if looked_at else ()
    entered = (*waiting, "--chdir", str(cwd), "--") if box.rung == "bubblewrap" else ()
    disk = (cwd,) if box.rung == "none" else (cwd, box.temp)
    exact = tuple(exact_places(box, layout(box))) if looked_at else ()
    return replace(walls, argv=(*walls.argv, *entered, *argv), boxed=box.rung != "none", disk=disk, exact=exact)

"""Boxes put up by Landlock, with namespaces for what it cannot say where the machine allows them."""

from collections.abc import Iterable
from pathlib import Path

from toolwright.process.box import EVERYTHING, SYSTEM, TEMP_FOLDERS, Box, Wrapped, temporary
from toolwright.process.keeper.order import Confinement
from toolwright.process.layout import exact_places, layout
from toolwright.process.sight import is_in

DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "shm", "fd")
TERMINALS = "pts"
"""Only where they are the box's own: those of the user are open to whoever may write here."""


def put_up(box: Box) -> Wrapped:
    """What the keeper does to the process before it becomes the command."""
    readable = [EVERYTHING] if EVERYTHING in box.readable else [*SYSTEM, Path("/proc"), Path("/dev"), *box.readable]
    temp = TEMP_FOLDERS if box.mounts else (box.temp,)
    devices = (*DEVICES, TERMINALS) if box.mounts else DEVICES
    private = (one.target for one in box.private)
    writable = _outermost([*temp, *box.writable, *private, *box.granted, *(Path("/dev", name) for name in devices)])
    mounts = layout(box) if box.mounts else []
    confinement: Confinement = {
        "mounts": mounts,
        "exact": exact_places(box, mounts),
        "own_processes": box.anchored,
        "readable": [str(place) for place in readable],
        "writable": [str(place) for place in writable],
        "network": box.network,
    }
    return Wrapped(argv=(), env=temporary(temp[0]), confinement=confinement, anchored=box.anchored)


def _outermost(places: Iterable[Path]) -> list[Path]:
    """Without those that lie in another, which holds for them too: each costs every command some time."""
    found = list[Path]()
    for place in sorted(dict.fromkeys(places), key=lambda place: len(place.parts)):
        if not is_in(place, found):
            found.append(place)
    return found

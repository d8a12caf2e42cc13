"""Boxes put up by Landlock, with namespaces for what it cannot say where the machine allows them."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from toolwright.process.box.box import EVERYTHING, SYSTEM, TEMP_FOLDERS, Box, Wrapped, temporary
from toolwright.process.box.mounts import exact_places, layout
from toolwright.process.keeper.order import KernelConfinement
from toolwright.process.paths.safe_stat import is_in

DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "shm", "fd")
TERMINALS = "pts"
"""Only where they are the box's own: those of the user are open to whoever may write here."""


def put_up(box: Box) -> Wrapped:
    """Return the keeper's steps before the process becomes the command."""
    readable = [EVERYTHING] if EVERYTHING in box.readable else [*SYSTEM, Path("/proc"), Path("/dev"), *box.readable]
    listed = list[Path]()
    if not box.mounts:
        # What cannot be covered is left out of what may be read.
        shut = {*box.places("empty"), *box.hidden}
        listed = [place for place in readable if any(is_in(one, [place]) for one in shut)]
        readable = [*_beside(readable, shut), *box.places("show")]
    temp = TEMP_FOLDERS if box.mounts else (box.temp,)
    devices = (*DEVICES, TERMINALS) if box.mounts else DEVICES
    open_ = box.places("write", "own", "open")
    writable = _outermost([*temp, *open_, *(Path("/dev", name) for name in devices)])
    mounts = layout(box) if box.mounts else []
    confinement: KernelConfinement = {
        "mounts": mounts,
        "exact": exact_places(box, mounts),
        "own_processes": box.anchored,
        "listed": [str(place) for place in listed],
        "readable": [str(place) for place in readable],
        "writable": [str(place) for place in writable],
        "network": box.network,
        "own_space": box.own_space,
    }
    return Wrapped(argv=(), env=temporary(temp[0]), confinement=confinement, anchored=box.anchored)


def _beside(readable: Iterable[Path], shut: Collection[Path]) -> Iterator[Path]:
    """Yield what may be read with all that is in it, so that nothing shut is: what lies beside it on every level."""
    on_the_way = {folder for place in shut for folder in place.parents}
    waiting = [place for place in readable if not is_in(place, shut)]
    while waiting:
        place = waiting.pop()
        if place in on_the_way:
            waiting += (entry for entry in _entries(place) if entry not in shut)
        else:
            yield place


def _entries(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder but links: what they lead to is judged where it lies."""
    try:
        with os.scandir(folder) as entries:
            yield from (Path(entry.path) for entry in entries if not entry.is_symlink())
    except OSError:
        return


def _outermost(places: Iterable[Path]) -> list[Path]:
    """Without those that lie in another, which holds for them too: each costs every command some time."""
    outermost = list[Path]()
    for place in sorted(dict.fromkeys(places), key=lambda place: len(place.parts)):
        if not is_in(place, outermost):
            outermost.append(place)
    return outermost

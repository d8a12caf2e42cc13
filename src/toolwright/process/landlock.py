"""Boxes put up by Landlock, with a mount namespace for what it cannot say where the machine allows one."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from toolwright.process.box import EVERYTHING, SYSTEM, TEMP_FOLDERS, Box, Wrapped
from toolwright.process.keeper.order import Confinement, Mount

DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd")

SHARED = tuple(Path("/dev", name) for name in ("shm", "pts", "mqueue"))


def wrap(box: Box, argv: Sequence[str]) -> Wrapped:
    """The command, with what the keeper does to the process before it becomes the command."""
    readable = [EVERYTHING] if EVERYTHING in box.readable else [*SYSTEM, Path("/proc"), Path("/dev"), *box.readable]
    temp = TEMP_FOLDERS if box.mounts else (box.temp,)
    writable = [*temp, *box.writable, *(Path("/dev", name) for name in DEVICES)]
    confinement: Confinement = {
        "mounts": list(_mounts(box)) if box.mounts else [],
        "readable": [str(place) for place in readable],
        "writable": [str(place) for place in writable],
        "network": box.network,
    }
    return Wrapped(argv=tuple(argv), env={"TMPDIR": str(temp[0])}, confinement=confinement)


def _mounts(box: Box) -> Iterable[Mount]:
    """The temporary folders come last: before that, what lies in the real ones can still be named."""
    writable = dict.fromkeys((*sorted(box.writable, key=lambda place: len(place.parts)), *box.pinned, *SHARED))
    yield from (_mount("bind", place) for place in writable if place.exists())
    yield from (_mount("read-only", place) for place in box.protected)
    yield from (_mount("hide", place) for place in box.hidden)
    for folder in TEMP_FOLDERS:
        if folder not in box.writable and folder.is_dir() and not folder.is_symlink():
            seen = [place for place in (*box.shown, *box.writable) if place.is_relative_to(folder)]
            keep = [str(place) for place in seen if place.exists()]
            yield {"kind": "replace", "source": str(box.temp), "target": str(folder), "keep": keep}


def _mount(kind: str, place: Path) -> Mount:
    return {"kind": kind, "source": "", "target": str(place), "keep": []}

"""Boxes put up by bubblewrap: everything read-only but what is bound to be written, in a PID namespace of its own."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from toolwright.process.box import EVERYTHING, SYSTEM, TEMP_FOLDERS, Box, Wrapped
from toolwright.process.keeper.capabilities import KEPT
from toolwright.process.keeper.order import STATUS

CONTROLS = ("sys", "sysrq-trigger", "fs", "scsi", "acpi", "mtrr")
"""Parts of /proc that steer the whole machine, and that root may write whatever namespace it is in."""


def wrap(box: Box, program: str, argv: Sequence[str], cwd: Path) -> Wrapped:
    """The command within its box, by the bubblewrap at `program`."""
    options = [
        *_view(box),
        *_temp(box),
        *_pairs("--ro-bind", box.shown),
        *_pairs("--bind", sorted({*box.writable, *box.pinned}, key=_depth)),
        *_pairs("--ro-bind", box.protected),
        *_hidden(box.hidden),
        *(() if box.network else ("--unshare-net",)),
        *_privileges(),
    ]
    status = ("--json-status-fd", STATUS)
    whole = (program, *status, "--unshare-pid", *options, "--chdir", str(cwd), "--", *argv)
    return Wrapped(argv=whole, env={"TMPDIR": str(TEMP_FOLDERS[0])})


def _view(box: Box) -> Iterable[str]:
    if EVERYTHING in box.readable:
        yield from ("--ro-bind", "/", "/")
    else:
        places = [place for place in (*SYSTEM, *box.readable) if place.exists()]
        yield from ("--tmpfs", "/")
        for place in sorted(places, key=_depth):
            link = place.is_symlink()
            yield from ("--symlink", str(place.readlink()), str(place)) if link else ("--ro-bind", *[str(place)] * 2)
    yield from ("--dev", "/dev", "--proc", "/proc")
    for name in CONTROLS if os.geteuid() == 0 else ():
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")


def _temp(box: Box) -> Iterable[str]:
    """Who was given the system's own temporary folder keeps it."""
    for folder in TEMP_FOLDERS:
        if folder not in box.writable and folder.is_dir() and not folder.is_symlink():
            yield from ("--bind", str(box.temp), str(folder))


def _hidden(hidden: Sequence[Path]) -> Iterable[str]:
    """Bubblewrap binds without devices, and where those are off nobody can open one: /dev/null is a closed door."""
    for place in hidden:
        if place.is_dir():
            yield from ("--tmpfs", str(place), "--remount-ro", str(place))
        else:
            yield from ("--ro-bind", "/dev/null", str(place))


def _privileges() -> Iterable[str]:
    if sys.platform == "linux" and os.geteuid() == 0:
        yield from ("--cap-drop", "ALL")
        for name in KEPT:
            yield from ("--cap-add", name)


def _pairs(option: str, places: Iterable[Path]) -> Iterable[str]:
    for place in places:
        yield from (option, str(place), str(place))


def _depth(place: Path) -> int:
    return len(place.parts)

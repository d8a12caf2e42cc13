"""Boxes put up by bubblewrap: everything read-only but what is bound to be written, in namespaces of its own."""

import os
import sys
from collections.abc import Iterable

from toolwright.process.box.box import EVERYTHING, SYSTEM, TEMP_FOLDERS, Box, Wrapped, temporary
from toolwright.process.box.mounts import layout
from toolwright.process.keeper.capabilities import KEPT
from toolwright.process.keeper.order import FILTER, OFFLINE, STATUS
from toolwright.process.keeper.seccomp import MACHINES
from toolwright.process.paths.safe_stat import is_there

CONTROLS = ("sys", "sysrq-trigger", "fs", "scsi", "acpi", "mtrr")
"""Parts of /proc that steer the whole machine, and that root may write whatever namespace it is in."""


def put_up(box: Box, program: str) -> Wrapped:
    """The box by the bubblewrap at `program`; the folder and the command are still to come."""
    network = () if box.network else ("--unshare-net",)
    status = ("--json-status-fd", STATUS)
    options = (*_view(box), *_mounts(box), *network, *_privileges(box))
    return Wrapped(
        argv=(program, *status, "--unshare-pid", "--unshare-ipc", *options),
        env=temporary(TEMP_FOLDERS[0]),
        anchored=box.anchored,
        scoped=box.scoped,
    )


def _view(box: Box) -> Iterable[str]:
    if EVERYTHING in box.readable:
        yield from ("--ro-bind", "/", "/")
    else:
        places = [*filter(is_there, SYSTEM), *box.readable]
        yield from ("--tmpfs", "/")
        for place in sorted(places, key=lambda place: len(place.parts)):
            link = place.is_symlink()
            yield from ("--symlink", str(place.readlink()), str(place)) if link else ("--ro-bind", *[str(place)] * 2)
    yield from ("--dev", "/dev", "--proc", "/proc")
    for name in CONTROLS if os.geteuid() == 0 else ():
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")


def _mounts(box: Box) -> Iterable[str]:
    for mount in layout(box):
        match mount["kind"]:
            case "bind":
                yield from ("--bind", mount["source"], mount["target"])
            case "read-only":
                yield from ("--ro-bind", mount["source"], mount["target"])
            case "empty":
                yield from ("--tmpfs", mount["target"])
            case _:
                yield from ("--remount-ro", mount["target"])


def _privileges(box: Box) -> Iterable[str]:
    if (box.own_space or not box.network) and os.uname().machine in MACHINES:
        yield from ("--seccomp", OFFLINE)
    elif sys.platform == "linux" and os.geteuid() == 0:
        yield from ("--seccomp", FILTER)
    if sys.platform == "linux" and os.geteuid() == 0:
        yield from ("--cap-drop", "ALL")
        for name in KEPT:
            yield from ("--cap-add", name)

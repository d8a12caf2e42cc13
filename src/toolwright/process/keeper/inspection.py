"""Inspection of a box that was put up: a job at work may have put a link in the place of a folder meanwhile."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH123

import fcntl
import os
import re
import select

from . import family

ROOT = b"/newroot"
"""The name by which bubblewrap calls the root of a box until the very end."""
SMALL = 4096
PATIENCE = 20_000
"""Milliseconds for a box to be put up."""
_ESCAPED = re.compile(rb"\\([0-7]{3})")


def full_pipe() -> tuple[int, int]:
    """A pipe that can be written again once somebody reads it, which bubblewrap does when it has mounted everything."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, SMALL)
        while True:
            os.write(writing, b"\n" * SMALL)
    except BlockingIOError:
        return reading, writing


def came_out(writing: int, exact: list[str]) -> bool:
    """Wait until all is mounted, and see whether each of these places is itself and nowhere else."""
    poll = select.poll()
    poll.register(writing, select.POLLOUT)
    events = [event for _, event in poll.poll(PATIENCE)]
    if any(event & select.POLLERR for event in events):
        # It has ended before, and says why.
        return True
    ours = _mounted("self")
    boxes = [_mounted(str(pid)) for pid in family.descendants(family.ourselves())]
    inside = next((one for one in boxes if ROOT in one), {})
    return bool(events) and all(inside.get(ROOT + place) == _origin(ours, place) for place in map(os.fsencode, exact))


def _mounted(process: str) -> dict[bytes, bytes]:
    """Return the mounts of a process: each place with what of its disk is there."""
    try:
        with open(f"/proc/{process}/mountinfo", "rb") as file:
            lines = [line.split(b" ", 5) for line in file]
    except OSError:
        return {}
    return {_plain(place): _plain(origin) for _, _, _, origin, place, _ in lines}


def _origin(mounted: dict[bytes, bytes], place: bytes) -> bytes:
    """Return the path of a place on its disk."""
    around = place
    while around not in mounted and around:
        around = around.rpartition(b"/")[0]
    return mounted.get(around or b"/", b"").rstrip(b"/") + place[len(around) :]


def _plain(text: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), text)

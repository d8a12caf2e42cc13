"""Puts back what a process has half written as soon as it is killed: another one of ours waits beside it for that.

Run as `python -m toolwright.files.mending DATA PID`; it waits for the end of its input, which the kernel closes.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolwright.files.images import Images
from toolwright.files.lock import Locks
from toolwright.files.pending import PendingWrites
from toolwright.process.programs.detached import surviving

PATIENCE = 30.0
"""Seconds in which the kernel has let go of all that a killed process has held."""
_STEP = 0.01


@contextmanager
def mended_at_once(data: Path) -> Iterator[None]:
    """Have changes of the block that a kill cuts in two put back right then, and not by the next program of ours."""
    with surviving(__name__, str(data), str(os.getpid())):
        yield


def mend(data: Path, pid: str) -> None:
    """Put back what the process of this number has left, once it is dead."""
    pending = PendingWrites(data / "pending", Images(data / "undo" / "images"), Locks(data / "locks"))
    until = time.monotonic() + PATIENCE
    while any((data / "pending").glob(f"{pid}-*")) and time.monotonic() < until:
        pending.recover()
        time.sleep(_STEP)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    mend(Path(sys.argv[1]), sys.argv[2])

"""Our own programs that live on when we end: begun apart from this terminal, or begun again when they are killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from toolwright.machine.private_files import open_private

RESTARTS, WITHIN = 5, 60.0
"""So many starts within so many seconds: more is a program that cannot live."""
_OURS = (sys.executable, "-P", "-m", "toolwright")
"""Nothing of the folder that we are started in is imported, whatever it calls itself."""


def begin_apart(arguments: Sequence[str], log: Path, environment: Mapping[str, str]) -> int:
    """Start a command of ours that neither the end of this program nor that of its terminal ends; return its number."""
    with open_private(log, append=True) as printed, Path(os.devnull).open("rb") as nothing:
        files = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), 0)]
        files += [(os.POSIX_SPAWN_DUP2, printed.fileno(), number) for number in (1, 2)]
        command = [*_OURS, *arguments]
        return os.posix_spawn(command[0], command, dict(environment), file_actions=files, setsid=True)


@contextmanager
def surviving(module: str, *arguments: str) -> Iterator[None]:
    """Have a module of ours run beside the block, apart from this terminal; it reads the end of its input if we die.

    Where the block ends by itself it is killed, and has to be able to bear that at any moment.
    """
    process = subprocess.Popen(
        [*_OURS[:-1], module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield
    finally:
        with process:
            process.kill()


def has_ended(pid: int) -> bool:
    """Tell whether one that was begun here is over already."""
    return os.waitpid(pid, os.WNOHANG)[0] == pid


def keep_alive(arguments: Sequence[str]) -> bool:
    """Run a command of ours, and again as often as it is killed; True once it has ended in order."""
    os.chdir("/")
    begun: list[float] = []
    ended: list[bool] = []
    children: list[subprocess.Popen[bytes]] = []

    def end(_: int, __: object) -> None:
        ended.append(True)
        for child in children:
            child.terminate()

    signal.signal(signal.SIGTERM, end)
    while len(begun) < RESTARTS or time.monotonic() - begun[-RESTARTS] > WITHIN:
        begun.append(time.monotonic())
        children[:] = [subprocess.Popen([*_OURS, *arguments])]
        if children[0].wait() == 0 or ended:
            return True
    return False

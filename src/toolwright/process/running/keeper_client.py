"""Our end of the keeper: starts it when it is first needed, hands orders to it, and lets it go."""

import asyncio
import os
import signal
import socket
import struct
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.process.running.quota import Quota, end_quota, make_quota

HEADER = struct.Struct("!I")
BOOT = (
    "import sys; sys.path.append(sys.argv[1]); from keeper.server import serve;"
    " serve(0, int(sys.argv[2]), sys.argv[3] == 'anchored', *sys.argv[4:])"
)
HANDED_DOWN = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All the keeper knows of our environment: what other programs may read of a process should hold no secret."""
PAUSE, TRIES = 0.002, 1000
"""Seconds between two looks whether the keeper has ended, once it has been let go, and how many there are."""


class Keeper:
    """One process that starts programs for us. If it is killed, the next order starts another."""

    def __init__(self, processes: int, memory: int, *, anchored: bool = False) -> None:
        """`anchored` has the kernel end all of a scope with its leader, where it can."""
        self._processes, self._memory, self._anchored = processes, memory, anchored
        self._pid = 0
        self._socket: socket.socket | None = None
        self.quota = Quota()
        """Limits to which the system holds commands, once the keeper is there."""

    def ensure(self) -> socket.socket:
        """The socket to a keeper that runs, or is about to."""
        if self._socket is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self.quota = make_quota(processes=self._processes, memory=self._memory)
                try:
                    self._pid = _spawn(theirs.fileno(), self._processes, self._anchored, self.quota)
                except BaseException:
                    ours.close()
                    end_quota(self.quota)
                    raise
            self._socket = ours
            # Whoever forgets to close us still lets the keeper go, without a complaint about an open socket.
            weakref.finalize(self, ours.close)
        return self._socket

    def send(self, order: bytes, descriptors: Sequence[int]) -> socket.socket:
        """Hand an order over; the answer is the socket on which its leader reports and listens."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._hand_over(order, [*descriptors, theirs.fileno()])
            except ConnectionError:
                self._forget()
                self._hand_over(order, [*descriptors, theirs.fileno()])
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        return ours

    async def close(self) -> None:
        """Let the keeper go, and wait until it has."""
        if self._socket is None:
            return
        self._socket.close()
        self._socket = None
        for _ in range(TRIES):
            if self._is_gone():
                break
            await asyncio.sleep(PAUSE)
        else:
            self._kill()
        end_quota(self.quota)

    def _hand_over(self, order: bytes, descriptors: Sequence[int]) -> None:
        connection = self.ensure()
        socket.send_fds(connection, [HEADER.pack(len(order))], descriptors)
        connection.sendall(order)

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._is_gone()
        end_quota(self.quota)

    def _kill(self) -> None:
        """One that does not go by itself has been stopped."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._is_gone()

    def _is_gone(self) -> bool:
        try:
            return os.waitpid(self._pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True


def _spawn(descriptor: int, processes: int, anchored: bool, quota: Quota) -> int:
    folder = Path(__file__).parents[1]
    kind = "anchored" if anchored else "plain"
    argv = [sys.executable, "-I", "-S", "-c", BOOT, str(folder), str(processes), kind, *map(str, quota.groups)]
    files = [
        (os.POSIX_SPAWN_DUP2, descriptor, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    env = {name: os.environ[name] for name in HANDED_DOWN if name in os.environ}
    try:
        return os.posix_spawn(sys.executable, argv, env, file_actions=files)
    except OSError as error:
        # The error names the program, whatever it was that could not be opened.
        missing = next((one for one in (os.devnull, sys.executable) if not os.access(one, os.R_OK)), None)
        if missing is None:
            raise
        problem = (
            f"No command can be started, since {missing} is not there. Have it where toolwright runs, then try again."
        )
        raise ToolError(problem, "missing") from error

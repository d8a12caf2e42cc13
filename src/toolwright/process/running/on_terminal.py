"""Programs on a terminal of their own, for a person elsewhere, who sees what they print and types into them.

They are the person's own: nothing of ours is around them. They end with us, and when their terminal is closed.
"""

import asyncio
import codecs
import fcntl
import os
import signal
import struct
import sys
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolwright.process.running.child import Child

KEPT = 1024 * 1024
"""Characters of what was printed last that whoever connects later is shown, and bytes typed that may wait."""
PIECE = 64 * 1024
_BEGIN = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "try: os.execvp(sys.argv[1], sys.argv[1:])\n"
    "except OSError as error: sys.exit(f'{sys.argv[1]}: {error.strerror}')"
)
"""Makes the terminal the program's own, which only the program itself can do, and becomes it."""


class OnTerminal:
    """A program on a terminal. OSError if there is none to be had."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], ended: Callable[[int], None]) -> None:
        """`ended` is told the exit code once the program is over; negative for the signal that ended it."""
        self._loop = asyncio.get_running_loop()
        self._ended = ended
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._typed = bytearray()
        self.printed = ""
        """The last of its output."""
        self.followers: set[Callable[[str], None]] = set()
        self._fd, theirs = os.openpty()
        try:
            command = [sys.executable, "-ISc", _BEGIN, *argv]
            self._child = Child(command, cwd=cwd, env=env, terminal=theirs, at_once=True)
        except BaseException:
            os.close(self._fd)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._fd, False)
        self._loop.add_reader(self._fd, self._read)
        threading.Thread(target=self._wait, daemon=True, name="terminal").start()

    @property
    def pid(self) -> int:
        return self._child.pid

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """Give it what was typed; more than it can hold, because it reads nothing, is lost."""
        if self._fd < 0 or len(self._typed) > KEPT:
            return
        self._typed += text.encode("utf-8", "replace")
        self._write()

    def close(self) -> None:
        """End the program and what it has left running on its terminal."""
        running = [pid for pid in _pids() if _session_of(pid) == self.pid]
        self._child.kill()
        for pid in running:
            with suppress(OSError):
                if _session_of(pid) == self.pid:
                    os.kill(pid, signal.SIGKILL)
        self._hang_up()

    def _write(self) -> None:
        with suppress(BlockingIOError):
            try:
                del self._typed[: os.write(self._fd, self._typed)]
            except OSError as error:
                if isinstance(error, BlockingIOError):
                    raise
                self._typed.clear()
        if self._typed:
            self._loop.add_writer(self._fd, self._write)
        else:
            self._loop.remove_writer(self._fd)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, PIECE)
        except BlockingIOError:
            return
        except OSError:  # the other end is closed
            data = b""
        if not data:
            self._loop.remove_reader(self._fd)
            return
        text = self._decoder.decode(data)
        self.printed = (self.printed + text)[-KEPT:]
        for tell in list(self.followers):
            tell(text)

    def _wait(self) -> None:
        code = self._child.wait()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._over, code)

    def _over(self, code: int) -> None:
        if self._fd >= 0:
            self._read()
        self._hang_up()
        self._child.leave()
        self._ended(code)

    def _hang_up(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1


def _pids() -> list[int]:
    """Return all there are, where the system lists them in a folder; elsewhere the terminal's end has to do."""
    with suppress(OSError):
        return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return []


def _session_of(pid: int) -> int:
    with suppress(OSError):
        return os.getsid(pid)
    return 0

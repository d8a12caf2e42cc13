"""Output of a program: read as it comes, both ends kept in memory, the whole kept in a file if it is long."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MEMORY = 256 * 1024
"""Bytes up to which an output is simply kept; of a longer one this much of the beginning stays in memory."""
TAIL = 64 * 1024
"""Bytes of the end of a longer one that stay in memory."""
CAP = 64 * 1024 * 1024
"""Bytes of an output that go to its file before the rest is left out."""
NARROW, WIDE = 64 * 1024, 1024 * 1024
"""Sizes of a pipe at first, and when it is found full."""
PAUSE = 0.001
"""Seconds to let more gather, so that a hundred thousand small writes cost a hundred reads."""
GATHER = 0.0002
"""Seconds between the reads of a flood."""
ROUNDS = 16
"""Reads of a flood before others on the event loop have their turn."""


class ProgramOutput:
    """The bytes a program has printed, in bounded memory."""

    def __init__(self, new_file: Callable[[], Path], *, cap: int = CAP) -> None:
        """`new_file` names the file for the whole, and is called only if it takes one."""
        self.size = 0
        self.path: Path | None = None
        """The file that has all of it, up to `cap`; None while memory holds it all."""
        self._new_file = new_file
        self._cap = cap
        self._head = bytearray()
        self._tail = bytearray()
        self._spilled = False
        self._file = -1
        self._in_file = 0

    def feed(self, data: "memoryview[int] | bytes") -> None:
        self.size += len(data)
        room = MEMORY - len(self._head)
        if not self._spilled and len(data) <= room:
            self._head += data
            return
        self._spill(data)
        self._head += data[:room]
        self._tail += data[room:][-TAIL:]
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    @property
    def head(self) -> bytes:
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        """The end of a long output; empty while `head` is all there is."""
        return bytes(self._tail[-TAIL:])

    @property
    def missing(self) -> int:
        """Bytes between head and tail that are not in memory."""
        return self.size - len(self._head) - len(self._tail[-TAIL:])

    def since(self, start: int) -> bytes:
        """Return the output after so many bytes, as far as it is in memory."""
        if start < len(self._head):
            return bytes(self._head[start:]) + self.tail
        return self.tail[-(self.size - start) :] if start < self.size else b""

    def close(self) -> None:
        """Finish the file. One that could not take all ends with a note and the end of the output."""
        if self._file < 0:
            return
        left_out = self.size - self._in_file
        if left_out:
            tail = self.tail[-left_out:]
            note = f"\n\n[{left_out - len(tail)} bytes of output were not kept here]\n\n"
            _write_all(self._file, note.encode() + tail)
        os.close(self._file)
        self._file = -1

    def _spill(self, data: "memoryview[int] | bytes") -> None:
        if not self._spilled:
            self._spilled = True
            # Where no file can be made, the ends in memory are all there is.
            with suppress(OSError):
                path = self._new_file()
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                self.path = path
                _write_all(self._file, self._head)
                self._in_file = len(self._head)
        room = self._cap - self._in_file
        if room > 0 and self._file >= 0:
            _write_all(self._file, data[:room])
            self._in_file += min(room, len(data))


class OutputReader:
    """Feeds an output from a pipe. Others on the event loop are not held up, however fast the pipe is."""

    def __init__(self, descriptor: int, output: ProgramOutput, on_data: Callable[[], None] = lambda: None) -> None:
        self.output = output
        self._descriptor = descriptor
        self._on_data = on_data
        self._view = memoryview(bytearray(NARROW))
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._capacity = NARROW
        self._wait()

    def drain(self) -> None:
        """Take in whatever the pipe holds at this moment."""
        while self._descriptor >= 0 and self._read():
            pass

    def close(self) -> None:
        """Read no more. What the pipe still holds is taken in first."""
        self.drain()
        self._detach()
        self.output.close()

    def _wait(self) -> None:
        self._timer = None
        self._loop.add_reader(self._descriptor, self._readable)

    def _readable(self) -> None:
        """Read what there is, then let more gather: a read costs the same however little it brings."""
        count = self._read()
        if count >= self._capacity // 2:
            self._follow_flood()
        self._on_data()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            self._timer = self._loop.call_later(PAUSE, self._wait)

    def _follow_flood(self) -> None:
        """A full pipe keeps its writer waiting. The loop cannot wait for less than a millisecond, in which a fast one
        would fill it many times over, so a few short waits are made here."""
        self._widen()
        for _ in range(ROUNDS):
            time.sleep(GATHER)
            if self._descriptor < 0 or self._read() < self._capacity // 4:
                return

    def _widen(self) -> None:
        """Room for the program to go on while we are busy elsewhere. Where the system refuses, it waits instead."""
        if self._capacity == NARROW and sys.platform == "linux":
            import fcntl

            with suppress(OSError):
                self._capacity = fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, WIDE)
                self._view = memoryview(bytearray(self._capacity))

    def _read(self) -> int:
        try:
            count = os.readv(self._descriptor, [self._view])
        except BlockingIOError:
            return 0
        if not count:
            self._detach()
            return 0
        self.output.feed(self._view[:count])
        return count

    def _detach(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            self._descriptor = -1


def _write_all(descriptor: int, data: "memoryview[int] | bytes | bytearray") -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

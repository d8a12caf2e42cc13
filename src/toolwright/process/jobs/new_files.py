"""Tells when something new is in a few folders: one descriptor on the event loop, where the system has such a thing."""

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

MADE, MOVED_HERE, ONLY_FOLDERS = 0x100, 0x80, 0x01000000
PAUSE = 0.05
"""Seconds between two looks: whoever makes a thousand files a second is not to keep us from everything else."""
PIECE = 64 * 1024


class Arrivals:
    """Watches from `watch` to `close`, and can be used again. Where nothing can be watched, nothing is told."""

    def __init__(self, on_arrival: Callable[[], None]) -> None:
        self._on_arrival = on_arrival
        self._loop: asyncio.AbstractEventLoop | None = None
        self._descriptor = -1
        self._next: asyncio.TimerHandle | None = None

    def watch(self, folders: Iterable[Path]) -> None:
        """Watch some folders. A file that is there by now has arrived too."""
        if self._descriptor < 0 and sys.platform == "linux":
            self._loop = asyncio.get_running_loop()
            libc = ctypes.CDLL(None)
            self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            if self._descriptor < 0:
                return
            for folder in folders:
                libc.inotify_add_watch(self._descriptor, os.fsencode(folder), MADE | MOVED_HERE | ONLY_FOLDERS)
            self._look()

    def close(self) -> None:
        if self._loop is None or self._descriptor < 0:
            return
        if self._next is not None:
            self._next.cancel()
            self._next = None
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1

    def _look(self) -> None:
        """Look for new files; which exactly does not matter: whoever is told looks for himself, and not too often."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._descriptor)
        with suppress(BlockingIOError):
            os.read(self._descriptor, PIECE)
        self._next = loop.call_later(PAUSE, self._listen)
        self._on_arrival()

    def _listen(self) -> None:
        self._next = None
        asyncio.get_running_loop().add_reader(self._descriptor, self._look)

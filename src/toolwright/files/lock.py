"""One writer at a time for each file, among all tasks and processes that share a data folder."""

import asyncio
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.files.disk import open_private

PATIENCE = 30.0
"""Seconds to wait for another writer. A lock is only ever held for the moment of writing."""

_SHARDS = 1024
_MANY = 32
"""A change of more files than this waits for all others and holds one lock, not a descriptor for each."""
_SHORTEST, _LONGEST = 0.0005, 0.02


class Locks:
    """Locks by canonical path. Each belongs to an open file, so the system drops it if its holder dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.held = set[Path]()
        """Files held from here: those that are being changed, until all who are asked have answered."""

    @asynccontextmanager
    async def hold(self, paths: Collection[Path]) -> AsyncIterator[None]:
        """Hold all of these; always taken in the same order, so that two calls cannot wait for each other."""
        with ExitStack() as stack:
            try:
                for handle, shared in self._open(paths, stack):
                    await _take(handle, shared=shared)
            except OSError as error:
                raise ToolError(f"The file cannot be locked for writing: {error.strerror}. Try again later.") from error
            self.held.update(paths)
            try:
                yield
            finally:
                self.held.difference_update(paths)

    @contextmanager
    def try_hold(self, paths: Iterable[Path]) -> Iterator[bool]:
        """Hold all of these if nobody else does now; says whether that was so."""
        with ExitStack() as stack:
            yield all(take_now(handle, shared=shared) for handle, shared in self._open(paths, stack))

    def _open(self, paths: Iterable[Path], stack: ExitStack) -> Iterator[tuple[int, bool]]:
        """The lock files to take, and whether others may hold them too.

        A fixed set of them never needs sweeping; two paths that share one merely wait a moment longer.
        """
        shards = sorted({_shard(path) for path in paths})
        many = len(shards) > _MANY
        for name, shared in (("all", not many), *((f"{shard:03x}", False) for shard in shards if not many)):
            handle = open_private(self._folder / f"{name}.lock", os.O_RDWR | os.O_CREAT)
            stack.callback(os.close, handle)
            yield handle, shared


def take_now(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file if nobody holds it, or if `shared` nobody for himself."""
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


async def _take(handle: int, *, shared: bool) -> None:
    delay, deadline = _SHORTEST, time.monotonic() + PATIENCE
    while not take_now(handle, shared=shared):
        if time.monotonic() > deadline:
            raise ToolError("Another process has been writing this file for too long. Try again later.", "timeout")
        await asyncio.sleep(delay)
        delay = min(2 * delay, _LONGEST)


def _shard(path: Path) -> int:
    return int.from_bytes(hashlib.blake2b(os.fsencode(path), digest_size=2).digest(), "big") % _SHARDS

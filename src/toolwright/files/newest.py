"""The newest of many files, chosen while they come in, in memory that does not grow with their number."""

import os
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

_PENDING = 2048
_PENDING_BYTES = 4 * 1024 * 1024
"""At most so many bytes of findings may wait until the oldest are dropped."""


class Dated(NamedTuple, Generic[T]):
    """A file that was found. Sorts newest first, and by path among those of the same time."""

    age: int
    path: str
    weight: int
    found: T


class Newest(Generic[T]):
    """Keeps the newest files whose weights together reach a limit."""

    def __init__(self, folder: str, limit: int, admit: Callable[[str], bool], *, pending: int = _PENDING) -> None:
        """Paths are relative to the folder. `admit` is asked only about files that would be kept."""
        self.total = 0
        """The weight of all files, kept or not."""
        self.refused = 0
        self._folder = folder
        self._limit = limit
        self._admit = admit
        self._pending = pending
        self._kept: list[Dated[T]] = []
        self._pending_bytes = 0
        self._oldest: int | None = None
        """Once enough are kept: the age from which on a file is too old."""
        self._admitted: set[str] = set()

    def add(self, path: str, weight: int, found: T, *, size: int = 0) -> None:
        """Take a file into account, with the size of what was found; one that is gone already is not."""
        try:
            changed = os.stat(f"{self._folder}/{path}", follow_symlinks=False).st_mtime_ns  # noqa: PTH116 - in bulk
        except OSError:
            return
        self.total += weight
        if self._oldest is not None and -changed > self._oldest:
            return
        self._kept.append(Dated(-changed, path, weight, found))
        self._pending_bytes += size
        if len(self._kept) >= self._pending or self._pending_bytes >= _PENDING_BYTES:
            self._drop_the_rest()

    def files(self) -> list[Dated[T]]:
        """The newest ones, newest first; the last may go beyond the limit."""
        self._drop_the_rest()
        return self._kept

    def _drop_the_rest(self) -> None:
        self._kept.sort(key=_rank)
        kept: list[Dated[T]] = []
        weight = 0
        for file in self._kept:
            if weight >= self._limit:
                self._oldest = kept[-1].age
                break
            if self._may_stay(file):
                kept.append(file)
                weight += file.weight
        self._kept = kept
        self._pending_bytes = 0

    def _may_stay(self, file: Dated[T]) -> bool:
        if file.path in self._admitted:
            return True
        if not self._admit(file.path):
            self.refused += 1
            self.total -= file.weight
            return False
        self._admitted.add(file.path)
        return True


def _rank(file: Dated[T]) -> tuple[int, str]:
    return file.age, file.path

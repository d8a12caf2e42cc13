"""One thing at a time: work waits for its turn, and can be stopped at any moment without leaving anything half done."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any, Generic, TypeVar

from toolwright.record import record

S = TypeVar("S")
T = TypeVar("T")


class Stopped(Exception):
    """Raised out of `QueuedWork.carry_out` when somebody has stopped the work."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@record(slots=True, eq=False)
class QueuedWork(Generic[T]):
    """One piece of work. Only its steps are ever cancelled; what must be done before and after them always is."""

    reason: str = ""
    """Why it is being stopped; empty as long as it is not."""
    on_stop: Callable[[str], None] = lambda _: None
    """Told of the reason just before the steps are cancelled."""
    _whole: "asyncio.Task[T] | None" = None
    _steps: "asyncio.Future[Any] | None" = None

    async def carry_out(self, steps: Callable[[], Awaitable[S]]) -> S:
        """Return what the steps come to, or raise Stopped."""
        begun: asyncio.Future[S] = asyncio.ensure_future(steps())
        self._steps = begun
        if self.reason:
            begun.cancel()
        await asyncio.wait([begun])
        if begun.cancelled():
            raise Stopped(self.reason)
        return begun.result()

    def stop(self, reason: str) -> None:
        """Cancel the steps, or keep them from beginning. Only the first reason counts."""
        if self.reason:
            return
        self.reason = reason
        if self._steps is not None and not self._steps.done():
            self.on_stop(reason)
            self._steps.cancel()


@record(slots=True)
class Queue(Generic[T]):
    """Work in the order it came."""

    _works: list[QueuedWork[T]] = field(default_factory=list[QueuedWork[T]])
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def busy(self) -> bool:
        return bool(self._works)

    async def run(self, job: Callable[[QueuedWork[T]], Awaitable[T]], reason: str) -> T:
        """Do a job when its turn has come. If the caller is cancelled, the job is stopped, with that as the reason."""
        work: QueuedWork[T] = QueuedWork()
        self._works.append(work)
        work._whole = asyncio.create_task(self._in_turn(work, job))
        try:
            return await asyncio.shield(work._whole)
        except asyncio.CancelledError:
            await self._stop([work], reason)
            if not work._whole.cancelled():
                # Nobody is left to hear of it.
                work._whole.exception()
            raise

    async def stop(self, reason: str) -> None:
        """Stop everything, what runs and what waits. When this returns, nothing is left."""
        await self._stop(list(self._works), reason)

    async def _in_turn(self, work: QueuedWork[T], job: Callable[[QueuedWork[T]], Awaitable[T]]) -> T:
        try:
            async with self._one_at_a_time:
                return await job(work)
        finally:
            self._works.remove(work)

    async def _stop(self, works: list[QueuedWork[T]], reason: str) -> None:
        for work in works:
            work.stop(reason)
        tasks = [work._whole for work in works if work._whole is not None]
        if tasks:
            await asyncio.wait(tasks)

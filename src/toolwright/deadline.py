"""Time limits for what is awaited, and work that is done to its end although its task is cancelled.

asyncio's own limits do not hold in all of Python 3.11. Before 3.11.7 `asyncio.timeout` ends in CancelledError and not
in TimeoutError if its task has been cancelled before: on the way out, where such a limit decides that something has to
be killed, nothing is. `asyncio.wait_for` of 3.11 may swallow a cancellation. So every limit here is one of these.
"""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Deadline:
    """A moment by which the body of `async with` has to be done. Then it is cancelled, and TimeoutError is raised."""

    def __init__(self, moment: float | None) -> None:
        """`moment` is by the clock of the loop; None stands for no limit."""
        self._moment = moment
        self._expired = False
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled_before = 0

    @property
    def expired(self) -> bool:
        """True once the time was over before the body was done."""
        return self._expired

    def move(self, moment: float | None) -> None:
        """Set another moment, or none. What has expired stays so."""
        self._moment = moment
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if moment is not None and self._task is not None and not self._expired:
            self._timer = asyncio.get_running_loop().call_at(moment, self._expire)

    async def __aenter__(self) -> Self:
        self._task = asyncio.current_task()
        assert self._task is not None
        self._cancelled_before = self._task.cancelling()
        self.move(self._moment)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        self.move(None)
        if not self._expired or task is None:
            return
        # Whoever has cancelled the task since it came in is obeyed, and not told of a limit.
        if task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _expire(self) -> None:
        self._expired = True
        self._timer = None
        assert self._task is not None
        self._task.cancel()


def time_limit(seconds: float | None) -> Deadline:
    """A limit of so many seconds from now, in place of asyncio.timeout; None stands for no limit."""
    return Deadline(None if seconds is None else asyncio.get_running_loop().time() + seconds)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Do work that must not be left half done; to be cancelled meanwhile, however often, takes effect after it."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # looked at, since nobody is told of it
    raise cancelled

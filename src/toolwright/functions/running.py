"""Runs the function behind a tool: to its end or its time limit, in a thread where it must, telling what it yields."""

import asyncio
import inspect
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing
from typing import Any

from toolwright.deadline import Deadline
from toolwright.errors import ToolError, UsageError
from toolwright.functions.signature import written

log = logging.getLogger(__name__)

Work = Callable[[], Any]
"""The function with its arguments."""
Show = Callable[[Any], None]
"""Told of each thing that a function yields, as it comes."""
Run = Callable[[Work, Show], Awaitable[Any]]


_PASSING = ("network", "timeout")
"""Kinds of a tool's own errors that may be another thing the next time."""


async def run_function(
    function: Callable[..., Any], work: Work, show: Show, name: str, seconds: float | None, retries: int
) -> Any:
    """Return a function's result: in its time, and once more where it broke and may be run again."""
    run = _way_to_run(function)
    while True:
        try:
            return await _in_time(run, work, show, name, seconds)
        except Exception as error:
            if retries <= 0 or not _may_pass(error):
                raise
            log.debug("%s is run again", name, exc_info=True)
        retries -= 1


async def _in_time(run: Run, work: Work, show: Show, name: str, seconds: float | None) -> Any:
    if seconds is None:
        return await run(work, show)
    limit = Deadline(asyncio.get_running_loop().time() + seconds)
    try:
        async with limit:
            return await run(work, show)
    except TimeoutError as late:
        if not limit.expired:
            raise
        raise ToolError(f"{name} took longer than {seconds:g} s and was stopped.", "timeout") from late


def _may_pass(error: Exception) -> bool:
    """Return whether another try may end otherwise. A tool's own error is its answer, and a wrong call stays wrong."""
    if isinstance(error, ToolError):
        return error.kind in _PASSING
    return not isinstance(error, UsageError)


def _way_to_run(function: Callable[..., Any]) -> Run:
    """Return the way to run a function: awaited, in a thread, or as a generator, of which the last value counts."""
    behind = written(function)
    if inspect.isasyncgenfunction(behind):
        return _pieces_awaited
    if inspect.isgeneratorfunction(behind):
        return _pieces_in_thread
    return _awaited if inspect.iscoroutinefunction(function) else _in_thread


async def _awaited(work: Work, _: Show) -> Any:
    return await work()


async def _in_thread(work: Work, _: Show) -> Any:
    answer = await asyncio.to_thread(work)
    return await answer if inspect.isawaitable(answer) else answer


async def _pieces_awaited(work: Work, show: Show) -> Any:
    pieces: AsyncGenerator[Any, Any] = work()
    last: Any = None
    async with aclosing(pieces):
        async for last in pieces:
            show(last)
    return last


async def _pieces_in_thread(work: Work, show: Show) -> Any:
    loop, stopped = asyncio.get_running_loop(), threading.Event()

    def tell(piece: Any) -> None:
        loop.call_soon_threadsafe(show, piece)

    try:
        return await asyncio.to_thread(_drained, work(), tell, stopped)
    finally:
        # A thread cannot be ended: the generator ends when it next yields.
        stopped.set()


def _drained(pieces: Generator[Any, Any, Any], tell: Show, stopped: threading.Event) -> Any:
    last: Any = None
    try:
        while not stopped.is_set():
            last = next(pieces)
            if not stopped.is_set():
                tell(last)
    except StopIteration as end:
        return last if end.value is None else end.value
    pieces.close()
    return None

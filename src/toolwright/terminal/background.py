"""The event loop in a thread of its own, so that the person at the terminal is never waited for by the work."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from toolwright.events import Event

T = TypeVar("T")


class Background:
    """Runs coroutines while the main thread reads the keyboard and gets the signals."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="work", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if self._closed:
            work.close()
            given_up: Future[T] = Future()
            given_up.cancel()
            return given_up
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self.submit(work).result()

    def close(self) -> None:
        """End the loop; nothing of it may be under way any more, and what comes later is given up."""
        self._closed = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.run_until_complete(_end_others())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())


async def _end_others() -> None:
    """Work that nobody waits for any more, or that came too late, is given up."""
    await asyncio.sleep(0)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Events:
    """The events of a project, read from the main thread one at a time, with an end to each wait."""

    def __init__(self, background: Background, events: AsyncIterator[Event]) -> None:
        self._background = background
        self._events = events
        self._next: Future[Event] | None = None

    def next(self, seconds: float) -> Event | None:
        """The next event; None if none came in time."""
        if self._next is None:
            self._next = self._background.submit(_one_of(self._events))
        try:
            event = self._next.result(seconds)
        except TimeoutError:
            return None
        self._next = None
        return event


async def _one_of(events: AsyncIterator[Event]) -> Event:
    return await anext(events)

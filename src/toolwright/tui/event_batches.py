"""Batches of background events for the screen: a flood of events is drawn as one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future

from toolwright.events import Event
from toolwright.terminal.background import Background

WAITING = 20_000
"""Events that may wait for the screen; then the source keeps them, and drops and counts what is too much."""
PAUSE = 0.02


class EventBatches:
    """Collects the events of a project, whose loop runs in another thread, until they are taken."""

    def __init__(self, background: Background, events: AsyncIterator[Event], wake: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = wake
        self._waiting: list[Event] = []
        self._told = False
        self._task: Future[None] = background.submit(self._collect(events))

    def take(self) -> list[Event]:
        """All that has happened since the last time."""
        self._told = False
        taken, self._waiting = self._waiting, []
        return taken

    def close(self) -> None:
        self._task.cancel()

    async def _collect(self, events: AsyncIterator[Event]) -> None:
        async for event in events:
            while len(self._waiting) >= WAITING:  # noqa: ASYNC110 - it is emptied in another thread
                await asyncio.sleep(PAUSE)
            self._waiting.append(event)
            if not self._told:
                self._told = True
                self._loop.call_soon_threadsafe(self._wake)

"""The door of commands to the network: a thread of its own that takes connections out of sessions' networks.

What may pass is decided in the loop of the workspace; a busy turn there keeps a new connection waiting, and no other.
"""

import asyncio
import resource
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from toolwright.network.gatekeeper import Gatekeeper
from toolwright.network.outward import Outward
from toolwright.network.relay import Relay
from toolwright.network.served import Listening, Served
from toolwright.process.running.network_namespaces import Handed

MOST: Final = 512
"""Connections that are open at a time; fewer where we may have few files open. One session has half of them at most,
and further ones wait."""


class NetworkDoor:
    """The thread; one for each workspace. It begins with the first session that is served."""

    def __init__(self, outward: Outward) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._open = 0
        self._most = _most()
        self.share = self._most // 2
        self.outward = outward
        self.relay = Relay()
        self._waiting = set[Listening]()

    async def serve(self, sockets: Sequence[Handed], keeper: Gatekeeper) -> Served:
        """Take what comes on the sockets of one session, as the loop that this is called in decides."""
        self._begin()
        served = Served(self, sockets, keeper, asyncio.get_running_loop())
        await self.done(served.listen)
        return served

    async def done(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done in the thread, and wait for it."""
        if self._loop is not None:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._loop))

    async def close(self) -> None:
        """End every connection, and the thread."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join)
        self.outward.close()

    def _begin(self) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="toolwright-door", daemon=True)
            self._thread.start()

    # In the thread.

    def has_room(self) -> bool:
        return self._open < self._most

    def wait_for_room(self, listening: Listening) -> None:
        self._waiting.add(listening)

    def came(self) -> None:
        self._open += 1

    def went(self) -> None:
        self._open -= 1
        waiting, self._waiting = self._waiting, set()
        for listening in waiting:
            listening.begin()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    finally:
        loop.close()


def _most() -> int:
    """Each connection takes two files, and there are others than ours."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if allowed == resource.RLIM_INFINITY else max(16, min(MOST, allowed // 4))

"""Pace of requests to a server: one a second, in the order they came."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import field

from toolwright.record import record

SECONDS = 1.0
_REMEMBERED = 1000

Host = tuple[str, str, int]


@record(slots=True, kw_only=True)
class Pace:
    """Gives each host's requests their turns."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _free: dict[Host, float] = field(default_factory=dict[Host, float])

    async def turn(self, host: Host) -> None:
        """Wait until the host may be asked again."""
        now = self.clock()
        if len(self._free) > _REMEMBERED:
            self._free = {name: at for name, at in self._free.items() if at > now}
        at = max(now, self._free.get(host, now))
        self._free[host] = at + SECONDS
        if at > now:
            await self.sleep(at - now)

"""Events as records, and the bus that tells whoever listens."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import ClassVar, Literal

from toolwright.calls.parts import Part
from toolwright.calls.request import Need
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

log = logging.getLogger(__name__)


@record(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. `type` is its name on the wire."""

    type: ClassVar[str]

    def to_json(self) -> Json:
        return {"type": self.type, "properties": to_json(self)}


@record(frozen=True, slots=True, kw_only=True)
class PartUpdated(Event):
    """A part of a message is new or has changed."""

    type = "message.part.updated"
    part: Part


@record(frozen=True, slots=True, kw_only=True)
class PermissionAsked(Event):
    """A call waits for an answer."""

    type = "permission.asked"
    id: str
    session_id: str
    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...]
    metadata: Json
    tool: Json | None = None
    call: Json | None = None
    """The call that asks: the tool, its arguments, the call in one line, the agent."""
    callers: tuple[str, ...] | None = None
    """The sessions above, the nearest first, where a subagent asks."""
    also: tuple[Need, ...] | None = None
    """Further needs of the same call; one answer is for all of them."""


@record(frozen=True, slots=True, kw_only=True)
class PermissionReplied(Event):
    """A waiting call has its answer."""

    type = "permission.replied"
    session_id: str
    request_id: str
    reply: Literal["once", "always", "reject"]


@record(frozen=True, slots=True, kw_only=True)
class FileEdited(Event):
    """A tool has written a file."""

    type = "file.edited"
    file: str


@record(frozen=True, slots=True, kw_only=True)
class FileWatcherUpdated(Event):
    """A file came, changed or went."""

    type = "file.watcher.updated"
    file: str
    event: Literal["add", "change", "unlink"]


@record(frozen=True, slots=True, kw_only=True)
class EventsMissed(Event):
    """A follower was too slow: so many events went by that it will not see."""

    type = "events.missed"
    count: int


Listener = Callable[[Event], None]

FOLLOWED = 1000
"""Events that wait for a slow follower before the oldest are dropped."""


@record(slots=True)
class Bus:
    """Tells every listener of every event, in the order they subscribed. Publishing never fails and never waits."""

    number: int = 0
    """Number of events so far; while one is published, its own number."""
    _listeners: list[Listener] = field(default_factory=list[Listener])

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Listen from now on; the returned function ends it. A listener that raises is logged and left out."""
        self._listeners.append(listener)
        return lambda: self._leave_out(listener)

    def publish(self, event: Event) -> None:
        self.number += 1
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except (Exception, asyncio.CancelledError):
                log.exception("a listener of %s raised and is left out from now on", event.type)
                self._leave_out(listener)

    def follow(self, wanted: Callable[[Event], bool] = lambda _: True, limit: int = FOLLOWED) -> "Following":
        """The events from now on, for one who may be slow: `async for event in bus.follow(): ...`."""
        return Following(self, wanted, limit)

    def _leave_out(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)


class Following:
    """Events in a queue of its own with an end; of those that did not fit, the number is told in their place."""

    def __init__(self, bus: Bus, wanted: Callable[[Event], bool], limit: int) -> None:
        self._wanted = wanted
        self._waiting: deque[Event] = deque(maxlen=limit)
        self._missed = 0
        self._news = asyncio.Event()
        self._closed = False
        self._stop = bus.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if self._wanted(event):
            self._missed += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(event)
            self._news.set()

    def __aiter__(self) -> "Following":
        return self

    async def __anext__(self) -> Event:
        while not self._waiting and not self._closed:
            self._news.clear()
            await self._news.wait()
        if self._missed:
            missed, self._missed = self._missed, 0
            return EventsMissed(count=missed)
        if not self._waiting:
            raise StopAsyncIteration
        return self._waiting.popleft()

    def close(self) -> None:
        """Hear nothing more; what has been heard is still there to read."""
        self._stop()
        self._closed = True
        self._news.set()

    async def aclose(self) -> None:
        self.close()

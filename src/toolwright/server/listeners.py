"""Who listens to what happens: each with a queue of its own that has an end, none in the way of the work."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import field

from toolwright.events import Event
from toolwright.jsontypes import Json
from toolwright.record import record
from toolwright.server.dialects import Dialect, Teller
from toolwright.server.frames import Frame

KEPT_FRAMES, KEPT_BYTES = 4096, 8 * 1024 * 1024
"""What is kept for listeners that come back."""
QUEUE_FRAMES, QUEUE_BYTES = 1024, 4 * 1024 * 1024
"""What waits for a listener that is slow; beyond, older states of a part are left out, then the stream is closed."""


@record(slots=True, eq=False)
class Listener:
    """One open stream."""

    directory: str
    """The folder it hears of; empty for all of them, each event with its folder."""
    waiting: deque[Frame] = field(default_factory=deque[Frame])
    size: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False

    def written(self, frame: Frame) -> bytes:
        return frame.plain if self.directory else frame.wrapped

    def offer(self, frame: Frame) -> None:
        if self.ended or (self.directory and frame.directory and frame.directory != self.directory):
            return
        self._put(frame)
        if self._is_full():
            newest = {one.key: one for one in self.waiting if one.key}
            kept = [one for one in self.waiting if not one.key or newest[one.key] is one]
            self.waiting.clear()
            self.size = 0
            for one in kept:
                self._put(one)
            self.ended = self._is_full()
        self.news.set()

    def take(self) -> list[bytes]:
        """All that waits."""
        taken = [self.written(frame) for frame in self.waiting]
        self.waiting.clear()
        self.size = 0
        self.news.clear()
        return taken

    def end(self) -> None:
        self.ended = True
        self.news.set()

    def _put(self, frame: Frame) -> None:
        self.waiting.append(frame)
        self.size += len(self.written(frame))

    def _is_full(self) -> bool:
        return len(self.waiting) > QUEUE_FRAMES or self.size > QUEUE_BYTES


class Channel:
    """Everything that happens, in one dialect: told to who listens now, kept a while for who comes back."""

    def __init__(self, dialect: Dialect, later: Callable[[float, Callable[[], None]], object]) -> None:
        self.listeners: list[Listener] = []
        self._run = f"{time.time_ns() // 1_000_000:x}"
        self._number = 0
        self._kept: deque[Frame] = deque(maxlen=KEPT_FRAMES)
        self._kept_bytes = 0
        self._teller = Teller(dialect, self.tell, lambda seconds, call: void(later(seconds, call)))

    def hear(self, directory: str, event: Event) -> None:
        self._teller.hear(directory, event)

    def tell(self, directory: str, payload: Json, part_id: str = "") -> None:
        """Number an event and give it to everybody."""
        self._number += 1
        deltas = payload["type"] == "message.part.updated"
        frame = Frame(f"{self._run}-{self._number}", directory, payload, part_id if deltas else "")
        self._keep(frame)
        for listener in tuple(self.listeners):
            listener.offer(frame)
            if listener.ended:
                self.listeners.remove(listener)

    def join(self, directory: str, last: str) -> Listener:
        """A new listener; one that comes back with the number of the last event it has seen gets what it missed."""
        listener = Listener(directory)
        listener.offer(Frame("", "", {"type": "server.connected", "properties": {}}))
        if last:
            missed = self._since(last)
            if missed is None:
                gone = {"type": "server.instance.disposed", "properties": {"directory": directory}}
                listener.offer(Frame("", directory, gone))
            for frame in missed or ():
                listener.offer(frame)
        self.listeners.append(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        if listener in self.listeners:
            self.listeners.remove(listener)

    def _since(self, last: str) -> list[Frame] | None:
        """What came after an event; None if that can no longer be told."""
        run, _, number = last.partition("-")
        if run != self._run or not number.isdecimal() or int(number) > self._number:
            return None
        missing = self._number - int(number)
        return list(self._kept)[-missing:] if 0 < missing <= len(self._kept) else [] if missing == 0 else None

    def _keep(self, frame: Frame) -> None:
        if len(self._kept) == KEPT_FRAMES:
            self._kept_bytes -= len(self._kept.popleft().text)
        self._kept.append(frame)
        self._kept_bytes += len(frame.text)
        while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= len(self._kept.popleft().text)


def void(_: object) -> None:
    """For calls whose answer nobody wants."""

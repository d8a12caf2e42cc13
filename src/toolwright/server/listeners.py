"""Listeners to events: each with a queue of its own that has a limit, none in the way of the work."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field

from toolwright.events import Event
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.server.dialects import Dialect, EventEncoder
from toolwright.server.frames import Frame

Later = Callable[[float, Callable[[], None]], object]

KEPT_FRAMES, KEPT_BYTES = 4096, 8 * 1024 * 1024
"""Limits of what is kept for listeners that come back."""
QUEUE_FRAMES, QUEUE_BYTES = 1024, 4 * 1024 * 1024
"""Limits of what waits for a slow listener; beyond, older states of a part are left out, then the stream is closed."""
TOGETHER = 0.025
"""Seconds within which events are sent in one piece, at most; the first after a pause is sent at once."""
EACH = TOGETHER / 200
"""Seconds of that for each who listens: telling costs so much for each, and a single one need not wait for others."""
URGENT = frozenset(
    ("session.created", "session.idle", "permission.asked", "question.asked", "server.instance.disposed")
)
"""Events that clients wait for, or must know before the answer to a request comes."""
HEARTBEAT = 10.0
RETURN = 120.0
"""Seconds in which listeners of a server that was killed come back to the next one."""
_ALL = "*"
_BEAT: Json = {"type": "server.heartbeat", "properties": {}}


class Batch:
    """Events told in one piece, written out once for all who hear the same of them."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = frames
        self._written: dict[str, bytes] = {}

    def written(self, directory: str) -> bytes:
        """Return what a listener of this folder is sent; of all folders if it is empty."""
        if directory not in self._written:
            self._written[directory] = b"".join(
                one.plain if directory else one.wrapped
                for one in self.frames
                if not directory or not one.directory or one.directory == directory
            )
        return self._written[directory]


@record(slots=True, eq=False)
class Listener:
    """One open stream."""

    directory: str
    """The folder it hears of; empty for all of them, each event with its folder."""
    waiting: deque[Batch] = field(default_factory=deque[Batch])
    frames: int = 0
    size: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False

    def offer(self, batch: Batch) -> None:
        if self.ended or not batch.written(self.directory):
            return
        self._put(batch)
        if self._is_full():
            every = [frame for one in self.waiting for frame in one.frames]
            newest = {frame.key: frame for frame in every if frame.key}
            self.waiting.clear()
            self.frames = self.size = 0
            self._put(Batch([frame for frame in every if not frame.key or newest[frame.key] is frame]))
            self.ended = self._is_full()
        self.news.set()

    def take(self) -> bytes:
        """All that waits."""
        pieces = [batch.written(self.directory) for batch in self.waiting]
        self.waiting.clear()
        self.frames = self.size = 0
        self.news.clear()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def end(self) -> None:
        self.ended = True
        self.news.set()

    def _put(self, batch: Batch) -> None:
        self.waiting.append(batch)
        self.frames += len(batch.frames)
        self.size += len(batch.written(self.directory))

    def _is_full(self) -> bool:
        return self.frames > QUEUE_FRAMES or self.size > QUEUE_BYTES


class Channel:
    """All events in one dialect: sent to those who listen, kept a while for those who come back."""

    def __init__(self, dialect: Dialect, later: Later) -> None:
        self.listeners: list[Listener] = []
        self._later = later
        self._run = f"{time.time_ns() // 1_000_000:x}"
        self._number = 0
        self._kept: deque[Frame] = deque(maxlen=KEPT_FRAMES)
        self._kept_bytes = 0
        self._pending: list[Frame] = []
        self._pauses = False
        self._beats = False
        self._began = time.monotonic()
        self._closed: list[Frame] = []
        """Ends of turns that an earlier server of the same address left open when it was killed."""
        self._encoder = EventEncoder(dialect, self.tell, lambda seconds, call: void(later(seconds, call)))

    def hear(self, directory: str, event: Event) -> None:
        self._encoder.hear(directory, event)

    def tell(self, directory: str, payload: Json, part_id: str = "") -> None:
        """Number an event and give it to everybody."""
        self._number += 1
        deltas = payload["type"] == "message.part.updated"
        frame = Frame(f"{self._run}-{self._number}", directory, payload, part_id if deltas else "")
        self._keep(frame)
        if self.listeners:
            self._pending.append(frame)
            if not self._pauses or payload["type"] in URGENT or len(self._pending) >= QUEUE_FRAMES // 4:
                self.flush()

    def flush(self) -> None:
        """Give everybody what is to be told, and gather what comes next for a moment."""
        if not self._pending:
            return
        batch = Batch(self._pending)
        self._pending = []
        self._offer(batch)
        if not self._pauses:
            self._pauses = True
            self._later(min(TOGETHER, EACH * len(self.listeners)), self._paused)

    def _paused(self) -> None:
        self._pauses = False
        self.flush()

    def _offer(self, batch: Batch) -> None:
        closed = {_closes(frame) for frame in batch.frames} - {""}
        for listener in self.listeners:
            listener.offer(batch)
            if closed and (_ALL in closed or listener.directory in closed):
                listener.end()
        self.listeners = [listener for listener in self.listeners if not listener.ended]

    def join(self, directory: str, last: str) -> Listener:
        """A new listener; one that comes back with the number of the last event it has seen gets what it missed."""
        self.flush()
        listener = Listener(directory)
        first = [Frame("", "", {"type": "server.connected", "properties": {}})]
        missed = self._since(last) if last else None
        if missed is not None:
            first += missed
        elif last or self._is_new:
            # How turns ended comes first: who then looks at everything anew finds nothing that was not told.
            first += self._closed
            first += [_anew(name) for name in self._folders_of(directory, known=bool(last))]
        listener.offer(Batch(first))
        self.listeners.append(listener)
        if not self._beats:
            self._beats = True
            self._later(HEARTBEAT, self._beat)
        return listener

    @property
    def number(self) -> int:
        """Of the last event."""
        return self._number

    def close_turns(self, number: int) -> None:
        """Remember the events after this one: they closed the turns that a killed server had left open."""
        self._closed += list(self._kept)[len(self._kept) - (self._number - number) :]

    @property
    def _is_new(self) -> bool:
        """Tell whether those who come may have listened to the server that was killed; not all say so."""
        return bool(self._closed) and time.monotonic() - self._began < RETURN

    def _folders_of(self, directory: str, *, known: bool) -> list[str]:
        """The folders of which a listener has to learn everything anew."""
        if directory:
            return [directory] if known or any(one.directory == directory for one in self._closed) else []
        return list(dict.fromkeys(one.directory for one in self._closed)) or [""]

    def leave(self, listener: Listener) -> None:
        if listener in self.listeners:
            self.listeners.remove(listener)

    def _beat(self) -> None:
        """A sign of life for everybody, as long as there is anybody."""
        self._beats = bool(self.listeners)
        if self._beats:
            self.flush()
            self._offer(Batch([Frame("", "", _BEAT)]))
            self._later(HEARTBEAT, self._beat)

    def _since(self, last: str) -> list[Frame] | None:
        """Return what came after an event; None if that is not known any more."""
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


def _anew(directory: str) -> Frame:
    payload = {"type": "server.instance.disposed", "properties": {"directory": directory}}
    return Frame("", directory, payload)


def _closes(frame: Frame) -> str:
    """The folder whose listeners hear nothing more after this, and begin anew; all of them, or none."""
    if frame.payload["type"] == "global.disposed":
        return _ALL
    return frame.directory if frame.payload["type"] == "server.instance.disposed" else ""


def void(_: object) -> None:
    """For calls whose answer nobody wants."""

"""What happens, as records, and the bus that tells whoever listens."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from toolwright.parts import Part
from toolwright.wire import to_json

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. `type` is its name on the wire."""

    type: ClassVar[str]

    def to_json(self) -> Json:
        return {"type": self.type, "properties": to_json(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartUpdated(Event):
    """A part of a message is new or has changed."""

    type = "message.part.updated"
    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
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
    callers: tuple[str, ...] | None = None
    """The sessions above, the nearest first, where a subagent asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionReplied(Event):
    """A waiting call has its answer."""

    type = "permission.replied"
    session_id: str
    request_id: str
    reply: Literal["once", "always", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdited(Event):
    """A tool has written a file."""

    type = "file.edited"
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWatcherUpdated(Event):
    """A file came, changed or went."""

    type = "file.watcher.updated"
    file: str
    event: Literal["add", "change", "unlink"]


Listener = Callable[[Event], None]


@dataclass(slots=True)
class Bus:
    """Tells every listener of every event, in the order they subscribed."""

    number: int = 0
    """How many events there were; while one is told, its own number."""
    _listeners: list[Listener] = field(default_factory=list[Listener])

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Listen from now on; the returned function ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: Event) -> None:
        self.number += 1
        for listener in tuple(self._listeners):
            listener(event)

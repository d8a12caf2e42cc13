"""The order of calls that touch one file: a call waits for the earlier ones it could disturb, and for no others."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from toolwright.definition import ANY, Call, Tool
from toolwright.record import record


@record(frozen=True, slots=True)
class WaitingCall:
    """A call in line: what it touches, and the event that tells that it is done."""

    call_id: str
    parent: str
    reads: str | None
    """The file it reads, ANY, or None."""
    writes: str | None
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def clashes(self, other: "WaitingCall") -> bool:
        """Return whether two calls may be about one file and at least one of them writes it."""
        return _meet(self.writes, other.writes) or _meet(self.writes, other.reads) or _meet(self.reads, other.writes)


@record(slots=True)
class CallOrder:
    """The calls of one session that are under way, in the order they came."""

    _places: dict[str, WaitingCall] = field(default_factory=dict[str, WaitingCall])
    is_shared: bool = False
    """True if more than one call is in line."""

    @contextmanager
    def place(self, tool: Tool, call: Call, parent: str = "") -> Iterator[WaitingCall]:
        """A place in line from now on, until the call is done."""
        place = WaitingCall(call.id, parent, _file(tool.reads, call.arguments), _file(tool.writes, call.arguments))
        if place.reads is None and place.writes is None:
            yield place
            return
        self._places[call.id] = place
        self.is_shared = len(self._places) > 1
        try:
            yield place
        finally:
            self._places.pop(call.id, None)
            self.is_shared = len(self._places) > 1
            place.done.set()

    async def wait_for_earlier(self, place: WaitingCall) -> None:
        """Return when every earlier call that this one could disturb is done."""
        above = set(self._above(place))
        for earlier in list(self._places.values()):
            if earlier is place:
                return
            if earlier.call_id not in above and earlier.clashes(place):
                await earlier.done.wait()

    def _above(self, place: WaitingCall) -> Iterator[str]:
        """The calls that make this one; a batch is not waited for by what it holds."""
        parent = place.parent
        while parent:
            yield parent
            parent = self._places[parent].parent if parent in self._places else ""


def _file(argument: str, arguments: Any) -> str | None:
    if argument == ANY:
        return ANY
    value = arguments.get(argument) if argument and isinstance(arguments, dict) else None
    return value if isinstance(value, str) else None


def _meet(name: str | None, other_name: str | None) -> bool:
    if name is None or other_name is None:
        return False
    return ANY in (name, other_name) or name == other_name

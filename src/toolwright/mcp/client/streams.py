"""A stream of events from a server: its messages, and where it stands once the server has closed or lost it."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from toolwright.protocols.json_text import read_json
from toolwright.protocols.sse import EventReader
from toolwright.record import record

if TYPE_CHECKING:
    import httpx2

PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds before a stream that ended is asked for again, doubled each time that nothing came of it."""
SHORTEST_PAUSE = 0.1
"""Seconds that are waited at least, whatever the server says."""
FRUITLESS = 5
"""Times in a row that a stream is asked for again of which nothing comes."""
LONGEST_ID = 4096
"""Characters of an event's id that are sent back."""


@record(slots=True)
class StreamPosition:
    """The position in a stream, and when it may be asked for again."""

    last_id: str = ""
    fruitless: int = 0
    """Times in a row that nothing came."""
    _retry: float | None = None

    @property
    def known(self) -> bool:
        """Tell whether the server can be asked for what comes after it."""
        return 0 < len(self.last_id) <= LONGEST_ID and self.last_id.isascii() and self.last_id.isprintable()

    def reach(self, reader: EventReader) -> None:
        """Take in how far the reader has come."""
        self.last_id = reader.last_id or self.last_id
        self._retry = self._retry if reader.retry is None else reader.retry
        self.fruitless = 0

    async def wait(self) -> None:
        """Wait as long as the server wants, and longer each time that nothing came."""
        wanted = PAUSE if self._retry is None else max(self._retry, SHORTEST_PAUSE)
        doubled = min(PAUSE * 2**self.fruitless, LONGEST_PAUSE) if self.fruitless else 0.0
        self.fruitless = min(self.fruitless + 1, FRUITLESS)
        await asyncio.sleep(max(wanted, doubled))


async def messages(
    response: "httpx2.Response", place: StreamPosition, ready: "asyncio.Future[str] | None" = None
) -> AsyncIterator[Any]:
    """Yield the messages among the events; `ready` gets the address that the oldest version names first."""
    reader = EventReader()
    async for chunk in response.aiter_bytes():
        for event in reader.feed(chunk):
            place.reach(reader)
            if event.name == "endpoint":
                if ready is not None and not ready.done():
                    ready.set_result(event.data)
            elif (message := parsed(event.data)) is not None:
                yield message
        if reader.last_id:  # of an event without data too
            place.reach(reader)
    for event in reader.close():
        # Half of what the server meant to say is asked for again, so the place stays before it.
        if (message := parsed(event.data)) is not None:
            place.reach(reader)
            yield message


def parsed(text: str) -> Any:
    """The JSON in a text; None if it is none."""
    try:
        return read_json(text)
    except ValueError:
        return None

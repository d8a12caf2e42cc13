"""Server-sent events out of bytes, in whatever pieces the bytes arrive."""

import re
from collections.abc import Iterator

from toolwright.record import record

LARGEST = 64 * 1024 * 1024
"""Bytes that one event may have before the stream counts as broken."""


@record(frozen=True, slots=True)
class ServerEvent:
    data: str
    name: str = ""
    id: str = ""
    """The last one the server gave; whoever comes back with it can be told what came after."""


class EventReader:
    """Feed it bytes, get the events that are complete.

    Lines are split as bytes and decoded whole, so a character cut in two by the network stays one character.
    Costs no more in many small pieces than in one large one.
    """

    def __init__(self) -> None:
        self.last_id = ""
        """The id of the last event that is complete: what came after it can be asked for."""
        self.retry: float | None = None
        """Seconds that the server wants to be left alone before it is asked again."""
        self._line = bytearray()
        self._after_return = False
        self._data: list[str] = []
        self._size = 0
        self._name = ""
        self._id = ""
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        if not chunk:
            return
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_return = chunk.endswith(b"\r")
        *complete, rest = _LINE_END.split(chunk)
        for line in complete:
            self._line += line
            event = self._take(self._text())
            self._line.clear()
            if event is not None:
                yield event
        self._line += rest
        if self._size + len(self._line) > LARGEST:
            raise ValueError(f"an event of more than {LARGEST} bytes")

    def close(self) -> Iterator[ServerEvent]:
        """The last event, where the server left out the empty line after it. Half a line is dropped."""
        event = self._take("")
        if event is not None:
            yield event

    def _text(self) -> str:
        text = self._line.decode("utf-8", "replace")
        if self._first:
            self._first = False
            return text.removeprefix("\ufeff")
        return text

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._size += len(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and _MILLISECONDS.fullmatch(value):
            self.retry = int(value) / 1000
        return None

    def _dispatch(self) -> ServerEvent | None:
        data, name = self._data, self._name
        self._data, self._name, self._size = [], "", 0
        self.last_id = self._id
        return ServerEvent("\n".join(data), name, self._id) if data else None


_LINE_END = re.compile(rb"\r\n|\r|\n")
_MILLISECONDS = re.compile(r"[0-9]{1,9}")

"""Some lines of a file, however large: never more is read than leads to them, and never more kept than is shown."""

from bisect import bisect_left
from collections import OrderedDict
from dataclasses import field
from io import BytesIO, FileIO
from pathlib import Path
from typing import Literal

from toolwright.files.disk import Stamp
from toolwright.record import record

CHUNK = 128 * 1024

Source = FileIO | BytesIO


@record(frozen=True, slots=True, kw_only=True)
class LineLimits:
    """Limits of what is shown of a file at once."""

    lines: int
    bytes: int
    """Of the text shown, in UTF-8, line breaks included."""
    width: int
    """UTF-16 units of a line; what is longer is cut."""


@record(slots=True, kw_only=True)
class LineWindow:
    """The lines found, and why no more."""

    first: int
    """Number of the first line, from 1."""
    lines: list[str] = field(default_factory=list)
    """Without their newlines, from the wanted column on, and cut where too long."""
    cut: dict[int, int] = field(default_factory=dict)
    """For the number of each line that was cut, the column at which it goes on."""
    stopped_by: Literal["end", "more", "bytes"] = "end"
    total: int | None = None
    """Lines of the file, where known. What follows the last newline is a line, even if empty."""
    damaged: bool = False
    """Some bytes could not be decoded and are shown as U+FFFD."""

    @property
    def next(self) -> int:
        """Number of the first line not shown."""
        return self.first + len(self.lines)


@record(slots=True)
class LineIndex:
    """Offsets of lines, as far as a file has been looked through: newlines counted before some offsets."""

    offsets: list[int] = field(default_factory=lambda: [0])
    newlines: list[int] = field(default_factory=lambda: [0])
    total: int | None = None

    def find(self, source: Source, line: int) -> int | None:
        """Offset at which a line begins, or None if there is none such. Leaves what it learns for the next time."""
        wanted = line - 1
        if not wanted:
            return self.offsets[0]
        if self.total is not None and line > self.total:
            return None
        if wanted > self.newlines[-1]:
            self.extend(source, wanted)
        mark = bisect_left(self.newlines, wanted) - 1
        if mark + 1 == len(self.newlines):
            return None
        start, end = self.offsets[mark : mark + 2]
        source.seek(start)
        return start + _after_newline(source.read(end - start), wanted - self.newlines[mark])

    def extend(self, source: Source, newlines: int | None = None) -> None:
        """Look through the file until so many newlines have been seen, or to its end."""
        offset, seen = self.offsets[-1], self.newlines[-1]
        source.seek(offset)
        buffer = bytearray(CHUNK)
        while newlines is None or seen < newlines:
            size = source.readinto(buffer)
            if not size:
                self.total = seen + 1
                return
            offset, seen = offset + size, seen + buffer.count(b"\n", 0, size)
            self.offsets.append(offset)
            self.newlines.append(seen)


class LineIndexes:
    """Indexes of the large files read last, each good for one state of its file."""

    KEPT = 32

    def __init__(self) -> None:
        self._indexes: OrderedDict[Path, tuple[Stamp, LineIndex]] = OrderedDict()

    def of(self, path: Path, stamp: Stamp, start: int) -> LineIndex:
        """`start` is where the text begins, after a byte order mark."""
        known = self._indexes.pop(path, None)
        index = known[1] if known is not None and known[0] == stamp else LineIndex(offsets=[start])
        self._indexes[path] = (stamp, index)
        if len(self._indexes) > self.KEPT:
            self._indexes.popitem(last=False)
        return index

    def forget(self) -> None:
        """Drop all, as if no file had been looked through."""
        self._indexes.clear()


@record(slots=True, kw_only=True)
class LineReader:
    """Reads windows of lines from bytes in UTF-8, or in an encoding whose newlines are those of UTF-8."""

    source: Source
    index: LineIndex
    limits: LineLimits
    legacy: str = ""
    """The encoding of bytes that are not UTF-8, if known."""

    def read(self, first: int, column: int = 1) -> LineWindow:
        """The lines from `first` on, each from `column` on (counted in characters), as far as the limits go."""
        window = LineWindow(first=first)
        start = self.index.find(self.source, first)
        if start is not None:
            self.source.seek(start)
            self._collect(window, column)
        if start is not None and window.stopped_by == "end":
            window.total = self.index.total = window.next - 1
        window.total = self.index.total
        return window

    def count(self) -> int:
        """The lines of the whole source."""
        if self.index.total is None:
            self.index.extend(self.source)
        return self.index.total or 1

    def _collect(self, window: LineWindow, column: int) -> None:
        pieces, room = _Pieces(self.source), self.limits.bytes + 1
        while len(window.lines) < self.limits.lines:
            raw = pieces.take(4 * self.limits.width)
            text = self._decode(raw, window)
            plain = column == 1 and len(raw) <= self.limits.width
            size = len(raw) if plain else len((text := self._long(text, pieces, column, window)).encode())
            room -= size + 1
            if room < 0:
                window.stopped_by = "bytes"
                window.cut.pop(window.next, None)
                return
            window.lines.append(text)
            if not pieces.next_line():
                return
        window.stopped_by = "more"

    def _long(self, text: str, pieces: "_Pieces", column: int, window: LineWindow) -> str:
        """The part of a line to be shown, of which `text` is the beginning."""
        skip = column - 1
        while skip >= len(text) and not pieces.line_ended:
            skip -= len(text)
            text = self._decode(pieces.take(CHUNK), window)
        text = text[skip:]
        while len(text) <= self.limits.width and not pieces.line_ended:
            text += self._decode(pieces.take(4 * self.limits.width), window)
        kept = _within(text, self.limits.width)
        if kept is None:
            return text
        window.cut[window.next] = column + len(kept)
        return kept + "..."

    def _decode(self, raw: bytes, window: LineWindow) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            window.damaged = window.damaged or not self.legacy
            return raw.decode(self.legacy or "utf-8", "replace")


class _Pieces:
    """The lines of a source, each in pieces, so that a line without end takes no memory."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._buffer = b""
        self._position = 0
        self._exhausted = False
        self.line_ended = False

    def take(self, size: int) -> bytes:
        """The next piece of the current line; no more than `size` bytes, and no character is torn apart."""
        if len(self._buffer) - self._position < size and not self._exhausted:
            self._fill(size)
        start = self._position
        end = self._buffer.find(b"\n", start, start + size)
        if end < 0:
            end = min(start + size, len(self._buffer))
            self.line_ended = self._exhausted and end == len(self._buffer)
            if not self.line_ended:
                end -= _torn(self._buffer[max(start, end - 3) : end])
        else:
            self.line_ended = True
        self._position = end
        return self._buffer[start:end]

    def next_line(self) -> bool:
        """Skip what is left of the current line; False if it was the last."""
        end = self._buffer.find(b"\n", self._position)
        while end < 0:
            self._buffer, self._position = self._read(), 0
            if self._exhausted:
                return False
            end = self._buffer.find(b"\n")
        self._position = end + 1
        self.line_ended = False
        return True

    def _fill(self, size: int) -> None:
        """Have at least `size` bytes at hand, unless the source ends before."""
        parts, have = [self._buffer[self._position :]], len(self._buffer) - self._position
        while have < size and (more := self._read()):
            parts.append(more)
            have += len(more)
        self._buffer, self._position = b"".join(parts), 0

    def _read(self) -> bytes:
        data = b"" if self._exhausted else self._source.read(CHUNK)
        self._exhausted = not data
        return data


def _torn(tail: bytes) -> int:
    """Return the number of bytes at the end that begin a UTF-8 character that is not complete."""
    for count, byte in enumerate(reversed(tail), 1):
        if byte >= 0xC0:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
            return count if length > count else 0
        if byte < 0x80:
            return 0
    return 0


def _within(text: str, width: int) -> str | None:
    """The beginning of a text that is wider than so many UTF-16 units; None if it is not. No character is halved."""
    if len(text) <= width // 2 or (len(text) <= width and text.isascii()):
        return None
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * width:
        return None
    return units[: 2 * width].decode("utf-16-le", "ignore")


def _after_newline(data: bytes, count: int) -> int:
    """Offset after the newline of that count, found by halving so that the counting is done in C."""
    low, high = 0, len(data)
    while high - low > 64:
        middle = (low + high) // 2
        newlines = data.count(b"\n", low, middle)
        if newlines >= count:
            high = middle
        else:
            low, count = middle, count - newlines
    for _ in range(count):
        low = data.index(b"\n", low) + 1
    return low

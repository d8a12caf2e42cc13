"""Positions as language servers count them, in lines and UTF-16 units from 0, and as text has them."""

import re
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

_ADDRESSES = 10_000
"""Addresses of files that are remembered: a server is told of all files of a project with every change."""
_LINE_END = re.compile(r"\r\n|\n|\r")


class Positions:
    """Where things are in one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
        self._ascii = text.isascii()

    @property
    def lines(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """A line without its end; empty where there is none."""
        if not 0 <= number < len(self._starts):
            return ""
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : end].rstrip("\r\n")

    def offset(self, position: Any) -> int:
        """The index in the text of a position from a server; what lies beyond is the nearest there is."""
        number, units = max(0, int(position["line"])), max(0, int(position["character"]))
        if number >= len(self._starts):
            return len(self.text)
        line = self.line(number)
        return self._starts[number] + (min(units, len(line)) if self._ascii else _index(line, units))

    def at(self, offset: int) -> dict[str, int]:
        """The position of an index, as a server takes it."""
        number = bisect_right(self._starts, offset) - 1
        return {"line": number, "character": _units(self.text[self._starts[number] : offset])}

    def given(self, line: int, character: int) -> dict[str, int]:
        """The position of a line and a character counted from 1, as people and models count."""
        text = self.line(line - 1)
        return {"line": line - 1, "character": _units(text[: character - 1])}

    def shown(self, position: Any) -> tuple[int, int]:
        """The line and the character, from 1, of a position from a server."""
        number, units = int(position["line"]), int(position["character"])
        return number + 1, _index(self.line(number), units) + 1


def edited(text: str, edits: list[Any]) -> str:
    """The text after the edits of a server, all of which speak of the text before."""
    places = Positions(text)
    spans = [
        (places.offset(edit["range"]["start"]), places.offset(edit["range"]["end"]), number, str(edit["newText"]))
        for number, edit in enumerate(edits)
    ]
    spans.sort(key=lambda span: (span[0], span[2]))
    pieces, reached = list[str](), 0
    for start, end, _, new in spans:
        if start < reached:
            raise ValueError("two edits of one text overlap")
        pieces += (text[reached:start], new)
        reached = max(start, end)
    return "".join((*pieces, text[reached:]))


@lru_cache(_ADDRESSES)
def uri_of(path: Path) -> str:
    return "file://" + quote(str(path), safe="/", errors="surrogateescape")


@lru_cache(_ADDRESSES)
def path_of(uri: str) -> Path | None:
    """The file an address means; None for one that is no file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return Path(unquote(parts.path, errors="surrogateescape")) if parts.scheme == "file" and parts.path else None


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _index(line: str, units: int) -> int:
    if line.isascii():
        return min(units, len(line))
    counted = 0
    for index, character in enumerate(line):
        if counted >= units:
            return index
        counted += 2 if ord(character) > 0xFFFF else 1
    return len(line)

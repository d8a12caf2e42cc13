"""JSON with comments and trailing commas, and where each value of it stands in the text."""

import json
import re
from collections.abc import Iterator
from typing import Any

from toolwright.errors import ConfigError
from toolwright.protocols.json_text import read_json
from toolwright.record import record

KeyPath = tuple[str | int, ...]

# A string or comment that is not closed goes on to the end: to look for the next one would take quadratic time.
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
_COMMENTS = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMAS = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)
_TOKENS = re.compile(rf"{_STRING}|[{{}}\[\]:,]|[^\s{{}}\[\]:,\"]+", re.DOTALL)


@record(frozen=True, slots=True)
class Position:
    """A place in a text, counted from one."""

    line: int
    column: int
    offset: int = 0
    """The same as a number of characters before it, counted from zero."""


def parse(text: str, name: str) -> Any:
    """The value of the text; a mistake is a ConfigError with its line, column and the line itself."""
    plain = _TRAILING_COMMAS.sub(_blank, _COMMENTS.sub(_blank, text))
    if not plain.strip():
        return {}
    try:
        return read_json(plain)
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1]
        pointer = f"{line}\n{' ' * (error.colno - 1)}^" if line.strip() and len(line) <= 200 else ""
        raise ConfigError(f"{name}:{error.lineno}:{error.colno}: {error.msg}.\n{pointer}".rstrip()) from error
    except ValueError as error:
        raise ConfigError(f"{name}: {error}.") from error


def positions(text: str) -> dict[KeyPath, Position]:
    """Return where every key and list entry of a well-formed text begins."""
    return dict(entries(text))


def entries(text: str) -> Iterator[tuple[KeyPath, Position]]:
    """Every key and list entry with its place, in the order of the text; a key that is written twice comes twice."""
    plain = _COMMENTS.sub(_blank, text)
    line_starts = [0, *(match.end() for match in re.finditer("\n", plain))]
    for path, offset in _Walk(_TOKENS.finditer(plain)).value(()):
        line = _line_of(line_starts, offset)
        yield path, Position(line + 1, offset - line_starts[line] + 1, offset)


def _blank(match: re.Match[str]) -> str:
    """Strings as they are; anything else as blanks, so that every position stays what it was."""
    return match[1] if match[1] is not None else re.sub(r"[^\n]", " ", match[0])


def _line_of(line_starts: list[int], offset: int) -> int:
    from bisect import bisect_right

    return bisect_right(line_starts, offset) - 1


@record(slots=True)
class _Walk:
    """A walk over the tokens of a text that has parsed, yielding the path and offset of each entry."""

    tokens: Iterator[re.Match[str]]

    def value(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        token = next(self.tokens, None)
        if token is None:
            return
        yield from self._from(token, path)

    def _from(self, token: re.Match[str], path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        if token[0] == "{":
            yield from self._object(path)
        elif token[0] == "[":
            yield from self._list(path)

    def _object(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        for token in self.tokens:
            if token[0] == "}":
                return
            if token[0] == ",":
                continue
            key = (*path, json.loads(token[0]))
            yield key, token.start()
            next(self.tokens)  # the colon
            yield from self.value(key)

    def _list(self, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
        index = 0
        for token in self.tokens:
            if token[0] == "]":
                return
            if token[0] == ",":
                index += 1
                continue
            yield (*path, index), token.start()
            yield from self._from(token, (*path, index))

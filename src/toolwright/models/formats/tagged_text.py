"""Thinking and calls that a small model writes into its text between tags, taken out while the text streams."""

from collections.abc import Iterator
from typing import Literal

from toolwright.protocols.json_text import read_json

Kind = Literal["text", "thinking", "call"]

_THINK, _END_THINK = "<think>", "</think>"
_CALL, _END_CALL = "<tool_call>", "</tool_call>"


class TaggedText:
    """Feed it text in any pieces, get it back in stretches of one kind.

    `<think>` counts only where the text begins with it; `<tool_call>` only where `calls` says so. Text that may be
    the beginning of a tag is held back until the next piece tells.
    """

    def __init__(self, *, calls: bool) -> None:
        self._calls = calls
        self._inside: Kind = "text"
        self._held = ""
        self._begun = False
        self._call: list[str] = []

    def feed(self, text: str) -> Iterator[tuple[Kind, str]]:
        if self._inside == "text" and not self._held and self._begun and "<" not in text:
            yield "text", text
            return
        self._held += text
        while self._held:
            before = (self._inside, len(self._held))
            yield from self._next()
            if (self._inside, len(self._held)) == before:
                return

    def close(self) -> Iterator[tuple[Kind, str]]:
        """Yield what is left when the text is over; a call that was never closed is text."""
        if self._inside == "call":
            yield "text", _CALL + "".join(self._call) + self._held
        elif self._held:
            yield self._inside, self._held
        self._held, self._call = "", []

    def _next(self) -> Iterator[tuple[Kind, str]]:
        if self._inside == "text":
            yield from self._in_text()
        elif self._inside == "thinking":
            yield from self._until(_END_THINK)
        else:
            yield from self._in_call()

    def _in_text(self) -> Iterator[tuple[Kind, str]]:
        if not self._begun:
            start = self._held.lstrip()
            if start.startswith(_THINK):
                self._inside, self._held, self._begun = "thinking", start.removeprefix(_THINK).lstrip("\n"), True
                return
            if _THINK.startswith(start):
                return
            self._begun = True
        if not self._calls:
            yield from self._give("text", len(self._held))
            return
        place = self._held.find(_CALL)
        if place >= 0:
            yield from self._give("text", place)
            self._inside, self._held = "call", self._held.removeprefix(_CALL)
            return
        yield from self._give("text", len(self._held) - _half(self._held, _CALL))

    def _until(self, tag: str) -> Iterator[tuple[Kind, str]]:
        place = self._held.find(tag)
        if place < 0:
            yield from self._give(self._inside, len(self._held) - _half(self._held, tag))
            return
        yield from self._give(self._inside, place)
        self._inside, self._held = "text", self._held.removeprefix(tag).lstrip("\n")

    def _in_call(self) -> Iterator[tuple[Kind, str]]:
        place = self._held.find(_END_CALL)
        if place < 0:
            kept = len(self._held) - _half(self._held, _END_CALL)
            self._call.append(self._held[:kept])
            self._held = self._held[kept:]
            return
        self._call.append(self._held[:place])
        self._held = self._held[place:].removeprefix(_END_CALL).lstrip("\n")
        text, self._call, self._inside = "".join(self._call), [], "text"
        yield ("call", text) if named_call(text) else ("text", f"{_CALL}{text}{_END_CALL}")

    def _give(self, kind: Kind, length: int) -> Iterator[tuple[Kind, str]]:
        if length > 0:
            piece, self._held = self._held[:length], self._held[length:]
            yield kind, piece


def named_call(text: str) -> tuple[str, object] | None:
    """Name and arguments of a call written as text; None if it is none."""
    try:
        value = read_json(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    return value["name"], value.get("arguments", value.get("parameters", {}))


def _half(text: str, tag: str) -> int:
    """Return the number of letters at the end of the text that may begin the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)

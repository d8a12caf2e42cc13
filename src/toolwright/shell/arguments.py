"""A program's arguments told apart, and the record of what a call does with them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from toolwright.shell.findings import Touch
from toolwright.shell.state import Field

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/\s]+@[^/\s]+:|data:")


@dataclass(slots=True)
class Effects:
    """What one call comes down to: files, further commands, and what about it cannot be told."""

    files: list[tuple[Touch, Field]] = field(default_factory=list[tuple[Touch, Field]])
    doubts: list[str] = field(default_factory=list[str])
    scripts: list[Field] = field(default_factory=list[Field])
    """Texts that a shell will run."""
    inner: list[list[Field]] = field(default_factory=list[list[Field]])
    """Commands that the program will run."""
    same_as: list[list[Field]] = field(default_factory=list[list[Field]])
    """Other spellings of this call that a rule may have been written for."""
    folder: Field | None = None
    """Where the program goes before it does anything."""

    def touch(self, kind: Touch, *arguments: Field) -> None:
        self.files += [(kind, argument) for argument in arguments]


@dataclass(slots=True)
class Arguments:
    """The words after a program's name, told apart."""

    operands: list[Field] = field(default_factory=list[Field])
    options: dict[str, list[Field | None]] = field(default_factory=dict[str, list[Field | None]])
    """The options given, short ones one by one, with their values."""

    def has(self, *names: str) -> bool:
        return any(name in self.options for name in names)

    def values(self, *names: str) -> list[Field]:
        return [value for name in names for value in self.options.get(name, ()) if value is not None]


def names(text: str) -> frozenset[str]:
    """The words of a list that is kept as text, which reads better than one of strings."""
    return frozenset(text.split())


def sort_arguments(arguments: Sequence[Field], valued: str = "") -> Arguments:
    """Options apart from operands, as programs built on getopt read them; `valued` lists options that take a value."""
    takes = names(valued)
    found, waiting, only_operands = Arguments(), "", False
    for argument in arguments:
        text = argument.text or (argument.spelled if argument.spelled.startswith("-") else "")
        if waiting:
            found.options.setdefault(waiting, []).append(argument)
            waiting = ""
        elif only_operands or len(text) < 2 or not text.startswith("-"):
            found.operands.append(argument)
        elif text == "--":
            only_operands = True
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            given = _tail(argument, len(name) + 1, value) if equals else None
            waiting = name if name in takes and not equals else ""
            if not waiting:
                found.options.setdefault(name, []).append(given)
        else:
            waiting = _short_options(found, argument, text, takes)
    return found


def _short_options(found: Arguments, argument: Field, text: str, takes: frozenset[str]) -> str:
    """Take `-abc` apart; the option that still waits for its value, if any."""
    for position in range(1, len(text)):
        name = "-" + text[position]
        rest = text[position + 1 :]
        if name not in takes:
            found.options.setdefault(name, []).append(None)
            continue
        if not rest:
            return name
        found.options.setdefault(name, []).append(_tail(argument, position + 1, rest))
        break
    return ""


def _tail(argument: Field, length: int, rest: str) -> Field:
    """The argument without its first characters, which are an option's name."""
    texts = tuple(text[length:] for text in argument.texts)
    return Field(rest, texts, argument.known, argument.glob, splits=argument.splits)


def paths_in(argument: Field) -> Iterator[Field]:
    """The argument if it looks like a path, or the path behind `--option=` or `-I`."""
    text = argument.spelled
    if text.startswith("-"):
        head, equals, value = text.partition("=")
        length = len(head) + 1 if equals else 2
        value = value if equals else text[2:] if not text.startswith("--") else ""
        if not looks_like_path(value) or value == "/" or (not equals and not value.startswith(("/", "~", ".."))):
            return
        yield _tail(argument, length, value)
        return
    if looks_like_path(text):
        yield argument
    head, equals, value = text.partition("=")
    if equals and looks_like_path(value):
        yield _tail(argument, len(head) + 1, value)


def looks_like_path(text: str) -> bool:
    if not text or _ADDRESS.match(text) or "\n" in text:
        return False
    return "/" in text or text.startswith("~") or text in (".", "..") or (text.startswith(".") and len(text) > 1)

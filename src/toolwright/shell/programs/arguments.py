"""A program's arguments told apart, and the record of what a call does with them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from toolwright.record import record
from toolwright.shell.state.findings import Touch
from toolwright.shell.state.state import Field

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/\s]+@[^/\s]+:|data:")


@record(slots=True)
class Effects:
    """Effects of one call: files, further commands, and what about it cannot be told."""

    files: list[tuple[Touch, Field]] = field(default_factory=list[tuple[Touch, Field]])
    doubts: list[str] = field(default_factory=list[str])
    scripts: list[Field] = field(default_factory=list[Field])
    """Texts that a shell will run."""
    inner: list[list[Field]] = field(default_factory=list[list[Field]])
    """Commands that the program will run."""
    same_as: list[list[Field]] = field(default_factory=list[list[Field]])
    """Other spellings of this call that a rule may have been written for."""
    folder: Field | None = None
    """The folder that the program enters before it does anything."""
    unlisted: bool = False
    """True if the program is in no table, so that what it does with its words is a guess."""
    links: list[tuple[Field, Field]] = field(default_factory=list[tuple[Field, Field]])
    """Links it makes, each with what it leads to."""
    suspected: list[Field] = field(default_factory=list[Field])
    """Texts that it may hand to a shell, such as a variable given to `make`."""

    def touch(self, kind: Touch, *arguments: Field) -> None:
        self.files += [(kind, argument) for argument in arguments]

    def remove(self, *arguments: Field) -> None:
        """Note files that go because an option says so, which a rule about `rm` is meant for as well."""
        self.touch("delete", *arguments)
        if arguments:
            self.same_as.append([Field("rm", ("rm",)), *arguments])


Handler = Callable[[Effects, Sequence[Field]], None]
"""Fills in the effects of one program, given its arguments."""


@record(slots=True)
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


def split_option(text: str, takes: frozenset[str]) -> tuple[str, str, bool]:
    """The option in a word that takes a value, that value, and whether it is in the same word.

    `-xf` may hold several options, `--targ` may stand for a longer one. No name if none takes a value.
    """
    if text in takes:
        return text, "", False
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        longer = next((option for option in sorted(takes) if option.startswith(name)), "") if len(name) > 3 else ""
        return name if name in takes else longer, value, bool(equals)
    for position in range(1, len(text)):
        name = "-" + text[position]
        if name in takes:
            return name, text[position + 1 :], position + 1 < len(text)
    return "", "", False


def sort_arguments(arguments: Sequence[Field], valued: str = "") -> Arguments:
    """Options apart from operands, as programs built on getopt read them; `valued` lists options that take a value."""
    takes = names(valued)
    parsed, waiting, only_operands = Arguments(), "", False
    for argument in arguments:
        text = argument.text or (argument.spelled if argument.spelled.startswith("-") else "")
        if waiting:
            parsed.options.setdefault(waiting, []).append(argument)
            waiting = ""
        elif only_operands or len(text) < 2 or not text.startswith("-"):
            parsed.operands.append(argument)
        elif text == "--":
            only_operands = True
        else:
            waiting = _take_option(parsed, argument, text, takes)
    return parsed


def _take_option(parsed: Arguments, argument: Field, text: str, takes: frozenset[str]) -> str:
    """Note the options of a word; the one that still waits for its value, if any."""
    name, value, glued = split_option(text, takes)
    if not text.startswith("--"):
        plain = text[1 : text.index(name[1], 1)] if name and name != text else text[1:] if not name else ""
        for letter in plain:
            parsed.options.setdefault("-" + letter, []).append(None)
    if not name:
        if text.startswith("--"):
            head, equals, rest = text.partition("=")
            parsed.options.setdefault(head, []).append(tail(argument, len(head) + 1, rest) if equals else None)
        return ""
    if not glued:
        return name
    parsed.options.setdefault(name, []).append(tail(argument, len(text) - len(value), value))
    return ""


def is_one(argument: Field) -> bool:
    """Tell whether it is one argument for certain."""
    return not (argument.several or argument.splits or "$@" in argument.spelled or "[@]" in argument.spelled)


def at_start(operands: Sequence[Field], count: int = 1) -> list[Field]:
    """Return what may be among the first arguments: a pattern may stand for several of them, or for none."""
    certain = [sum(map(is_one, operands[:position])) for position in range(len(operands))]
    return [one for one, before in zip(operands, certain, strict=True) if before < count]


def after_start(operands: Sequence[Field], count: int = 1) -> list[Field]:
    """Return what may come after the first arguments."""
    first = next((position for position, one in enumerate(operands) if not is_one(one)), count)
    return list(operands[min(first, count) :])


def at_end(operands: Sequence[Field]) -> list[Field]:
    """Return what may be the last argument."""
    return at_start(operands[::-1])[::-1]


def before_end(operands: Sequence[Field]) -> list[Field]:
    """Return what may come before the last argument."""
    return after_start(operands[::-1])[::-1]


def tail(argument: Field, length: int, rest: str | None = None) -> Field:
    """The argument without its first characters, which are an option's name."""
    texts = tuple(text[length:] for text in argument.texts)
    return Field(
        argument.spelled[length:] if rest is None else rest,
        texts,
        argument.known,
        argument.glob,
        splits=argument.splits,
        several=argument.several,
    )


def wider(argument: Field, ending: str) -> Field:
    """The names that begin with the argument."""
    return Field(argument.spelled + ending, tuple(text + ending for text in argument.texts), argument.known, glob=True)


def paths_in(argument: Field) -> Iterator[Field]:
    """The argument if it looks like a path, or the path behind `--option=` or `-I`."""
    text = argument.spelled
    if text.startswith("-"):
        head, equals, value = text.partition("=")
        length = len(head) + 1 if equals else 2
        value = value if equals else text[2:] if not text.startswith("--") else ""
        if not looks_like_path(value) or value == "/" or (not equals and not value.startswith(("/", "~", ".."))):
            return
        yield tail(argument, length, value)
        return
    if looks_like_path(text):
        yield argument
    head, equals, value = text.partition("=")
    if equals and looks_like_path(value):
        yield tail(argument, len(head) + 1, value)


def may_be_files(argument: Field) -> Iterator[Field]:
    """Yield what of a word may be the name of a file: all of it, what follows `=`, or what is glued to `-o`."""
    text = argument.spelled
    head, equals, _ = text.partition("=")
    if not argument.known:
        return
    if equals:
        yield tail(argument, len(head) + 1)
    elif not text.startswith("-"):
        yield argument
    if text.startswith("-") and not text.startswith("--") and len(text) > 2:
        yield tail(argument, 2)


def looks_like_path(text: str) -> bool:
    if not text or _ADDRESS.match(text) or "\n" in text:
        return False
    return "/" in text or text.startswith("~") or text in (".", "..") or (text.startswith(".") and len(text) > 1)


def two_dashes(argument: Field) -> Field:
    """`-run=X` as `--run=X`, for programs to which they are the same and that know no letters in a row."""
    one_dash = argument.spelled.startswith("-") and not argument.spelled.startswith("--") and len(argument.spelled) > 1
    if not one_dash:
        return argument
    texts = tuple(f"-{text}" for text in argument.texts)
    return Field(f"-{argument.spelled}", texts, argument.known, argument.glob, several=argument.several)

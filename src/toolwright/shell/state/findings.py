"""Findings of a walk through a script so far."""

import math
import posixpath
import re
from collections.abc import Sequence
from dataclasses import field
from itertools import islice, product
from typing import Literal

from toolwright.record import record
from toolwright.shell.state.state import ALTERNATIVES, Field, ShellState

Touch = Literal[
    "read",
    "search",
    "look",
    "take",
    "carry",
    "write",
    "into",
    "within",
    "discard",
    "lose",
    "overwrite",
    "delete",
    "enter",
    "run",
    "script",
    "mention",
    "history",
    "past",
    "blob",
    "settings",
]
"""Touches of a path: `search` shows what is in it, `look` only asks whether it is there, `take` copies all that is
in it and `carry` gives it another name, `into` is the name a file gets if its target is a folder, `within` changes
something in a folder, nobody knows what, `discard` puts back what git has of it, `lose` takes away what nobody else has
of it, `mention` is a word that may be a file, `script` one whose text a shell runs, `history` is any file that git has
there, `past` any that it has ever had, `blob` a path as git has it, and `settings` one that git itself writes and that
is shut in a box."""

STEPS = 4_000
"""The most statements and files that are looked at, counting every time a loop or function comes round."""

LINKS = 400
"""The most names of its own that a line may give to places; every path is looked at under each of them."""
WORDS = 100_000
"""The most words that are looked at, counting those of a command again for each that it runs in turn."""

_DEVICE = re.compile(r"/dev/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd/\d+)")
_OWN_FOLDER = re.compile(r"/+proc/+(?:self|thread-self|\*)/+cwd(?=/|$)")
_OF_PROCESS = re.compile(r"/+(?:proc/+[^/]+/+(?:cwd|root|fd|fdinfo|task|exe|map_files|ns|environ|mem)|dev/+fd/+[^/]+/)")


@record(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Facts about the box that the command will run in. The default is no box at all."""

    complete: bool = False
    """True if whatever the command starts can change nothing but the project and what was granted, cannot read what
    the rules keep from being read, and cannot change what they keep from being changed, or our settings and data."""
    private_tmp: bool = False
    """True if `/tmp` and `/var/tmp` are the command's own, empty and gone with it."""


OPEN = Confinement()


class Contained(str):
    """A reason to doubt that is no reason in a box which keeps the command from doing harm."""

    __slots__ = ()


class TooMuch(Exception):
    """The script is longer, or goes round more often, than is worth following."""


@record(frozen=True, slots=True)
class Called:
    """One program and its arguments, in the plainest spelling."""

    text: str
    words: tuple[str, ...]


@record(slots=True)
class Draft:
    """A command of the script while it is being looked at."""

    start: int
    words: tuple[str, ...]
    shown: str
    called: list[Called] = field(default_factory=list[Called])
    """The command itself, then whatever it runs in turn."""
    known: set[Called] = field(default_factory=set[Called])
    suspected: dict[str, None] = field(default_factory=dict[str, None])
    """Texts among its words that may be commands which it runs."""
    folders: tuple[str, ...] | None = None
    """The folders it may run in; None until that was seen, empty if they are not known."""
    fed: bool = False
    """True if it was given input by the line itself, which its words do not show."""
    stdin: str | None = None
    """That input; empty where it is not known."""

    def add(self, argv: Sequence[Field]) -> bool:
        """Note a call as it is spelled, and with each of the values that its words may have; whether those were all."""
        self._note(tuple(one.spelled for one in argv))
        if all(len(one.texts) == 1 and one.texts[0] == one.spelled for one in argv):
            return True
        several = [_values(one) for one in argv]
        for words in islice(product(*several), ALTERNATIVES):
            self._note(words)
        return math.prod(map(len, several)) <= ALTERNATIVES

    def _note(self, words: tuple[str, ...]) -> None:
        called = Called(" ".join(words), words)
        if called not in self.known:
            self.known.add(called)
            self.called.append(called)

    def place(self, folders: tuple[str, ...]) -> None:
        """Note where it runs; in two places it is nowhere certain."""
        self.folders = folders if self.folders in (None, folders) else ()


def _values(argument: Field) -> tuple[str, ...]:
    return argument.texts if argument.known and not argument.glob and argument.texts else (argument.spelled,)


@record(slots=True)
class Findings:
    """Filled while walking; the same place may be walked several times."""

    confinement: Confinement = OPEN
    home: str = ""
    top: str = ""
    start: str = ""
    """The folder where the line begins: a canonical path."""
    drafts: dict[tuple[int, str], Draft] = field(default_factory=dict[tuple[int, str], Draft])
    touched: dict[Touch, dict[str, str]] = field(default_factory=dict[Touch, dict[str, str]])
    """For each kind of touch the paths, and how each is to be shown."""
    order: dict[str, None] = field(default_factory=dict[str, None])
    """All these paths as the line names them, one after the other."""
    reasons: dict[str, None] = field(default_factory=dict[str, None])
    bare: dict[str, None] = field(default_factory=dict[str, None])
    """Statements that write without running any command."""
    links: dict[str, str] = field(default_factory=dict[str, str])
    """Names that the script itself makes for other places."""
    doubts: int = 0
    """Counts the times that something was not understood, also where the reason is an old one."""

    steps: int = 0
    words: int = 0

    def count_step(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise TooMuch

    def count_words(self, number: int) -> None:
        self.words += number
        if self.words > WORDS:
            raise TooMuch

    def doubt(self, reason: str) -> None:
        self.doubts += 1
        self.reasons[reason] = None

    @property
    def contained(self) -> bool:
        """True if a box would take care of all that is doubted."""
        return all(isinstance(reason, Contained) for reason in self.reasons)

    def draft(self, start: int, words: tuple[str, ...], text: str) -> Draft:
        return self.drafts.setdefault((start, text), Draft(start, words, text))

    def touch(self, kind: Touch, argument: Field, state: ShellState) -> None:
        """Note that a file is touched, wherever the script may be at that point."""
        self.count_step()
        if not argument.known:
            self.doubt(f"`{argument.spelled}` names a file that is only known when it runs.")
            if "/" not in argument.spelled.partition("$")[0].partition("`")[0]:
                return
        if kind == "blob":
            self._blob(argument, state)
            return
        if kind == "settings":
            self._settings(argument, state)
            return
        paths = self.touched.setdefault(kind, {})
        for text in argument.texts:
            if not text or (text[0] == "/" and self._special_file(kind, text, argument, state)):
                continue
            if _may_climb(text) and argument.glob:
                self.doubt(f"`{text}` may match `..`, a folder further up.")
            if not state.folders and not text.startswith("/"):
                self.doubt(f"`{argument.spelled}` depends on the folder, which is not known at that point.")
            for folder in state.folders if not text.startswith("/") else ("",):
                path = absolute(folder, text)
                self.order[path] = None
                is_spelled_so = text == argument.spelled or (
                    text.startswith("/") and not argument.spelled.startswith("/")
                )
                paths.setdefault(path, path if is_spelled_so else absolute(folder, argument.spelled))

    def _blob(self, argument: Field, state: ShellState) -> None:
        """A path in git's store begins at the top of the work tree, wherever that is above the script's folder."""
        for folder in state.folders:
            while state.top and folder.startswith(f"{state.top}/"):
                folder = posixpath.dirname(folder)
                for text in argument.texts:
                    path = absolute(folder, text)
                    self.touched.setdefault("read", {}).setdefault(path, path)

    def _settings(self, argument: Field, state: ShellState) -> None:
        """They lie at the top of the work tree. Where no box shuts them, git writes them as it always has."""
        for folder in state.folders:
            inside = state.top and (folder == state.top or folder.startswith(f"{state.top}/"))
            for kind in ("settings", "write") if self.confinement.complete else ("settings",):
                for text in argument.texts:
                    path = absolute(state.top if inside else folder, text)
                    self.order[path] = None
                    self.touched.setdefault(kind, {}).setdefault(path, path)

    def _special_file(self, kind: Touch, text: str, argument: Field, state: ShellState) -> bool:
        """Tell whether a path is none of the file system's: a device, or one that leads through a process."""
        if _DEVICE.fullmatch(text):
            return True
        if match := _OWN_FOLDER.match(text):
            rest = text[match.end() :].lstrip("/") or "."
            self.touch(kind, Field(argument.spelled, (rest,), argument.known, argument.glob), state)
            return True
        if _OF_PROCESS.match(text):
            self.doubt(f"Where `{text}` leads depends on the process that looks.")
        return False

    def link(self, place: Field, target: Field, state: ShellState) -> None:
        """Note that from here on one name may lead to another place."""
        if len(self.links) > LINKS:
            raise TooMuch
        for folder in state.folders:
            for name in place.texts:
                for text in target.texts:
                    path = absolute(folder, name)
                    self.links[path] = absolute(posixpath.dirname(path), text)
                    self.links[f"{path}/{posixpath.basename(text.rstrip('/'))}"] = absolute(path, text)


def absolute(folder: str, text: str) -> str:
    """The path from the root, without `.` and doubled slashes.

    `..` stays where it follows a name: if that name is a link, only the file system knows where it leads.
    """
    parts: list[str] = []
    for part in posixpath.join(folder, text).split("/"):
        if part in ("", ".") or (part == ".." and not parts):
            continue
        parts.append(part)
    return "/" + "/".join(parts)


def _may_climb(text: str) -> bool:
    """Tell whether a wildcard in a name that begins with a dot could stand for the second dot of `..`."""
    return any(part.startswith(".") and re.search(r"[*?\[]", part) for part in text.split("/"))

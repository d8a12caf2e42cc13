"""What a walk through a script has found so far."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import field
from itertools import islice, product
from typing import Literal

from toolwright.record import record
from toolwright.shell.state import ALTERNATIVES, Field, State

Touch = Literal["read", "write", "delete", "enter", "run"]

STEPS = 10_000
"""How many statements are walked before giving up, counting every time a loop or function comes round."""

_DEVICE = re.compile(r"/dev/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd/\d+)")


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

    def add(self, argv: Sequence[Field]) -> None:
        """Note a call as it is spelled, and with each of the values that its words may have."""
        several = [one.texts if one.known and len(one.texts) > 1 else (one.spelled,) for one in argv]
        for words in (tuple(one.spelled for one in argv), *islice(product(*several), ALTERNATIVES)):
            called = Called(" ".join(words), words)
            if called not in self.called:
                self.called.append(called)


@record(slots=True)
class Findings:
    """Filled while walking; the same place may be walked several times."""

    drafts: dict[tuple[int, str], Draft] = field(default_factory=dict[tuple[int, str], Draft])
    touched: dict[Touch, dict[str, str]] = field(default_factory=dict[Touch, dict[str, str]])
    """For each kind of touch the paths, and how each is to be shown."""
    reasons: dict[str, None] = field(default_factory=dict[str, None])
    bare: dict[str, None] = field(default_factory=dict[str, None])
    """Statements that write without running any command."""
    doubts: int = 0
    """How often something was not understood; grows also when the reason is an old one."""

    steps: int = 0

    def count_step(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise TooMuch

    def doubt(self, reason: str) -> None:
        self.doubts += 1
        self.reasons[reason] = None

    def draft(self, start: int, words: tuple[str, ...], shown: str) -> Draft:
        return self.drafts.setdefault((start, shown), Draft(start, words, shown))

    def touch(self, kind: Touch, argument: Field, state: State) -> None:
        """Note that a file is touched, wherever the script may be at that point."""
        if not argument.known:
            self.doubt(f"`{argument.spelled}` names a file that is only known when it runs.")
            if "/" not in argument.spelled.partition("$")[0].partition("`")[0]:
                return
        paths = self.touched.setdefault(kind, {})
        for text in argument.texts:
            if _DEVICE.fullmatch(text) or not text:
                continue
            if _may_climb(text) and argument.glob:
                self.doubt(f"`{text}` may match `..`, a folder further up.")
            if not state.folders and not text.startswith("/"):
                self.doubt(f"`{argument.spelled}` depends on the folder, which is not known at that point.")
            for folder in state.folders if not text.startswith("/") else ("",):
                paths.setdefault(absolute(folder, text), absolute(folder, argument.spelled))


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
    """Whether a wildcard in a name that begins with a dot could stand for the second dot of `..`."""
    return any(part.startswith(".") and re.search(r"[*?\[]", part) for part in text.split("/"))

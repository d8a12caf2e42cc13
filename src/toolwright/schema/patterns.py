"""Regular expressions of strangers: which are soon done with a text, and over which a short one takes for ever."""

import math
import re
from dataclasses import field

from toolwright.record import record

MOST_STEPS = 7
"""Ten to the power of this: the ways to match that may have to be tried."""
ORDINARY = 1000
"""Letters of a text."""

_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]?", re.DOTALL)
_REPEATED = re.compile(r"[*+?]|\{\d*(,?)\d*\}")


def is_quick(pattern: str) -> bool:
    """Return whether Python is soon done with a pattern, whatever text of ordinary length it is tried on."""
    try:
        re.compile(pattern)
        return _Choices().read(pattern).steps(ORDINARY) <= MOST_STEPS
    except (re.error, OverflowError, RecursionError):
        return False


@record(slots=True)
class _Choices:
    """The places of a pattern at which a match can go on in more than one way."""

    repeats: int = 0
    """Those with as many ways as there are letters."""
    options: int = 0
    """Those with a few."""
    nested: bool = False
    """Whether one of them is in what is repeated: then the ways multiply with each letter, and it is never tried."""
    groups: list[bool] = field(default_factory=lambda: [False])
    """Of each group that is open, whether there is a choice in it."""

    def steps(self, length: int) -> float:
        """The power of ten of the ways to match a text of this length, at worst."""
        if self.nested:
            return math.inf
        return (self.repeats + 1) * math.log10(length + 1) + self.options * math.log10(4)

    def read(self, pattern: str) -> "_Choices":
        at, closed = 0, False
        while at < len(pattern):
            letter, repeated = pattern[at], _REPEATED.match(pattern, at)
            if repeated:
                self.nested |= closed
                self._repeat(repeated)
                # A sign behind it says how greedy it is.
                at = repeated.end() + pattern.startswith(("?", "+"), repeated.end())
                closed = False
                continue
            closed = letter == ")" and len(self.groups) > 1 and self._close()
            if letter == "(":
                self.groups.append(False)
            elif letter == "|" and len(self.groups) > 1:
                self.options += not self.groups[-1]
                self.groups[-1] = True
            at = _next(pattern, at)
        return self

    def _repeat(self, found: re.Match[str]) -> None:
        if found[0] == "?":
            self.options += 1
        elif found[0] in "*+" or found[1]:
            self.repeats += 1
        else:
            return
        self.groups[-1] = True

    def _close(self) -> bool:
        choice = self.groups.pop()
        self.groups[-1] |= choice
        return choice


def _next(pattern: str, at: int) -> int:
    """Where the next sign stands: behind what is escaped, a set of letters, or the beginning of a group."""
    if pattern[at] == "\\" or pattern.startswith("(?", at):
        return at + 2
    match = _SET.match(pattern, at) if pattern[at] == "[" else None
    return match.end() if match else at + 1

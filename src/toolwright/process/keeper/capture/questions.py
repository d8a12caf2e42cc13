"""Questions about a change that a program is about to make: it is held until they are answered."""

import _thread
import os
from collections.abc import Callable

from .calls import SystemCall

Say = Callable[..., None]
"""Tells our master something, by names and values of JSON."""
GIT = "/.git/"
EXCLUSIVE = os.O_CREAT | os.O_EXCL
UNASKED = ("folder", "remove folder", "times")
"""Kinds of calls that change no file."""


class ChangeQuestions:
    """Asked by the thread that looks at calls, one at a time; answered by the one that listens to our master."""

    def __init__(self, say: Say, roots: tuple[str, ...], parts: list[str]) -> None:
        """Only places in `roots` with one of the `parts` in their path are asked about."""
        self._say = say
        self._roots = roots
        self._parts = parts
        self._allowed = set[str]()
        self._number = 0
        self._answered = _thread.allocate_lock()
        self._answered.acquire()
        self._waits = False
        self._allow = False
        self._is_over = False
        self._loses: bool | None = None

    def allows(self, call: SystemCall, places: tuple[str, ...], flags: int, program: str) -> bool:
        """Return whether a call may change what it is about to; what was allowed once is not asked about again."""
        if call.kind in UNASKED:
            return True
        changed = places[1:] if call.kind == "link" else places
        asked = [place for place in changed if self._is_of_interest(place) and place not in self._allowed]
        if not asked:
            return True
        exclusive = call.kind == "open" and flags & EXCLUSIVE == EXCLUSIVE
        source = places[0] if call.kind == "rename" else ""
        allowed = self._ask("new" if exclusive else call.kind, asked, source, program)
        if allowed:
            self._allowed.update(asked)
        return allowed

    def allows_loss(self, place: str) -> bool:
        """Return whether a file may be changed whose content of before cannot be kept. The first answer is for all."""
        if self._loses is None:
            self._loses = self._ask("lose", [place], "", "")
        return self._loses

    def _is_of_interest(self, place: str) -> bool:
        if not f"{place}/".startswith(self._roots) or GIT in f"{place}/":
            return False
        path = place.lower()
        return any(part in path for part in self._parts)

    def _ask(self, kind: str, asked: list[str], source: str, program: str) -> bool:
        if self._is_over:
            return False
        self._number += 1
        self._waits = True
        self._say(ask=self._number, kind=kind, places=asked, source=source, program=program)
        self._answered.acquire()
        return self._allow

    def answer(self, number: int, *, allow: bool) -> None:
        """Let the call that waits go on, or not."""
        if self._waits and number == self._number:
            self._waits, self._allow = False, allow
            self._answered.release()

    def end(self) -> None:
        """Refuse all: nobody answers any more."""
        self._is_over = True
        self.answer(self._number, allow=False)

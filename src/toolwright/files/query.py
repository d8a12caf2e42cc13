"""The query of a search, its findings in a file, and its early end."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from toolwright.record import record

LINES = 100
"""At most this many lines of one file are kept; the others are only counted."""
COUNTED = 10_000
"""At most this many matching lines of one file are counted; after that it is left."""


@record(frozen=True, slots=True, kw_only=True)
class Query:
    """One search through the lines of files."""

    pattern: str
    base: Path
    """The folder that `start`, the include patterns and all answers are relative to."""
    start: str = "."
    """The folder or file to search."""
    include: tuple[str, ...] = ()
    """Only files that fit one of these; `!` excludes. A file named like this is searched even if it is ignored."""
    literal: bool = False
    ignored: bool = False
    """True to search ignored files too."""

    @property
    def crlf(self) -> bool:
        """True if `$` has to see past a carriage return.

        A pattern that names one, or the very end of the text, wants the bytes as they are.
        """
        return "$" in self.pattern and not self.literal and not re.search(r"\\[rz]", self.pattern)


class PatternError(ValueError):
    """The pattern cannot be used; the message says why, `at` where (counted from 0)."""

    def __init__(self, message: str, at: int | None = None) -> None:
        super().__init__(message)
        self.at = at


class Matches(NamedTuple):
    """The matching lines of one file."""

    path: str
    total: int
    lines: bytes
    """The first of them, each as `number:offset:text`."""


class SearchRun:
    """One search under way. It can be ended from another thread, and notes what it had to leave out."""

    def __init__(self) -> None:
        self.ended = False
        self.skipped = False
        """True if something could not be read."""
        self._lock = threading.Lock()
        self._kill: Callable[[], None] | None = None

    def end(self) -> None:
        """Stop looking; what has been found stays."""
        with self._lock:
            self.ended = True
            if self._kill is not None:
                self._kill()

    @contextmanager
    def killing(self, kill: Callable[[], None]) -> Iterator[None]:
        """While the body runs, ending the search also calls this; leaving the body calls it in any case."""
        with self._lock:
            self._kill = kill
            if self.ended:
                kill()
        try:
            yield
        finally:
            with self._lock:
                self._kill = None
            kill()

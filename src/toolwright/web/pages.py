"""Pages that were fetched, kept for a while so that a session does not fetch them again."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import field

from toolwright.record import record
from toolwright.web.urls import Url

KEPT_FOR = 900.0
"""Seconds that a page is kept, unless its server says less."""
MAX_BYTES = 32 * 1024 * 1024
MAX_PAGES = 64

Key = tuple[str, str, str]
"""Session, address and what was accepted."""


@record(frozen=True, slots=True, kw_only=True)
class WebPage:
    """An answer of a server."""

    url: Url
    """Address after all redirects."""
    hops: tuple[Url, ...]
    """All addresses on the way, this one included."""
    status: int
    reason: str
    content_type: str
    data: bytes
    kept_for: float = 0.0
    """Seconds for which it may be shown again without asking the server."""


@record(slots=True, kw_only=True)
class Pages:
    """The pages used last, within a limit of memory."""

    clock: Callable[[], float] = time.monotonic
    _pages: OrderedDict[Key, tuple[float, WebPage]] = field(default_factory=OrderedDict[Key, tuple[float, WebPage]])
    _size: int = 0

    def find(self, key: Key) -> WebPage | None:
        if key not in self._pages:
            return None
        until, page = self._pages[key]
        if until <= self.clock():
            self._drop(key)
            return None
        self._pages.move_to_end(key)
        return page

    def keep(self, key: Key, page: WebPage) -> None:
        if page.kept_for <= 0:
            return
        self._drop(key)
        self._pages[key] = (self.clock() + page.kept_for, page)
        self._size += len(page.data)
        while self._size > MAX_BYTES or len(self._pages) > MAX_PAGES:
            self._drop(next(iter(self._pages)))

    def _drop(self, key: Key) -> None:
        _, page = self._pages.pop(key, (0.0, None))
        self._size -= len(page.data) if page is not None else 0

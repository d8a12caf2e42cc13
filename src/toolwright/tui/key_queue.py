"""Keys one after the other: each is handled when all that the one before it caused has come about."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, repeat

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Input, TextArea

ROUNDS = 3
"""Rounds in which the effect of a key may have effects: a key sends a message, which moves the focus, and so on."""
LONGEST = 1.0
"""Seconds after which the next key is handled whatever may still come of the one before."""
HELD = 2.0
"""Seconds that keys wait for the dialog of a command."""
NEVER_HELD = "ctrl+c"

Pressing = events.Key | events.Paste


class KeyQueue:
    """Keys that the person has pressed and no widget has handled yet.

    Widgets have a queue each, and the keys of the conversation are looked at before any of them: without an order, a
    key would act on a text whose letters are still on their way, or on a dialog that has just been answered.
    """

    def __init__(self, app: "App[int]", handle: Callable[[Pressing], Awaitable[None]]) -> None:
        self.app, self.handle = app, handle
        self._waiting: deque[Pressing] = deque()
        self._screen: Screen[object] | None = None
        """The one that has settled."""
        self._number = 0
        self._settling = self._held = False
        self._letter = self._loose = False
        """True if the last key was a letter of a text; true if it was one among others, which nothing follows."""
        self._limit: asyncio.TimerHandle | None = None

    async def take(self, event: Pressing) -> None:
        """Handle it, now or when its turn comes. Called in the task of the app, as all below."""
        self._waiting.append(event)
        if not self._settling:
            await self._next()

    def hold(self) -> None:
        """A command is at work that may open a dialog, for which the next keys are meant then."""
        self._held = True
        asyncio.get_running_loop().call_later(HELD, self.release)

    def release(self) -> None:
        if self._held:
            self._held = False
            if not self._settling:
                self.app.call_later(self._next)

    async def _next(self) -> None:
        while self._waiting and not self._settling and not self._waits(self._waiting[0]):
            letter = self._is_letter(self._waiting[0])
            if self.app.screen is self._screen and (letter or not self._loose):
                await self.handle(self._waiting.popleft())
                # Letters of a word follow each other in one queue; the first of them may mean something of its own.
                self._loose, self._letter = letter and self._letter, letter
            else:
                self._loose = False
            self._screen = self.app.screen
            if not self._loose:
                self._settle()

    def _waits(self, event: Pressing) -> bool:
        return self._held and getattr(event, "key", "") != NEVER_HELD

    def _is_letter(self, event: Pressing) -> bool:
        return isinstance(event, events.Key) and event.is_printable and isinstance(self.app.focused, TextArea | Input)

    def _settle(self) -> None:
        self._settling = True
        self._number += 1
        path = list((self.app.focused or self.app.screen).ancestors_with_self)
        if self._limit is not None:
            self._limit.cancel()
        self._limit = asyncio.get_running_loop().call_later(LONGEST, self.app.call_later, self._settled, self._number)
        self.app.call_next(self._after_pending_messages, self._number, chain.from_iterable(repeat(path, ROUNDS)))

    async def _after_pending_messages(self, number: int, path: "Iterator[DOMNode]") -> None:
        """Go behind all that waits in the queue of each, from the widget up to the app; one that is gone has none."""
        for pump in path:
            if pump.call_later(self._after_pending_messages, number, path):
                return
        await self._settled(number)

    async def _settled(self, number: int) -> None:
        if self._settling and number == self._number:
            self._settling = False
            await self._next()

"""A connection to a server that is made again when it breaks: what happens there is told once, as our own records."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from toolwright.client.calls import ServerError, ServerGone, as_list, reading_answer
from toolwright.client.client import Client
from toolwright.client.deduplicate import EventDeduplicator
from toolwright.client.events import event_of, payload_of, session_of_event
from toolwright.errors import ToolwrightError
from toolwright.events import Bus, Event
from toolwright.protocols.sse import ServerEvent
from toolwright.session.events import SessionCreated, SessionError, SessionStatus

SILENCE = 90.0
"""Seconds without a sign of life after which a connection counts as broken; servers give one each 10 or 30."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before the connection is tried again; each time twice as long."""
_ANEW = ("server.instance.disposed", "global.disposed")
"""Notice of a server that no longer knows what it has told."""


class EventLink:
    """Publishes on `bus` what a server tells. `replays` says whether the server itself tells what was missed."""

    def __init__(self, client: Client, *, replays: bool) -> None:
        self.client = client
        self.bus = Bus()
        self.telling = EventDeduplicator()
        self._watched: set[str] = set()
        self._replays = replays
        self._last = ""
        self._up = asyncio.Event()
        self._lost = False
        self._told: set[str] = set()
        """The sessions in which it was said that the server is gone."""
        self.failures: dict[str, str] = {}
        """By session what went wrong last, for servers whose answers do not say it."""
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Returns once everything that happens from now on is heard."""
        self._task = asyncio.create_task(self._follow())
        up = asyncio.create_task(self._up.wait())
        await asyncio.wait([up, self._task], return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        if self._task.done():
            self._task.result()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError, ToolwrightError):
                await self._task

    def watch(self, *session_ids: str) -> None:
        """Tell of these sessions and those below them; others on the same server are other people's affair."""
        self._watched.update(session_ids)

    async def back(self) -> None:
        """Until the server can be heard again; at least a moment, since others notice sooner than we do."""
        await asyncio.sleep(FIRST_PAUSE)
        await self._up.wait()

    async def _follow(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                async for event in self.client.server_events(deltas=True, after=self._last, silence=SILENCE):
                    pause = FIRST_PAUSE
                    await self._hear(event)
            except ServerGone:
                if not self._lost and not self._up.is_set():
                    raise  # it has never been there
            except ServerError as error:
                # One that was started anew has another secret; one that is ending or starting says so.
                if not self._lost and (error.status != 401 or not self.client.find_secret()):
                    raise
                self.client.find_secret()
            self._lost = True
            self._up.clear()
            self.tell_loss(*self.telling.busy)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def tell_loss(self, *session_ids: str) -> None:
        """Say in these sessions that the server is gone, once until it is back."""
        for session_id in session_ids:
            if session_id not in self._told:
                self._told.add(session_id)
                message = f"{self.client.address} does not answer"
                status = {"type": "retry", "attempt": 1, "message": message, "wait": "trying again"}
                self.bus.publish(SessionStatus(session_id=session_id, status=status))

    async def _hear(self, event: ServerEvent) -> None:
        self._last = event.id or self._last
        payload = payload_of(event.data)
        if payload is None:
            return
        kind = payload["type"]
        if kind in _ANEW or (kind == "server.connected" and self._lost and not self._replays):
            await self._catch_up()
        if kind == "server.connected":
            self._lost = False
            self._told.clear()
            self._up.set()
        elif (known := event_of(payload)) is not None and self._concerns(known):
            self._publish(self.telling.take(known))

    def _concerns(self, event: Event) -> bool:
        match event:
            case SessionCreated(info=info) if info.parent_id in self._watched:
                self.watch(info.id)
            case SessionError(session_id=session_id, error=error):
                self.failures[session_id] = str(error.data.get("message", error.name))
        about = session_of_event(event)
        return not about or about in self._watched

    async def _catch_up(self) -> None:
        """Look at what the server knows now, and tell what differs from what was told."""
        telling, client = self.telling, self.client
        statuses = await client.send("GET", "/session/status")
        for session_id in dict.fromkeys((*telling.busy, *telling.last)):
            try:
                messages = await client.messages(session_id)
            except ServerError:
                continue  # it was deleted
            self._publish(telling.catch_up(session_id, messages, at_work=session_id in statuses))
        waiting: list[str] = []
        for kind, path in (("permission.asked", "/permission"), ("question.asked", "/question")):
            for asked in as_list(await client.send("GET", path)):
                with reading_answer():
                    waiting.append(asked["id"])
                known = event_of({"type": kind, "properties": asked})
                if known is not None and self._concerns(known):
                    self._publish(telling.take(known))
        self._publish(telling.withdrawn(waiting))

    def _publish(self, events: Iterable[Event]) -> None:
        for event in events:
            self.bus.publish(event)

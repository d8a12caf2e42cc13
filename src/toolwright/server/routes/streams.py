"""Streams of what happens: of one folder, or of all that are open."""

import asyncio
from typing import Any

from starlette.responses import Response

from toolwright.http_server.guard import Receive, Scope, Send
from toolwright.http_server.refusal import HttpRefusal
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.dialects import Dialect
from toolwright.server.listeners import Channel, Listener

routes = Routes()

STREAMS = 256
"""Listeners at once."""
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


@routes.get("/event", "event.subscribe")
async def events(ask: RouteCall) -> Any:
    """Stream the events of a folder, as server-sent events."""
    workspace = await ask.workspace()
    return _stream(ask, "whole", str(workspace.directory))


@routes.get("/tw/event", "tw.event")
async def numbered_events(ask: RouteCall) -> Any:
    """The same, from an event of which the number is known: `?after=`."""
    workspace = await ask.workspace()
    return _stream(ask, "whole", str(workspace.directory))


@routes.get("/global/event", "global.event")
async def all_events(ask: RouteCall) -> Any:
    """Stream the events of all open folders, each with its folder."""
    await ask.workspace()
    return _stream(ask, "deltas", "")


def _stream(ask: RouteCall, usual: Dialect, directory: str) -> Response:
    wanted = ask.query("deltas")
    dialect: Dialect = "deltas" if wanted in ("1", "true") else "whole" if wanted in ("0", "false") else usual
    if sum(len(channel.listeners) for channel in ask.serving.channels.values()) >= STREAMS:
        raise HttpRefusal(429, "TooManyRequests", f"At most {STREAMS} streams are open at once. Close some.")
    last = ask.request.headers.get("last-event-id", "") or ask.query("after")
    return EventStream(ask.serving.channels[dialect], directory, last)


class EventStream(Response):
    """An answer that goes on until either side ends it."""

    def __init__(self, channel: Channel, directory: str, last: str) -> None:
        super().__init__(None, 200, _HEADERS, "text/event-stream")
        self._channel, self._directory, self._last = channel, directory, last

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        listener = self._channel.join(self._directory, self._last)
        disconnect = asyncio.create_task(_disconnected(receive))
        disconnect.add_done_callback(lambda _: listener.end())
        try:
            await _carry(listener, send)
        finally:
            disconnect.cancel()
            self._channel.leave(listener)


async def _carry(listener: Listener, send: Send) -> None:
    while True:
        await listener.news.wait()
        if piece := listener.take():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if listener.ended and not listener.waiting:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

"""The answer to a request that takes a whole turn: begun at once, kept alive with blanks, ended with the JSON."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from toolwright.errors import ToolwrightError
from toolwright.server.guard import Receive, Scope, Send
from toolwright.server.refusal import refusal_of
from toolwright.wire import json_text, to_json

BLANK_SECONDS = 20.0
"""Clients give up after five minutes without a byte."""


class Waiting(Response):
    """Leading blanks are legal in JSON, so that whoever reads it sees only the value."""

    def __init__(self, task: "asyncio.Task[Any]", shown: Callable[[Any], Any]) -> None:
        super().__init__(None, 200, {"cache-control": "no-store"}, "application/json")
        self._task, self._shown = task, shown

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while not self._task.done():
            await asyncio.wait([self._task], timeout=BLANK_SECONDS)
            if not self._task.done():
                await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await send({"type": "http.response.body", "body": self._content(), "more_body": False})

    def _content(self) -> bytes:
        error = asyncio.CancelledError() if self._task.cancelled() else self._task.exception()
        if isinstance(error, ToolwrightError):
            value: Any = refusal_of(error).to_json()
        elif error is not None:
            value = {"name": "UnknownError", "data": {"message": "The turn broke off. Look at the session's messages."}}
        else:
            value = self._shown(self._task.result())
        try:
            return json_text(value).encode()
        except UnicodeEncodeError:
            return json.dumps(to_json(value), separators=(",", ":")).encode()

"""The editor on the other side: its abilities, messages to it in order, requests to it."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from toolwright.deadline import time_limit
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import Peer, RpcClosed, RpcError
from toolwright.record import record

JOINED = 0.02
"""Seconds over which pieces of a text are put together."""
BACKLOG = 1000
"""Updates that wait to be sent, beyond which those that can be done without are left out."""


@record(frozen=True, slots=True, kw_only=True)
class Abilities:
    """Abilities that an editor declares. What it does not say, or says in another form, it cannot."""

    reads: bool = False
    """It tells the text of a file, saved or not."""
    writes: bool = False
    terminal: bool = False
    forms: bool = False
    """It can put a question with several fields."""
    terminal_login: bool = False
    """It can start a program in a terminal for the user to log in, by the older sign for it."""

    @classmethod
    def of(cls, params: Any) -> "Abilities":
        known = _object(params)
        files, asking, more = (_object(known.get(key)) for key in ("fs", "elicitation", "_meta"))
        return cls(
            reads=files.get("readTextFile") is True,
            writes=files.get("writeTextFile") is True,
            terminal=known.get("terminal") is True,
            forms=isinstance(asking.get("form"), dict),
            terminal_login=more.get("terminal-auth") is True,
        )


class Editor:
    """One for each connection."""

    def __init__(self) -> None:
        self.can = Abilities()
        self._peer: Peer | None = None
        self._queue: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def serve(self, peer: Peer) -> None:
        """Send what there is to tell until the editor is gone."""
        self._peer = peer
        sending = asyncio.create_task(self._send())
        try:
            await peer.ended.wait()
        finally:
            sending.cancel()
            while not self._queue.empty():
                self._queue.get_nowait()
                self._queue.task_done()

    def tell(self, session_id: str, update: Json) -> None:
        """Have an update of a session sent, after those before it."""
        if self._queue.qsize() > BACKLOG and _is_progress(update):
            return  # the editor does not keep up; the whole comes at the end of the call
        self._queue.put_nowait((session_id, update))

    async def flush(self) -> None:
        """Wait until everything so far is sent."""
        if self._peer is not None and not self._peer.ended.is_set():
            await self._queue.join()

    async def ask(self, method: str, params: Json, seconds: float | None = None) -> Any:
        """The answer to a request; RpcError, RpcClosed, or TimeoutError if it takes longer."""
        if self._peer is None:
            raise RpcClosed("There is no editor.")
        async with time_limit(seconds):
            return await self._peer.request(method, params)

    def begin(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Let something go on that nobody waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _send(self) -> None:
        held: tuple[str, Json] | None = None
        with suppress(RpcClosed):
            while self._peer is not None:
                session_id, update = held or await self._queue.get()
                held, joined = None, 1
                if _is_text(update):
                    await asyncio.sleep(JOINED)
                while _is_text(update) and not self._queue.empty():
                    held = self._queue.get_nowait()
                    if held[0] != session_id or not _goes_on(update, held[1]):
                        break
                    text = update["content"]["text"] + held[1]["content"]["text"]
                    update, held, joined = update | {"content": {"type": "text", "text": text}}, None, joined + 1
                try:
                    await self._peer.notify("session/update", {"sessionId": session_id, "update": update})
                finally:
                    for _ in range(joined):
                        self._queue.task_done()


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _is_text(update: Json) -> bool:
    return bool(update["sessionUpdate"].startswith("agent_") and update["content"].get("type") == "text")


def _is_progress(update: Json) -> bool:
    """Return whether it shows no more than how far a command has come."""
    content = update.get("content")
    return update.get("status") == "in_progress" and isinstance(content, list) and content[0]["type"] == "content"


def _goes_on(update: Json, following: Json) -> bool:
    """Return whether two pieces are of one text."""
    keys = ("sessionUpdate", "messageId")
    return _is_text(following) and all(update.get(key) == following.get(key) for key in keys)


FAILED = (RpcError, RpcClosed, TimeoutError)
"""Errors that a request to the editor may end with instead of an answer."""

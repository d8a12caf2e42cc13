"""JSON-RPC 2.0 with another program: requests and notifications both ways, cancelled and closed cleanly."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import count
from typing import Any, Literal, Self

from toolwright.protocols.framing import LARGEST, Frames, Headers, LineFraming
from toolwright.protocols.json_text import read_json
from toolwright.record import record

log = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
BUSY = -32000
CANCELLED = -32800
AT_ONCE = 256
"""Requests of the other side that are worked on at the same time; more are refused."""
_CHUNK = 64 * 1024
_TOGETHER = 64
"""Messages that are written in one piece."""

Id = int | str
Answer = Callable[[str, Any], Awaitable[Any]]
"""Answers a request of the other side, or raises RpcError."""
Notified = Callable[[str, Any], None]
"""Takes a notification of the other side; called in order, so it must not wait for anything."""


class RpcError(Exception):
    """The answer to a request was an error, or is to be one."""

    def __init__(self, message: str, code: int = INTERNAL_ERROR, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class RpcClosed(Exception):
    """The connection is closed, so no answer will come."""


@record(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A protocol's way to put messages on the stream, and to say that a request is no longer wanted."""

    framing: Literal["headers", "lines"]
    cancel: str
    cancel_key: str
    complains: bool = False
    """Whether what is no message gets an error for an answer, rather than being passed over as a stray print."""

    def frames(self, largest: int) -> Frames:
        return Headers(largest) if self.framing == "headers" else LineFraming(largest)


LSP = Dialect(framing="headers", cancel="$/cancelRequest", cancel_key="id")
MCP = Dialect(framing="lines", cancel="notifications/cancelled", cancel_key="requestId")
ACP = Dialect(framing="lines", cancel="$/cancel_request", cancel_key="requestId", complains=True)


async def refuse(method: str, _params: Any) -> Any:
    """Answers for a side that offers nothing."""
    raise RpcError(f"There is no method {method!r}.", METHOD_NOT_FOUND)


def ignore(_method: str, _params: Any) -> None:
    """Takes notifications that nobody waits for."""


class Peer:
    """The program on the other side of the streams. Use it in `async with`, or start and close it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        dialect: Dialect,
        *,
        answer: Answer = refuse,
        notified: Notified = ignore,
        largest: int = LARGEST,
    ) -> None:
        self.ended = asyncio.Event()
        """Set once nothing more will come."""
        self._reader, self._writer, self._dialect = reader, writer, dialect
        self._answer, self._notified = answer, notified
        self._frames = dialect.frames(largest)
        self._largest = largest
        self._ids = count(1)
        self._waiting: dict[Id, asyncio.Future[Any]] = {}
        self._working: dict[Id, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._outgoing: list[tuple[Id | None, bytes]] = []
        """Messages, and the ids of requests, that wait for the end of this turn of the loop to be written at once."""
        self._why = "it was not started"

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def start(self) -> None:
        """Begin to read what the other side says."""
        self._why = ""
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Any = None) -> Any:
        """The result; RpcError if the other side says so. A caller that is cancelled cancels the request there too."""
        answer = self.ask(method, params)
        try:
            await self._drain()
            return await answer
        finally:
            answer.cancel()

    def ask(self, method: str, params: Any = None) -> asyncio.Future[Any]:
        """Hand a request over without waiting; cancelling its answer cancels it on the other side too."""
        request_id = next(self._ids)
        answer = asyncio.get_running_loop().create_future()
        packed = self._packed(_message(id=request_id, method=method, params=params))
        self._waiting[request_id] = answer
        answer.add_done_callback(partial(self._forget, request_id))
        self._queue(packed, request_id)
        return answer

    def _forget(self, request_id: Id, answer: asyncio.Future[Any]) -> None:
        self._waiting.pop(request_id, None)
        if answer.cancelled():
            self._put(_message(method=self._dialect.cancel, params={self._dialect.cancel_key: request_id}))
        else:
            answer.exception()  # looked at, should nobody wait for it any more

    async def notify(self, method: str, params: Any = None) -> None:
        await self._send(_message(method=method, params=params))

    def tell(self, method: str, params: Any = None) -> None:
        """The same without waiting; dropped where the other side takes nothing any more."""
        self._put(_message(method=method, params=params))

    async def close(self) -> None:
        """Stop everything that is under way. Whoever waits for an answer gets RpcClosed."""
        tasks = [*self._working.values(), *([self._reading] if self._reading else [])]
        self.flush()
        self._end("it was closed here")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._writer.close()

    # What comes in

    async def _read(self) -> None:
        why = "the other side closed it"
        try:
            while data := await self._reader.read(_CHUNK):
                for text in self._frames.feed(data):
                    self._take(text)
        except (OSError, ValueError) as error:
            why = f"it broke: {error}"
            self._pass_over(f"This is the end: {error}.", PARSE_ERROR)
        finally:
            self._end(why)

    def _take(self, text: bytes) -> None:
        try:
            value = read_json(text.decode("utf-8", "replace"))
        except ValueError:
            self._pass_over(f"This is no JSON: {text[:40]!r}.", PARSE_ERROR)
            return
        for message in value if isinstance(value, list) else [value]:
            if not isinstance(message, dict) or not message.keys() & {"id", "method"}:
                self._pass_over(f"This is no message: {repr(message)[:40]}.", INVALID_REQUEST)
            elif not isinstance(message.get("method") or "", str):
                self._pass_over(f"{repr(message['method'])[:40]} is no method.", INVALID_REQUEST)
            elif not isinstance(message.get("method"), str):
                self._answered(message)
            elif "id" in message:
                self._begin(message["id"], message["method"], message.get("params"))
            else:
                self._notice(message["method"], message.get("params"))

    def _pass_over(self, problem: str, code: int) -> None:
        log.debug("passed over what is no message: %s", problem)
        if self._dialect.complains:
            self._put(_failure(None, RpcError(problem, code)))

    def _answered(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        waiting = self._waiting.get(request_id) if isinstance(request_id, int | str) else None
        if waiting is None or waiting.done():
            return  # of a request that was cancelled, or that nobody made
        error = message.get("error")
        if error is None:
            waiting.set_result(message.get("result"))
        elif isinstance(error, dict):
            code = error.get("code")
            known = code if isinstance(code, int) else INTERNAL_ERROR
            waiting.set_exception(RpcError(str(error.get("message", "")), known, error.get("data")))
        else:
            waiting.set_exception(RpcError(str(error)))

    def _notice(self, method: str, params: Any) -> None:
        """Take a notification, once the requests before it are begun."""
        asyncio.get_running_loop().call_soon(self._told, method, params)

    def _told(self, method: str, params: Any) -> None:
        if method == self._dialect.cancel:
            request_id = params.get(self._dialect.cancel_key) if isinstance(params, dict) else None
            if isinstance(request_id, int | str) and request_id in self._working:
                self._working[request_id].cancel()
            return
        try:
            self._notified(method, params)
        except Exception:
            log.exception("the notification %s could not be taken", method)

    def _begin(self, request_id: Any, method: str, params: Any) -> None:
        """Answer a request in a task of its own, so that others can be read meanwhile."""
        if not isinstance(request_id, int | str) or request_id in self._working:
            self._put(_failure(None, RpcError("A request needs an id of its own.", INVALID_REQUEST)))
        elif len(self._working) >= AT_ONCE:
            self._put(_failure(request_id, RpcError("Too many requests at once.", BUSY)))
        else:
            self._working[request_id] = asyncio.create_task(self._work(request_id, method, params))

    async def _work(self, request_id: Id, method: str, params: Any) -> None:
        try:
            await self._reply(request_id, method, await self._outcome(method, params))
        except RpcClosed:
            return
        except asyncio.CancelledError:
            self._put(_failure(request_id, RpcError("The request was cancelled.", CANCELLED)))
            raise
        finally:
            self._working.pop(request_id, None)

    async def _outcome(self, method: str, params: Any) -> Any:
        """Return the answer: a value, or the error to tell."""
        try:
            return await self._answer(method, params)
        except RpcError as error:
            return error
        except Exception as error:
            log.exception("the request %s could not be answered", method)
            return RpcError(f"{method} broke: {error}")

    async def _reply(self, request_id: Id, method: str, outcome: Any) -> None:
        if isinstance(outcome, RpcError):
            await self._send(_failure(request_id, outcome))
            return
        try:
            await self._send({"jsonrpc": "2.0", "id": request_id, "result": outcome})
        except (TypeError, ValueError) as error:
            log.exception("the answer to %s is no JSON", method)
            await self._send(_failure(request_id, RpcError(f"The answer to {method} is no JSON: {error}")))

    def _end(self, why: str) -> None:
        if self.ended.is_set():
            return
        self._why = why
        self.ended.set()
        self._give_up(self._waiting.values())
        for task in self._working.values():
            task.cancel()

    def _give_up(self, requests: Iterable[asyncio.Future[Any]]) -> None:
        for waiting in requests:
            if not waiting.done():
                waiting.set_exception(RpcClosed(f"No answer will come: {self._why}."))

    # What goes out

    async def _send(self, message: dict[str, Any]) -> None:
        """Hand a message over, and wait while the other side is slow to take it."""
        self._queue(self._packed(message))
        await self._drain()

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as error:
            raise RpcClosed(f"Nothing can be sent: {error}.") from error

    def _put(self, message: dict[str, Any]) -> None:
        """Hand over a short message without waiting; dropped where the other side takes nothing any more."""
        if not self._why and self._writer.transport.get_write_buffer_size() < self._largest:
            self._queue(self._packed(message))

    def _packed(self, message: dict[str, Any]) -> bytes:
        if self._why:
            raise RpcClosed(f"Nothing can be sent: {self._why}.")
        return self._frames.pack(_encoded(message))

    def _queue(self, packed: bytes, request_id: Id | None = None) -> None:
        """Messages of one turn of the loop go out in one piece: each write on its own would wake the other side.

        So do those of the next turn, in which tasks begin that were made in this one.
        """
        if not self._outgoing:
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self.flush)
        self._outgoing.append((request_id, packed))
        if len(packed) >= _CHUNK or len(self._outgoing) >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write what was handed over now, rather than with what may follow in this turn of the loop."""
        sent, self._outgoing = self._outgoing, []
        self._writer.write(b"".join(packed for _, packed in sent))
        if sent and not self._why and self._writer.transport.is_closing():
            self._why = "the other side takes nothing any more"
            # Requests from before may still be answered.
            self._give_up([self._waiting[one] for one, _ in sent if one is not None and one in self._waiting])


def _message(**fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **{name: value for name, value in fields.items() if value is not None}}


def _failure(request_id: Id | None, error: RpcError) -> dict[str, Any]:
    body = {"code": error.code, "message": str(error)} | ({} if error.data is None else {"data": error.data})
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


_pack = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def _encoded(message: dict[str, Any]) -> bytes:
    try:
        return _pack(message).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can say
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()

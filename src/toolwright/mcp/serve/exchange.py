"""One request over HTTP and its answer: at once as JSON, or as events if something is said before."""

import json
from collections.abc import Mapping
from dataclasses import field
from http import HTTPStatus

from toolwright.http_server.guard import BODY, Receive, Scope, Send
from toolwright.http_server.refusal import HttpRefusal
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INVALID_REQUEST
from toolwright.record import record


class RpcProblem(HttpRefusal):
    """A request that is not carried out, and the code that the protocol has for it."""

    def __init__(self, status: int, text: str, *, code: int = INVALID_REQUEST, message: Json | None = None) -> None:
        super().__init__(status, "Refused", text)
        self.code = code
        self.request_id = (message or {}).get("id")


@record(slots=True)
class HttpExchange:
    """A request of the ASGI form, and the way to answer it."""

    scope: Scope
    receive: Receive
    send: Send
    always: list[tuple[bytes, bytes]]
    """Headers of every answer."""
    more: dict[str, str] = field(default_factory=dict[str, str])
    """Headers to send with the answer."""
    streaming: bool = False

    @property
    def method(self) -> str:
        return str(self.scope["method"])

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the request; of one that comes twice the last."""
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]}

    async def body(self) -> bytes:
        pieces = bytearray()
        more = True
        while more:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                raise RpcProblem(400, "The body came to no end.")
            pieces += event.get("body", b"")
            more = event.get("more_body", False)
            if len(pieces) > BODY:
                raise RpcProblem(413, f"A request has at most {BODY:,} bytes.")
        return bytes(pieces)

    async def hung_up(self) -> None:
        """Return once the client has closed the connection, after its whole body was read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def answer(self, message: Json, status: int = 200) -> None:
        if self.streaming:
            await self.event(message, last=True)
        else:
            await self._send(status, "application/json", json.dumps(message).encode())

    async def event(self, message: Json, *, last: bool = False) -> None:
        """Say something before the answer; from then on the answer is a stream of events."""
        await self.begin_events()
        data = b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n"
        await self.send({"type": "http.response.body", "body": data, "more_body": not last})

    async def begin_events(self) -> None:
        if not self.streaming:
            self.streaming = True
            await self._head(200, {"content-type": "text/event-stream", "cache-control": "no-cache"})
            # Else the head waits for the first event.
            await self.send({"type": "http.response.body", "body": b": \r\n\r\n", "more_body": True})

    async def end_events(self) -> None:
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def accept(self, status: int = 202) -> None:
        await self._send(status, "", b"")

    async def refuse(self, refusal: HttpRefusal) -> None:
        self.more |= refusal.headers
        known = refusal if isinstance(refusal, RpcProblem) else RpcProblem(refusal.status, str(refusal))
        body = {"jsonrpc": "2.0", "id": known.request_id, "error": {"code": known.code, "message": str(known)}}
        await self._send(known.status, "application/json", json.dumps(body).encode())

    async def _send(self, status: int, kind: str, body: bytes) -> None:
        about = {"content-length": str(len(body))} if status != HTTPStatus.NO_CONTENT else {}
        await self._head(status, about | ({"content-type": kind} if kind else {}))
        await self.send({"type": "http.response.body", "body": body})

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        own = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in {**headers, **self.more}.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": [*own, *self.always]})

"""The application: every request through the guard, to its route, and out as JSON."""

import json
import logging
import secrets
import sys
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from toolwright.errors import SessionBusy, ToolwrightError
from toolwright.http_server.guard import Guard, Receive, Scope, Send
from toolwright.http_server.refusal import HttpRefusal, busy, refusal_of
from toolwright.protocols.client_json import json_text, to_json
from toolwright.server.asking import RouteCall
from toolwright.server.routes.all import TABLE
from toolwright.server.routes.page import page_file
from toolwright.server.serving import Serving
from toolwright.server.terminals import converse, terminal_of

log = logging.getLogger(__name__)

GZIP_FROM = 1024
"""Bytes from which an answer is compressed for who asks for it."""


class Application:
    """Answers requests of the ASGI form."""

    def __init__(self, serving: Serving, guard: Guard, *, quiet: bool = False) -> None:
        self.serving, self.guard, self.quiet = serving, guard, quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        if scope["type"] != "http":
            return
        ended = False

        async def sending(message: Any) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self.guard.headers_for(scope)]
                ended = True
                release()
            await send(message)

        release = _nothing
        try:
            release = self.guard.begin(scope)
            response = await self._answer(scope, receive)
        except HttpRefusal as refusal:
            # The page says itself that a secret is wrong, and asks for another.
            wants_page = refusal.status in (401, 429) and scope["path"] == "/" and _accepts_html(scope)
            response = page_file() if wants_page else _json(refusal.to_json(), refusal.status, refusal.headers)
            response.status_code = refusal.status
        except Exception:
            if ended:
                raise
            reference = secrets.token_hex(4)
            log.exception("request %s broke", reference)
            sys.stderr.write(f"request {reference} broke: {scope['method']} {scope['path']!r}\n")
            message = f"The server broke over this request. Its log has more under {reference}."
            response = _json({"name": "UnknownError", "data": {"message": message, "ref": reference}}, 500, {})
        try:
            await response(scope, receive, sending)
        finally:
            release()

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A WebSocket to a terminal. A page of another origin could open one: it is held to what changes something."""
        asked = {**scope, "method": "POST"}
        await receive()
        try:
            self.guard.admit(asked)
            terminal = self.serving.terminals.get(terminal_of(asked))
        except HttpRefusal:
            await send({"type": "websocket.close", "code": 1008})
            return
        await send({"type": "websocket.accept"})
        await converse(terminal, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        self.guard.admit(scope)
        if scope["method"] == "OPTIONS":
            return Response(status_code=204, headers=self.guard.preflight(scope))
        if self.serving.ending:
            raise HttpRefusal(503, "Ending", "The server is being stopped.")
        request = Request(scope, receive)
        route, ids = TABLE.find(scope["method"], scope["path"])
        try:
            answer = await route.answer(RouteCall(request=request, path=ids, serving=self.serving, route=route))
        except SessionBusy as error:
            raise busy(ids.get("sessionID", "The session")) from error
        except ToolwrightError as error:
            raise refusal_of(error) from error
        self._log(request, route.path, ids)
        if isinstance(answer, Response):
            return answer
        return _compressed(request, _json(answer, 200, {}))

    def _log(self, request: Request, path: str, ids: Any) -> None:
        if request.method not in ("GET", "HEAD") and not self.quiet:
            peer = request.client.host if request.client else "-"
            named = " ".join(value for value in ids.values() if value.isidentifier())
            sys.stderr.write(f"{peer} {request.method} {path} {named}".rstrip() + "\n")


def _accepts_html(scope: Scope) -> bool:
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _json(value: Any, status: int, headers: dict[str, str]) -> Response:
    text = json_text(value)
    try:
        content = text.encode()
    except UnicodeEncodeError:  # half a character, which only an escape can say
        content = json.dumps(to_json(value), separators=(",", ":")).encode()
    return Response(content, status, {**headers, "cache-control": "no-store"}, "application/json")


def _compressed(request: Request, response: Response) -> Response:
    body = bytes(response.body)
    if len(body) < GZIP_FROM or "gzip" not in request.headers.get("accept-encoding", ""):
        return response
    import gzip

    headers = {"content-encoding": "gzip", "cache-control": "no-store", "vary": "accept-encoding"}
    return Response(gzip.compress(body, 3), response.status_code, headers, "application/json")


def _nothing() -> None:
    """Do nothing, where nothing was begun."""

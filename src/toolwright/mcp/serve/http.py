"""Serving any number of clients over HTTP, on this machine alone and only to who knows the token."""

import asyncio
import secrets
import socket
from collections.abc import Callable
from dataclasses import field
from typing import Any

from toolwright.app.server_secret import Secret
from toolwright.errors import ToolwrightError, UsageError
from toolwright.http_server.guard import Guard, Receive, Scope, Send
from toolwright.http_server.refusal import HttpRefusal
from toolwright.http_server.uvicorn_server import Server
from toolwright.machine.own_ports import listen
from toolwright.mcp.protocol import (
    HEADER_MISMATCH,
    META_VERSION,
    NAMED,
    PARSE_ERROR,
    STATELESS,
    VERSION_UNSUPPORTED,
    meta_of,
    object_of,
    plain_value,
)
from toolwright.mcp.serve.connection import ServedClient
from toolwright.mcp.serve.exchange import HttpExchange, RpcProblem
from toolwright.mcp.serve.service import Service
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, MCP, METHOD_NOT_FOUND, RpcError
from toolwright.record import record

HOST = "127.0.0.1"
PATH = "/mcp"
OURS = frozenset({"127.0.0.1", "localhost", "[::1]"})
NEWS = 100
"""Messages that are kept for a client until it fetches them."""
SESSIONS = 100
"""Sessions that are open at a time; the oldest is closed for another."""


async def serve_http(
    service: Service, port: int, token: str, say: Callable[[str], None], *, tunnel: bool = False
) -> None:
    """Answer clients until we are stopped. Without a token one is made and said."""
    secret = token or secrets.token_urlsafe(24)
    try:
        door = listen("mcp", HOST, port, say=say, tunnel=tunnel)
    except OSError as error:
        raise UsageError(f"Port {port} cannot be used: {error.strerror}. Choose another.") from error
    say(f"listening at http://{HOST}:{door.getsockname()[1]}{PATH}")
    if not token:
        say(f"token: {secret}  (set TOOLWRIGHT_MCP_TOKEN to choose it)")
    await serve_at(door, service, Secret(value=secret, generated=not token))


async def serve_at(door: socket.socket, service: Service, secret: Secret) -> None:
    """Answer clients at a socket that listens, until cancelled."""
    port = door.getsockname()[1]
    hosts = frozenset(f"{name}:{port}" for name in OURS)
    clients = HttpClients(service=service, guard=Guard(secret=secret, hosts=hosts, has_page=False))
    server = Server(clients)
    serving = asyncio.create_task(server.serve([door]))
    try:
        await asyncio.shield(serving)
    finally:
        await clients.close()
        server.should_exit = True
        await serving


@record(slots=True, kw_only=True)
class HttpSession:
    """A session of the older family: its connection, the calls under way, and what it was asked."""

    connection: ServedClient
    working: "dict[Any, asyncio.Task[Any]]" = field(default_factory=dict)
    asked: "dict[str, asyncio.Future[Any]]" = field(default_factory=dict)
    news: "asyncio.Queue[Json | None]" = field(default_factory=lambda: asyncio.Queue(NEWS))
    """Messages that belong to no request and were not fetched yet; None ends the stream that fetches it."""

    async def push(self, method: str, params: Json) -> None:
        """Keep something for the client; of too much the oldest is lost."""
        self._keep({"jsonrpc": "2.0", "method": method, "params": params})

    def _keep(self, message: Json | None) -> None:
        if self.news.full():
            self.news.get_nowait()
        self.news.put_nowait(message)

    def take_answer(self, message: Json) -> None:
        waiting = self.asked.get(str(message.get("id")))
        if waiting is None or waiting.done():
            return
        if isinstance(error := message.get("error"), dict):
            waiting.set_exception(RpcError(str(error.get("message"))))
        else:
            waiting.set_result(message.get("result"))

    def cancel(self, request_id: Any) -> None:
        if isinstance(request_id, str | int) and request_id in self.working:
            self.working[request_id].cancel()

    async def close(self) -> None:
        self._keep(None)
        for task in list(self.working.values()):
            task.cancel()
        await asyncio.gather(*self.working.values(), return_exceptions=True)
        await self.connection.close()


@record(slots=True, kw_only=True)
class HttpClients:
    """All sessions, and the one that the newer family shares, whose requests do not say whose they are."""

    service: Service
    guard: Guard
    sessions: dict[str, HttpSession] = field(default_factory=dict[str, HttpSession])
    _shared: ServedClient | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the ASGI form."""
        exchange = HttpExchange(scope, receive, send, self.guard.headers_for(scope))
        try:
            self.guard.admit(scope)
            if scope["path"] != PATH:
                raise RpcProblem(404, f"There is nothing here; the address is {PATH}.")
            match exchange.method:
                case "POST":
                    await self._post(exchange)
                case "DELETE":
                    await self._delete(exchange)
                case "GET":
                    await self._listen(exchange)
                case _:
                    raise RpcProblem(405, "Only POST, GET and DELETE are answered here.")
        except HttpRefusal as refusal:
            await exchange.refuse(refusal)

    async def close(self) -> None:
        for client in self.sessions.values():
            await client.close()
        if self._shared is not None:
            await self._shared.close()

    async def _post(self, exchange: HttpExchange) -> None:
        try:
            message = read_json((await exchange.body()).decode("utf-8", "replace"))
        except ValueError as error:
            raise RpcProblem(400, f"That is no JSON: {error}", code=PARSE_ERROR) from error
        if not isinstance(message, dict):
            raise RpcProblem(400, "Send one message at a time.", code=INVALID_REQUEST)
        if not isinstance(message.get("method", ""), str) or not isinstance(message.get("id", ""), str | int | None):
            raise RpcProblem(400, "A request has a method, and an id that is a text or a number.", code=INVALID_REQUEST)
        if _is_stateless(exchange, message):
            await self._post_stateless(exchange, message)
        else:
            await self._post_in_session(exchange, message)

    # The older family.

    async def _post_in_session(self, exchange: HttpExchange, message: Json) -> None:
        if message.get("method") == "initialize":
            client = await self._opened(exchange)
        else:
            client = self._client(exchange)
        request_id = message.get("id")
        if not isinstance(message.get("method"), str):
            client.take_answer(message)
            await exchange.accept()
        elif request_id is None:
            if message["method"] == MCP.cancel:
                client.cancel(object_of(message.get("params")).get(MCP.cancel_key))
            client.connection.notified(message["method"], message.get("params"))
            await exchange.accept()
        else:
            await self._work(exchange, client, message)

    async def _work(self, exchange: HttpExchange, client: HttpSession, message: Json) -> None:
        async def request(method: str, params: Json) -> Any:
            asked_id = f"ask-{secrets.token_hex(8)}"
            client.asked[asked_id] = answered = asyncio.get_running_loop().create_future()
            try:
                await exchange.event({"jsonrpc": "2.0", "id": asked_id, "method": method, "params": params})
                return await answered
            finally:
                del client.asked[asked_id]

        work = asyncio.create_task(_answered(client.connection, message, request, exchange))
        client.working[message["id"]] = work
        try:
            await exchange.answer(await work)
        except asyncio.CancelledError:
            if not work.cancelled():
                work.cancel()
                raise
            await exchange.answer(_failed(message["id"], RpcError("The request was cancelled.")))
        finally:
            client.working.pop(message["id"], None)

    async def _opened(self, exchange: HttpExchange) -> HttpSession:
        if len(self.sessions) >= SESSIONS:
            await self.sessions.pop(next(iter(self.sessions))).close()
        session_id = secrets.token_hex(16)
        client = HttpSession(connection=ServedClient(service=self.service, session=self.service.session()))
        client.connection.push = client.push
        self.sessions[session_id] = client
        exchange.more["mcp-session-id"] = session_id
        return client

    def _client(self, exchange: HttpExchange) -> HttpSession:
        session_id = exchange.headers.get("mcp-session-id")
        if session_id is None:
            raise RpcProblem(400, "Begin with initialize, and send the Mcp-Session-Id it gives.", code=INVALID_REQUEST)
        if session_id not in self.sessions:
            raise RpcProblem(404, "That session is over. Begin with initialize.", code=INVALID_REQUEST)
        return self.sessions[session_id]

    async def _listen(self, exchange: HttpExchange) -> None:
        """Tell the client what belongs to no request, until it hangs up or its session is over."""
        client = self._client(exchange)
        await exchange.begin_events()
        hang_up = asyncio.create_task(exchange.hung_up())
        try:
            while not hang_up.done():
                news = asyncio.create_task(client.news.get())
                await asyncio.wait([news, hang_up], return_when=asyncio.FIRST_COMPLETED)
                if not news.done():
                    news.cancel()
                elif (message := news.result()) is not None:
                    await exchange.event(message)
                else:
                    await exchange.end_events()
                    return
        finally:
            hang_up.cancel()

    async def _delete(self, exchange: HttpExchange) -> None:
        client = self._client(exchange)
        del self.sessions[exchange.headers["mcp-session-id"]]
        await client.close()
        await exchange.accept(204)

    # The newer family.

    async def _post_stateless(self, exchange: HttpExchange, message: Json) -> None:
        _check_headers(exchange, message)
        if message.get("id") is None:
            await exchange.accept()
            return
        if self._shared is None:
            self._shared = ServedClient(service=self.service, session=self.service.session())
        work = asyncio.create_task(_answered(self._shared, message, None, exchange))
        hang_up = asyncio.create_task(exchange.hung_up())
        try:
            await asyncio.wait([work, hang_up], return_when=asyncio.FIRST_COMPLETED)
        finally:
            hung_up = hang_up.done()
            for task in (work, hang_up):
                task.cancel()
            await asyncio.gather(work, hang_up, return_exceptions=True)
        if not hung_up:
            answer = work.result()
            await exchange.answer(answer, _STATUS.get(_code(answer), 200))


_STATUS = {METHOD_NOT_FOUND: 404, VERSION_UNSUPPORTED: 400, HEADER_MISMATCH: 400}


def _code(answer: Json) -> int:
    code = object_of(answer.get("error")).get("code")
    return code if isinstance(code, int) else 0


async def _answered(connection: ServedClient, message: Json, request: Any, exchange: HttpExchange) -> Json:
    async def notify(method: str, params: Json) -> None:
        await exchange.event({"jsonrpc": "2.0", "method": method, "params": params})

    try:
        result = await connection.answer(message["method"], message.get("params"), request, notify)
    except RpcError as error:
        return _failed(message["id"], error)
    except ToolwrightError as error:
        return _failed(message["id"], RpcError(str(error)))
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _failed(request_id: Any, error: RpcError) -> Json:
    details: Json = {"code": error.code or INTERNAL_ERROR, "message": str(error)}
    return {"jsonrpc": "2.0", "id": request_id, "error": details | ({} if error.data is None else {"data": error.data})}


def _is_stateless(exchange: HttpExchange, message: Json) -> bool:
    version = exchange.headers.get("mcp-protocol-version")
    return version == STATELESS or META_VERSION in meta_of(message.get("params")) or "mcp-method" in exchange.headers


def _check_headers(exchange: HttpExchange, message: Json) -> None:
    """Refuse a request whose headers do not say what it says itself."""
    method, params = message.get("method"), object_of(message.get("params"))
    if message.get("id") is None:
        return
    expected = {
        "mcp-protocol-version": meta_of(params).get(META_VERSION),
        "mcp-method": method,
        "mcp-name": params.get(NAMED[method]) if method in NAMED else None,
    }
    for name, value in expected.items():
        if value is not None and plain_value(exchange.headers.get(name, "")) != value:
            raise RpcProblem(
                400, f"The header {name} is not what the request says.", code=HEADER_MISMATCH, message=message
            )

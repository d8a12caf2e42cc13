"""MCP servers over HTTP, scripted: in every way there is to speak it, and behind a login."""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin

from tests.mcp.exchange import Exchange, read_request
from toolwright.protocols.json_types import Json

STATELESS = "2026-07-28"
LEAVING = ("closes", "breaks", "closes each time", "forgets")
TOOLS = [{"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]


class Site:
    """One server. `manner` is how it speaks: json, events, stateless or oldest.

    With a manner of LEAVING it ends the stream of a call after an event with the id `1`, before the answer: it closes
    or breaks it, and gives the answer to who asks for what came after `1`; or it closes that too, each time, or never
    heard of it.
    """

    def __init__(self, manner: str = "json", *, identity: "Identity | None" = None) -> None:
        self.manner = manner
        self.identity = identity
        self.resumed: list[str] = []
        """The ids after which a stream was taken up."""
        self.faults: list[int] = []
        """How the next requests for the rest of a stream are refused."""
        self._owed: Json = {}
        self.base = ""
        self.session = 0
        self.requests: list[tuple[str, Json]] = []
        self._streams: list[Exchange] = []
        self._serving: list[asyncio.Task[Any]] = []

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Site"]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving)

    def forget_session(self) -> None:
        self.session += 1

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.append(task)
        exchange = Exchange(reader, writer)
        try:
            while await read_request(exchange):
                if not await self._serve(exchange):
                    return
        except (OSError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _serve(self, exchange: Exchange) -> bool:
        if self.identity is not None and await self.identity.serves(self, exchange):
            return True
        if exchange.method == "GET":
            return await (self._resume(exchange) if "last-event-id" in exchange.headers else self._stream(exchange))
        if exchange.method != "POST" or (self.manner == "oldest" and exchange.path != "/post"):
            await exchange.accept(405)
            return True
        message = json.loads(exchange.body)
        self.requests.append((message.get("method", ""), exchange.headers))
        if "id" not in message:
            await exchange.accept()
        elif self.manner == "oldest":
            await exchange.accept()
            await self._streams[0].event(self._answer(message, exchange))
        elif self.manner != "stateless" and self._is_lost(message, exchange):
            await exchange.accept(404)
        elif self.manner in LEAVING and message["method"] == "tools/call":
            return await self._leave(message, exchange)
        else:
            answer = self._answer(message, exchange)
            if self.manner == "events":
                await exchange.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
            await exchange.answer(answer)
        return exchange.goes_on

    async def _stream(self, exchange: Exchange) -> bool:
        if self.manner != "oldest":
            await exchange.accept(405)
            return True
        self._streams = [exchange]
        exchange.streaming = True
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
        exchange.writer.write(f"{head}event: endpoint\r\ndata: /post\r\n\r\n".encode())
        await exchange.reader.read()
        return False

    async def _leave(self, message: Json, exchange: Exchange) -> bool:
        """Begin a stream of events, and end it before the answer."""
        self._owed = self._answer(message, exchange)
        await self._begin(exchange)
        if self.manner == "breaks":
            exchange.writer.write(b'id: 2\ndata: {"half": ')
            await exchange.writer.drain()
            exchange.writer.transport.abort()
        return False

    async def _resume(self, exchange: Exchange) -> bool:
        self.resumed.append(exchange.headers["last-event-id"])
        if self.manner == "forgets" or self.faults:
            await exchange.accept(self.faults.pop(0) if self.faults else 405)
            return True
        await self._begin(exchange)
        if self.manner != "closes each time":
            await exchange.event(self._owed)
        return False

    async def _begin(self, exchange: Exchange) -> None:
        """The head of a stream, and, the first time, an event without data."""
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        first = "" if self.resumed else "id: 1\nretry: 0\ndata:\n\n"
        exchange.streaming = True
        exchange.writer.write(f"{head}{first}".encode())
        await exchange.writer.drain()

    def _is_lost(self, message: Json, exchange: Exchange) -> bool:
        return message["method"] != "initialize" and exchange.headers.get("mcp-session-id") != f"s{self.session}"

    def _answer(self, message: Json, exchange: Exchange) -> Json:
        method, params = message["method"], message.get("params", {})
        result: Json = {}
        error: Json = {}
        if self.manner == "stateless" and not self._is_whole(message, exchange):
            error = {"code": -32600, "message": "say which version"}
        elif method == "initialize":
            exchange.more["mcp-session-id"] = f"s{self.session}"
            result = {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {}}
        elif method == "server/discover":
            result = {"supportedVersions": [STATELESS], "capabilities": {"tools": {}}}
        elif method == "tools/list":
            result = {"tools": TOOLS}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
        else:
            error = {"code": -32601, "message": f"no {method}"}
        return {"jsonrpc": "2.0", "id": message["id"], **({"error": error} if error else {"result": result})}

    def _is_whole(self, message: Json, exchange: Exchange) -> bool:
        meta = message.get("params", {}).get("_meta", {})
        headers = exchange.headers
        return (
            meta.get("io.modelcontextprotocol/protocolVersion") == STATELESS
            and "io.modelcontextprotocol/clientCapabilities" in meta
            and headers.get("mcp-protocol-version") == STATELESS
            and headers.get("mcp-method") == message["method"]
            and (message["method"] != "tools/call" or headers.get("mcp-name") == message["params"]["name"])
        )


class Identity:
    """The login of a site: registers clients, hands out codes to everybody who asks, and tokens for codes."""

    def __init__(
        self, *, issuer: str = "", iss: str | None = "", pkce: bool = True, registers: bool = True, resource: str = ""
    ) -> None:
        self.generous = True
        """Whether a login is good for what it was asked for."""
        self.issuer, self.iss, self.pkce, self.registers = issuer, iss, pkce, registers
        self.resource = resource
        """What it says that its logins are for; the server itself if that is left out."""
        self.valid = "none yet"
        """The token that is accepted."""
        self.scope = "all"
        """What a login must be good for."""
        self.call_scope = ""
        """What it must be good for in a call."""
        self.grants: dict[str, str] = {}
        """What was asked for in each login, by its code."""
        self.granted = ""
        self.clients: list[Json] = []
        self.forms: list[Json] = []
        self._challenges: dict[str, str] = {}
        self._given = 0

    async def serves(self, site: Site, exchange: Exchange) -> bool:
        """Answer what is the login's to answer; False for a request of who is logged in."""
        path = exchange.path
        if path == "/mcp":
            if exchange.headers.get("authorization") == f"Bearer {self.valid}":
                return await self._wants_more(exchange)
            about = f"{site.base}/.well-known/oauth-protected-resource/mcp"
            exchange.more["www-authenticate"] = f'Bearer resource_metadata="{about}", scope="{self.scope}"'
            await exchange.accept(401)
        elif path == "/.well-known/oauth-protected-resource/mcp":
            resource = urljoin(site.base, self.resource) if self.resource else site.url
            await exchange.answer({"resource": resource, "authorization_servers": [site.base]})
        elif path == "/.well-known/oauth-authorization-server":
            await exchange.answer(self._about(site.base))
        elif path == "/register":
            self.clients.append(json.loads(exchange.body))
            await exchange.answer({"client_id": "client-1"}, 201)
        elif path == "/authorize":
            await self._authorise(site, exchange)
        elif path == "/token":
            await self._token(exchange)
        else:
            await exchange.accept(404)
        return True

    async def _wants_more(self, exchange: Exchange) -> bool:
        """Refuse a call for which the login is not good."""
        is_call = json.loads(exchange.body or "{}").get("method") == "tools/call"
        if not is_call or set(self.call_scope.split()) <= set(self.granted.split()):
            return False
        exchange.more["www-authenticate"] = f'Bearer error="insufficient_scope", scope="{self.call_scope}"'
        await exchange.accept(403)
        return True

    def _about(self, base: str) -> Json:
        about = {
            "issuer": self.issuer or base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "authorization_response_iss_parameter_supported": True,
        }
        about |= {"code_challenge_methods_supported": ["S256"]} if self.pkce else {}
        return about | ({"registration_endpoint": f"{base}/register"} if self.registers else {})

    async def _authorise(self, site: Site, exchange: Exchange) -> None:
        asked = dict(parse_qsl(exchange.query))
        self._given += 1
        code = f"code-{self._given}"
        self._challenges[code] = asked["code_challenge"]
        self.grants[code] = asked.get("scope", "")
        back = {"code": code, "state": asked["state"]}
        back |= {} if self.iss is None else {"iss": self.iss or site.base}
        exchange.more["location"] = f"{asked['redirect_uri']}?{urlencode(back)}"
        await exchange.accept(302)

    async def _token(self, exchange: Exchange) -> None:
        form = dict(parse_qsl(exchange.body.decode()))
        self.forms.append(form)
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if self._challenges.pop(form["code"], "") != proof:
                await exchange.answer({"error": "invalid_grant"}, 400)
                return
            self.granted = self.grants[form["code"]] if self.generous else ""
        elif form["refresh_token"] != f"refresh-{self._given}":
            await exchange.answer({"error": "invalid_grant"}, 400)
            return
        self._given += 1
        self.valid = f"token-{self._given}"
        tokens = {"access_token": self.valid, "refresh_token": f"refresh-{self._given}", "token_type": "Bearer"}
        await exchange.answer(tokens | {"expires_in": 3600})

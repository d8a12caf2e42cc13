"""Searches: sent to a tool of an MCP endpoint over HTTP, or to a SearXNG server."""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from typing import Any, Literal
from urllib.parse import urlencode

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.protocols.sse import EventReader
from toolwright.record import record
from toolwright.version import VERSION
from toolwright.web.bodies import ACCEPTED, Body
from toolwright.web.exchange import WebReply, WebRequest, WebRoute, exchange
from toolwright.web.proxies import proxy_for
from toolwright.web.urls import Url, parse_url

ENDPOINT = "https://mcp.exa.ai/mcp"
"""Endpoint of searches if no other is set."""
LIMIT = 5 * 1024 * 1024
"""Bytes that an answer may have."""
EXCERPT = 500
"""Characters that are shown of an answer that is an error."""
PROTOCOL = "2025-06-18"
"""The version of MCP that is spoken with endpoints that ask for one."""
_ID = 1


class Refused(ToolError):
    """The server answered with an error of HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, "network")
        self.status = status


@record(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Whom searches are sent to."""

    url: str = ENDPOINT
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float | None = None
    """Milliseconds; each tool has its own time if not said."""
    backend: Literal["mcp", "searxng"] = "mcp"


@record(slots=True, kw_only=True)
class Searcher:
    """Sends the searches of a workspace."""

    settings: SearchSettings = field(default_factory=SearchSettings)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    tls: ssl.SSLContext | None = None
    _session: dict[str, str] = field(default_factory=dict[str, str])
    """The headers that a session at the endpoint is known by; empty where it keeps none."""

    @property
    def is_plain(self) -> bool:
        """Tell whether the server is a search engine, which has no tools to call."""
        return self.settings.backend == "searxng"

    async def call(self, name: str, arguments: Json, seconds: float) -> str:
        """The text that a tool of the endpoint answers with; empty if it found nothing."""
        params = {"name": name, "arguments": arguments}
        async with self._within(seconds):
            try:
                answer = await self._post("tools/call", params)
            except Refused as refusal:
                if refusal.status not in (400, 404):
                    raise
                await self._open_session(refusal)
                answer = await self._post("tools/call", params)
        return _result_text(_result(answer))

    async def find(self, query: str, count: int, seconds: float) -> str:
        """Return what a SearXNG server finds: title, address and a few lines each."""
        address = f"{self.settings.url.rstrip('/')}/search?{urlencode({'q': query, 'format': 'json'})}"
        order = WebRequest(url=parse_url(address), headers=[("Accept", "application/json"), *self._headers()])
        async with self._within(seconds):
            try:
                _, answer = await self._send(order)
            except Refused as refusal:
                if refusal.status != 403:
                    raise
                # A new SearXNG server gives pages for people and nothing else.
                raise ToolError(f"{refusal} Its settings must allow json among its formats.", "network") from refusal
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise ToolError(f"{order.url.authority} answered without results. Is it a SearXNG server?", "network")
        return "\n\n".join(_entries(results, count))

    async def _open_session(self, refusal: "Refused") -> None:
        """Introduce ourselves, as endpoints that keep sessions want it; the refusal stands if that is not it."""
        about = {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "toolwright", "version": VERSION},
        }
        self._session = {}
        try:
            headers, _ = await self._send(self._order("initialize", about))
        except Refused as second:
            raise refusal from second
        self._session = {"mcp-protocol-version": PROTOCOL}
        if "mcp-session-id" in headers:
            self._session["mcp-session-id"] = headers["mcp-session-id"]
        await self._send(self._order("notifications/initialized"))

    async def _post(self, method: str, params: Json) -> Any:
        _, answer = await self._send(self._order(method, params))
        return answer

    def _order(self, method: str, params: Json | None = None) -> WebRequest:
        """A message to the endpoint; one without parameters is a notification, which needs no answer."""
        request: Json = {} if params is None else {"id": _ID, "params": params}
        headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
        return WebRequest(
            url=parse_url(self.settings.url),
            headers=[*headers, *self._headers(), *self._session.items()],
            method="POST",
            body=json.dumps({"jsonrpc": "2.0", "method": method, **request}).encode(),
        )

    def _headers(self) -> list[tuple[str, str]]:
        return [
            ("User-Agent", f"toolwright/{VERSION}"),
            ("Accept-Encoding", ACCEPTED),
            *self.settings.headers.items(),
        ]

    @asynccontextmanager
    async def _within(self, seconds: float) -> AsyncIterator[None]:
        if self.settings.timeout is not None:
            seconds = self.settings.timeout / 1000
        try:
            async with time_limit(seconds):
                yield
        except TimeoutError as error:
            authority = parse_url(self.settings.url).authority
            raise ToolError(f"{authority} took longer than {seconds:g} seconds.", "timeout") from error

    async def _send(self, order: WebRequest) -> tuple[Mapping[str, str], Any]:
        context = await self._secure() if order.url.scheme == "https" else None
        async with exchange(order, self._route(order.url), context) as reply:
            if reply.status == 202:  # a notification was taken
                return reply.headers, None
            return reply.headers, await _message(reply, order.url)

    def _route(self, url: Url) -> WebRoute:
        """The endpoint is the user's own choice, so its address is not judged."""
        local = url.host == "localhost" or (url.address is not None and url.address.is_loopback)
        return WebRoute(places=(url.host,), proxy=None if local else proxy_for(url, self.environment))

    async def _secure(self) -> ssl.SSLContext:
        if self.tls is None:
            self.tls = await asyncio.to_thread(ssl.create_default_context)
        return self.tls


async def _message(reply: WebReply, url: Url) -> Any:
    """The answer: JSON, or the first event that holds the answer to our request."""
    body = Body(reply.headers.get("content-encoding", ""), LIMIT)
    good = 200 <= reply.status < 300
    streamed = good and reply.content_type.lower().startswith("text/event-stream")
    events = EventReader()
    async for chunk in reply.chunks:
        before = len(body.data)
        body.feed(chunk)
        if streamed and (answer := _answer_in(events.feed(bytes(body.data[before:])))) is not None:
            return answer
        if not good and len(body.data) > EXCERPT * 4:
            break
    if not good:
        excerpt = body.data.decode("utf-8", "replace").strip()[:EXCERPT]
        raise Refused(f"{url.authority} answered {reply.status} {reply.reason}. {excerpt}".strip(), reply.status)
    body.close()
    # The last event counts also where the stream ends right after it.
    answer = _answer_in(events.feed(b"\n\n")) if streamed else _parsed(body.data.decode("utf-8-sig", "replace"))
    if answer is None:
        raise ToolError(f"{url.authority} did not answer the search in JSON.", "network")
    return answer


def _answer_in(events: Iterable[Any]) -> Any:
    """The message among the events that answers the request; servers may send others before it."""
    for event in events:
        message = _parsed(event.data)
        if isinstance(message, dict) and message.get("id") == _ID and message.keys() & {"result", "error"}:
            return message
    return None


def _parsed(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        return None


def _result(message: Any) -> Json:
    if isinstance(message, list):  # several messages at once, of which one answers
        message = next((one for one in message if isinstance(one, dict) and one.get("id") == _ID), None)
    if isinstance(message, dict) and isinstance(error := message.get("error"), dict):
        raise ToolError(f"The search failed: {str(error.get('message'))[:EXCERPT]}", "network")
    result = message.get("result") if isinstance(message, dict) else None
    if not isinstance(result, dict):
        raise ToolError("The search was answered with neither a result nor an error.", "network")
    return result


def _result_text(result: Json) -> str:
    content = result.get("content")
    parts = [_part(part) for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    text = "\n\n".join(part for part in parts if isinstance(part, str) and part.strip())
    if not text and (structured := result.get("structuredContent")):
        text = json.dumps(structured, ensure_ascii=False, indent=1)
    if result.get("isError"):
        raise ToolError(f"The search failed: {text[:EXCERPT] or 'the endpoint does not say why'}", "network")
    return text


def _part(part: Json) -> Any:
    resource = part.get("resource")
    return part.get("text") or (resource.get("text") if isinstance(resource, dict) else None)


def _entries(results: list[Any], count: int) -> Iterable[str]:
    entries = [entry for entry in results if isinstance(entry, dict)][:count]
    for number, entry in enumerate(entries, 1):
        lines = [" ".join(str(entry.get(key) or "").split()) for key in ("title", "url", "content")]
        yield f"{number}. " + "\n   ".join(line for line in lines if line)

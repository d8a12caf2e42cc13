"""Searches: sent to a tool of an MCP endpoint over HTTP, or to a SearXNG server."""

import asyncio
import json
import os
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode

from toolwright.errors import ToolError
from toolwright.jsontext import read_json
from toolwright.sse import EventReader
from toolwright.version import VERSION
from toolwright.web.bodies import ACCEPTED, Body
from toolwright.web.exchange import Order, Reply, Route, exchange
from toolwright.web.proxies import proxy_for
from toolwright.web.urls import Url, parse_url

Json = dict[str, Any]

ENDPOINT = "https://mcp.exa.ai/mcp"
"""Where searches go if no other endpoint is set."""
LIMIT = 5 * 1024 * 1024
"""Bytes that an answer may have."""
EXCERPT = 500
"""Characters that are shown of an answer that is an error."""
_ID = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Whom searches are sent to."""

    url: str = ENDPOINT
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float | None = None
    """Milliseconds; each tool has its own time if not said."""
    backend: Literal["mcp", "searxng"] = "mcp"


@dataclass(slots=True, kw_only=True)
class Searcher:
    """Sends the searches of a workspace."""

    settings: SearchSettings = field(default_factory=SearchSettings)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    tls: ssl.SSLContext | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the server is a search engine, which has no tools to call."""
        return self.settings.backend == "searxng"

    async def call(self, name: str, arguments: Json, seconds: float) -> str:
        """The text that a tool of the endpoint answers with; empty if it found nothing."""
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": _ID, "method": "tools/call", "params": params}
        headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
        order = Order(
            url=parse_url(self.settings.url),
            headers=[*headers, *self._headers()],
            method="POST",
            body=json.dumps(message).encode(),
        )
        return _text(_result(await self._send(order, seconds)))

    async def find(self, query: str, count: int, seconds: float) -> str:
        """What a SearXNG server finds: title, address and a few lines each."""
        address = f"{self.settings.url.rstrip('/')}/search?{urlencode({'q': query, 'format': 'json'})}"
        order = Order(url=parse_url(address), headers=[("Accept", "application/json"), *self._headers()])
        answer = await self._send(order, seconds)
        found = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(found, list):
            raise ToolError(f"{order.url.authority} answered without results. Is it a SearXNG server?", "network")
        return "\n\n".join(_entries(found, count))

    def _headers(self) -> list[tuple[str, str]]:
        return [
            ("User-Agent", f"toolwright/{VERSION}"),
            ("Accept-Encoding", ACCEPTED),
            *self.settings.headers.items(),
        ]

    async def _send(self, order: Order, seconds: float) -> Any:
        if self.settings.timeout is not None:
            seconds = self.settings.timeout / 1000
        try:
            async with asyncio.timeout(seconds):
                context = await self._secure() if order.url.scheme == "https" else None
                async with exchange(order, self._route(order.url), context) as reply:
                    return await _message(reply, order.url)
        except TimeoutError as error:
            raise ToolError(f"{order.url.authority} took longer than {seconds:g} seconds.", "timeout") from error

    def _route(self, url: Url) -> Route:
        """The endpoint is the user's own choice, so its address is not judged."""
        local = url.host == "localhost" or (url.address is not None and url.address.is_loopback)
        return Route(places=(url.host,), proxy=None if local else proxy_for(url, self.environment))

    async def _secure(self) -> ssl.SSLContext:
        if self.tls is None:
            self.tls = await asyncio.to_thread(ssl.create_default_context)
        return self.tls


async def _message(reply: Reply, url: Url) -> Any:
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
        said = body.data.decode("utf-8", "replace").strip()[:EXCERPT]
        raise ToolError(f"{url.authority} answered {reply.status} {reply.reason}. {said}".strip(), "network")
    answer = _answer_in(events.close()) if streamed else _parsed(body.close().decode("utf-8", "replace"))
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
    if isinstance(message, dict) and isinstance(error := message.get("error"), dict):
        raise ToolError(f"The search failed: {str(error.get('message'))[:EXCERPT]}", "network")
    result = message.get("result") if isinstance(message, dict) else None
    if not isinstance(result, dict):
        raise ToolError("The search was answered with neither a result nor an error.", "network")
    return result


def _text(result: Json) -> str:
    content = result.get("content")
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    text = "\n\n".join(part for part in parts if isinstance(part, str) and part.strip())
    if result.get("isError"):
        raise ToolError(f"The search failed: {text[:EXCERPT] or 'the endpoint does not say why'}", "network")
    return text


def _entries(found: list[Any], count: int) -> Iterable[str]:
    entries = [entry for entry in found if isinstance(entry, dict)][:count]
    for number, entry in enumerate(entries, 1):
        lines = [str(entry.get(key) or "").strip() for key in ("title", "url", "content")]
        yield f"{number}. " + "\n   ".join(line for line in lines if line)

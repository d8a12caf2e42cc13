"""One request over a connection of its own, to an address that was chosen before: HTTP/1.1 and no more."""

import asyncio
import base64
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.protocols.http_answer import BadAnswer, Framed, read_head
from toolwright.record import record
from toolwright.web.proxies import Proxy
from toolwright.web.urls import Url

HEADERS = 64 * 1024
"""Bytes that the headers of an answer may have."""
CONNECT = 5.0
"""Seconds for one address to answer before the next is tried."""
_CHUNK = 64 * 1024
_END = re.compile(rb"\r?\n\r?\n")
_FOLDED = re.compile(rb"\r?\n[ \t]+")


@record(frozen=True, slots=True, kw_only=True)
class WebRoute:
    """Ways to reach a host: the places to try in turn, each a number or, behind a proxy, perhaps a name."""

    places: Sequence[str]
    proxy: Proxy | None = None


@record(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """A request to the host."""

    url: Url
    headers: Sequence[tuple[str, str]]
    method: str = "GET"
    body: bytes = b""


class WebReply:
    """An answer whose headers are there; its body is still to come."""

    def __init__(self, status: int, reason: str, headers: dict[str, str], chunks: AsyncGenerator[bytes, None]) -> None:
        self.status = status
        self.reason = reason
        self.headers = headers
        self.chunks = chunks

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


@asynccontextmanager
async def exchange(order: WebRequest, route: WebRoute, tls: ssl.SSLContext | None) -> AsyncIterator[WebReply]:
    """Send the request and get the answer. The connection is gone afterwards, also in the middle of a body."""
    try:
        request = _written(order)
        reader, writer = await _connect(order.url, route, tls)
        try:
            writer.write(request)
            await writer.drain()
            yield await _reply(reader)
        finally:
            writer.transport.abort()
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        raise ToolError(f"No secure connection to {order.url.authority}: {reason}.", "network") from error
    except (OSError, EOFError) as error:
        raise ToolError(f"{order.url.authority} cannot be reached: {_error_text(error)}.", "network") from error
    except BadAnswer as error:
        raise ToolError(f"{order.url.authority} did not answer in HTTP: {error}.", "network") from error


def _written(order: WebRequest) -> bytes:
    length = [("Content-Length", str(len(order.body)))] if order.body else []
    headers = [("Host", order.url.authority), *order.headers, *length, ("Connection", "close")]
    words = [order.method, order.url.target, *(word for header in headers for word in header)]
    if not all(word.isascii() and word.isprintable() for word in words) or " " in order.url.target:
        # The header may be a secret.
        raise ToolError(f"A header for {order.url.authority} cannot be sent. Check its settings.", "network")
    return _lines(f"{order.method} {order.url.target} HTTP/1.1", headers) + order.body


def _lines(first: str, headers: Sequence[tuple[str, str]]) -> bytes:
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("ascii")


async def _reply(reader: asyncio.StreamReader) -> WebReply:
    """Read the head of the answer that counts."""
    rest = b""
    while True:
        lines, rest = await _head(reader, rest)
        head = read_head(b"\r\n".join(lines))
        if head.status >= 200:
            break
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, _, value = line.decode("latin-1").partition(":")
        headers.setdefault(name.lower(), value.strip(" \t"))
    reason = lines[0].decode("latin-1", "replace").partition(" ")[2].partition(" ")[2]
    return WebReply(head.status, reason, headers, _chunks(Framed(head), reader, rest))


async def _head(reader: asyncio.StreamReader, data: bytes) -> tuple[list[bytes], bytes]:
    """Return the lines of a head, and what has come after it."""
    seen = 0
    while (end := _END.search(data, max(0, seen - 3))) is None:
        if len(data) > HEADERS:
            raise BadAnswer(f"headers of more than {HEADERS} bytes")
        piece = await reader.read(_CHUNK)
        if not piece:
            raise (
                BadAnswer("headers without an end") if data else EOFError("the connection was closed before an answer")
            )
        data += piece
    return _FOLDED.sub(b" ", data[: end.start()]).splitlines(), data[end.end() :]


async def _chunks(body: Framed, reader: asyncio.StreamReader, data: bytes) -> AsyncGenerator[bytes, None]:
    while True:
        if data and (piece := body.feed(data)):
            yield piece
        if body.done:
            return
        if not (data := await reader.read(_CHUNK)):
            if body.is_open:
                return
            raise BadAnswer("the connection was closed before the end of the answer")


async def _connect(
    url: Url, route: WebRoute, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first place that answers; the certificate must be that of the host's name."""
    failure: OSError = OSError("it has no address")
    for place in route.places:
        last = place == route.places[-1]
        try:
            if route.proxy is not None:
                return await _through(route.proxy, url, place, tls)
            async with time_limit(None if last else CONNECT):
                return await asyncio.open_connection(place, url.port, ssl=tls, server_hostname=_name(url, tls))
        except ssl.SSLError:
            raise
        except TimeoutError:
            failure = OSError(f"{place} did not answer")
        except OSError as error:
            failure = error
    raise failure


async def _through(
    proxy: Proxy, url: Url, place: str, tls: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A tunnel to the place; the proxy sees neither the request nor the answer of a secure site."""
    secure = ssl.create_default_context() if proxy.secure else None
    reader, writer = await asyncio.open_connection(proxy.host, proxy.port, ssl=secure)
    try:
        target = f"{f'[{place}]' if ':' in place else place}:{url.port}"
        token = base64.b64encode(proxy.credentials.encode()).decode()
        authorization = [("Proxy-Authorization", f"Basic {token}")] if proxy.credentials else []
        writer.write(_lines(f"CONNECT {target} HTTP/1.1", [("Host", target), *authorization]))
        reply = await _reply(reader)
        if not 200 <= reply.status < 300:
            raise ToolError(
                f"The proxy does not let {target} through ({reply.status} {reply.reason}). If it goes by names, "
                f"a `webfetch` rule that spells {url.host} lets it look the name up itself; tell the user.",
                "network",
            )
        if tls is not None:
            await writer.start_tls(tls, server_hostname=_name(url, tls))
    except BaseException:
        writer.transport.abort()
        raise
    return reader, writer


def _name(url: Url, tls: ssl.SSLContext | None) -> str | None:
    return url.host if tls is not None else None


def _error_text(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

"""One request over a connection of its own, to an address that was chosen before: HTTP/1.1 and no more."""

import asyncio
import base64
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolwright.errors import ToolError
from toolwright.record import record
from toolwright.web.proxies import Proxy
from toolwright.web.urls import Url

if TYPE_CHECKING:
    import h11

HEADERS = 64 * 1024
"""Bytes that the headers of an answer may have."""
CONNECT = 5.0
"""Seconds for one address to answer before the next is tried."""
_CHUNK = 64 * 1024


@record(frozen=True, slots=True, kw_only=True)
class WebRoute:
    """How a host is reached: the places to try in turn, each a number or, behind a proxy, perhaps a name."""

    places: Sequence[str]
    proxy: Proxy | None = None


@record(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """What is asked of the host."""

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
    import h11

    try:
        reader, writer = await _connect(order.url, route, tls)
        try:
            connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADERS)
            await _send(connection, writer, order)
            yield await _reply(connection, reader)
        finally:
            writer.transport.abort()
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        raise ToolError(f"No secure connection to {order.url.authority}: {reason}.", "network") from error
    except (OSError, EOFError) as error:
        raise ToolError(f"{order.url.authority} cannot be reached: {_said(error)}.", "network") from error
    except h11.LocalProtocolError as error:
        # The error has the header in it, which may be a secret.
        raise ToolError(f"A header for {order.url.authority} cannot be sent. Check its settings.", "network") from error
    except h11.ProtocolError as error:
        raise ToolError(f"{order.url.authority} did not answer in HTTP: {error}.", "network") from error


async def _send(connection: "h11.Connection", writer: asyncio.StreamWriter, order: WebRequest) -> None:
    import h11

    length = [("Content-Length", str(len(order.body)))] if order.body else []
    headers = [("Host", order.url.authority), *order.headers, *length, ("Connection", "close")]
    writer.write(connection.send(h11.Request(method=order.method, target=order.url.target, headers=headers)) or b"")
    if order.body:
        writer.write(connection.send(h11.Data(data=order.body)) or b"")
    writer.write(connection.send(h11.EndOfMessage()) or b"")
    await writer.drain()


async def _reply(connection: "h11.Connection", reader: asyncio.StreamReader) -> WebReply:
    import h11

    event = await _event(connection, reader)
    while isinstance(event, h11.InformationalResponse):
        event = await _event(connection, reader)
    if not isinstance(event, h11.Response):
        raise EOFError("the connection was closed before an answer")
    headers: dict[str, str] = {}
    for name, value in event.headers:
        headers.setdefault(name.decode("ascii"), value.decode("latin-1"))
    reason = event.reason.decode("latin-1", "replace")
    return WebReply(event.status_code, reason, headers, _chunks(connection, reader))


async def _chunks(connection: "h11.Connection", reader: asyncio.StreamReader) -> AsyncGenerator[bytes, None]:
    import h11

    while isinstance(event := await _event(connection, reader), h11.Data):
        yield bytes(event.data)


async def _event(connection: "h11.Connection", reader: asyncio.StreamReader) -> object:
    import h11

    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(_CHUNK))
    return event


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
            async with asyncio.timeout(None if last else CONNECT):
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
    import h11

    secure = ssl.create_default_context() if proxy.secure else None
    reader, writer = await asyncio.open_connection(proxy.host, proxy.port, ssl=secure)
    try:
        target = f"{f'[{place}]' if ':' in place else place}:{url.port}"
        token = base64.b64encode(proxy.credentials.encode()).decode()
        authorization = [("Proxy-Authorization", f"Basic {token}")] if proxy.credentials else []
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADERS)
        request = h11.Request(method="CONNECT", target=target, headers=[("Host", target), *authorization])
        writer.write((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
        reply = await _reply(connection, reader)
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


def _said(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

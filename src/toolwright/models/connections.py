"""Connections to one provider over HTTP/1.1, kept from one request to the next.

A general HTTP library takes five times as long for a request as all the rest of what happens to it here, and a sixth of
the time in which a run starts. Models need little of one: a POST whose answer streams, proxies, and TLS.
"""

import asyncio
import os
import sys
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlsplit

from toolwright.models.http_answer import HEAD, BadAnswer, Body, Head, read_head
from toolwright.record import record

if TYPE_CHECKING:
    import ssl

T = TypeVar("T")

READ = 64 * 1024
IDLE = 30.0
"""Seconds for which a connection that nobody uses is kept; most servers wait no longer themselves."""
KEPT = 20
CONNECT = 30.0
"""Seconds a connection may take to come about."""
HANDSHAKE = 10.0
"""Seconds after which a server that says nothing is taken for one that does not speak TLS."""
PORTS = {"http": 80, "https": 443}
ALONE = 0.25
"""Seconds that one address of a host has to itself before the next is tried beside it."""


class BadUrl(Exception):
    """The address is none that a request can be sent to."""


class BadHeader(Exception):
    """A header cannot be sent as it is."""


class NoConnection(Exception):
    """The host cannot be reached, or not securely."""


class NoHandshake(NoConnection):
    """The host was reached, but does not speak TLS."""


class Silence(Exception):
    """Nothing has come for as long as is waited."""


@record(slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: float = 0.0
    """When it was last used; 0 for one that never was."""

    @property
    def is_fit(self) -> bool:
        """Whether a request can be tried on it: a server that hangs up does so while nobody looks."""
        recent = time.monotonic() - self.used < IDLE
        return recent and not self.reader.at_eof() and not self.writer.transport.is_closing()

    def close(self) -> None:
        self.writer.transport.abort()


@record(frozen=True, slots=True)
class Answer:
    """An answer whose head has come."""

    head: Head
    pieces: AsyncGenerator[bytes, None]
    """The content, as it comes."""


class Connections:
    """Opens connections to one address as they are needed, through the proxy that the environment names."""

    def __init__(self, *, local: bool, silence: float) -> None:
        """`local` goes past all proxies. `silence` is how many seconds may pass without a byte."""
        self._local = local
        self._silence = silence
        self._kept: list[_Connection] = []
        self._secure: ssl.SSLContext | None = None

    @asynccontextmanager
    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[Answer]:
        """Send a request. The connection is kept if the answer was read to its end, and closed otherwise."""
        target = _split(url)
        proxy = None if self._local else _proxy_of(target)
        sent = _request_head(target, len(body), headers, whole=proxy is not None and target.scheme == "http")
        connection, head = await self._asked(target, proxy, sent, body)
        is_free = False
        try:
            decoder = Body(head)
            async with aclosing(self._pieces(connection, decoder)) as pieces:
                yield Answer(head, pieces)
            is_free = decoder.done and head.stays_open and len(self._kept) < KEPT
        finally:
            if is_free:
                connection.used = time.monotonic()
                self._kept.append(connection)
            else:
                connection.close()

    async def close(self) -> None:
        kept, self._kept = self._kept, []
        for connection in kept:
            connection.close()
        await asyncio.sleep(0)  # so that the transports are gone when the loop ends

    async def _asked(
        self, target: SplitResult, proxy: SplitResult | None, sent: bytes, body: bytes
    ) -> tuple[_Connection, Head]:
        while True:
            connection = self._idle() or await self._opened(target, proxy)
            try:
                connection.writer.write(sent)
                connection.writer.write(body)
                await self._in_time(connection.writer.drain())
                return connection, await self._head(connection)
            except (BadAnswer, ConnectionError) as error:
                connection.close()
                # One that was kept may have been hung up on just now, before the request came there.
                if connection.used and (isinstance(error, ConnectionError) or not str(error)):
                    continue
                raise BadAnswer(str(error) or "the connection was closed without an answer") from error
            except BaseException:
                connection.close()
                raise

    def _idle(self) -> _Connection | None:
        while self._kept:
            connection = self._kept.pop()
            if connection.is_fit:
                return connection
            connection.close()
        return None

    async def _head(self, connection: _Connection) -> Head:
        while True:
            try:
                data = await self._in_time(connection.reader.readuntil(b"\r\n\r\n"))
            except asyncio.LimitOverrunError as error:
                raise BadAnswer(f"a head of more than {HEAD} bytes") from error
            except asyncio.IncompleteReadError as error:
                raise BadAnswer(f"no HTTP answer, but {error.partial[:80]!r}" if error.partial else "") from error
            head = read_head(data)
            if head.status >= 200:
                return head
            if head.status == 101:
                raise BadAnswer("another protocol than HTTP")

    async def _pieces(self, connection: _Connection, body: Body) -> AsyncGenerator[bytes, None]:
        while not body.done:
            data = await self._in_time(connection.reader.read(READ))
            if not data:
                if body.is_open:
                    return
                raise BadAnswer("the connection was closed before the end of the answer")
            for piece in body.feed(data):
                yield piece

    async def _in_time(self, action: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._silence):
                return await action
        except TimeoutError as error:
            raise Silence from error

    async def _opened(self, target: SplitResult, proxy: SplitResult | None) -> _Connection:
        place = proxy or target
        secure = self._context() if target.scheme == "https" else None
        direct = secure if proxy is None else None
        try:
            async with asyncio.timeout(min(CONNECT, self._silence)):
                reader, writer = await asyncio.open_connection(
                    place.hostname,
                    place.port or PORTS[place.scheme],
                    ssl=direct,
                    ssl_handshake_timeout=HANDSHAKE if direct else None,
                    limit=HEAD,
                    happy_eyeballs_delay=ALONE,
                )
                connection = _Connection(reader, writer)
                if proxy is not None and secure is not None:
                    await self._through(connection, target, proxy, secure)
        except TimeoutError as error:
            raise NoConnection("no answer in time") from error
        except ConnectionAbortedError as error:
            raise NoHandshake(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise NoConnection(str(error) or type(error).__name__) from error
        return connection

    async def _through(
        self, connection: _Connection, target: SplitResult, proxy: SplitResult, secure: "ssl.SSLContext"
    ) -> None:
        host = f"{_host(target)}:{target.port or PORTS[target.scheme]}"
        lines = [f"CONNECT {host} HTTP/1.1", f"Host: {host}"]
        if login := _login(proxy):
            lines.append(f"Proxy-Authorization: {login}")
        try:
            connection.writer.write("\r\n".join((*lines, "", "")).encode("ascii"))
            head = await self._head(connection)
            if head.status >= 300:
                raise NoConnection(f"the proxy {_host(proxy)} answered with {head.status}")
            await connection.writer.start_tls(secure, server_hostname=target.hostname, ssl_handshake_timeout=HANDSHAKE)
        except BaseException:
            connection.close()
            raise

    def _context(self) -> "ssl.SSLContext":
        """The authorities that are trusted: those of every other request of the program."""
        if self._secure is None:
            import ssl

            named = os.environ.get("SSL_CERT_FILE")
            if self._local:
                self._secure = ssl.create_default_context(cafile=named)
            else:
                from httpx2 import create_ssl_context

                self._secure = create_ssl_context()
        return self._secure


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        named = parts.scheme in PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise BadUrl(url) from error
    if not named:
        raise BadUrl(url)
    return parts


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    return f"[{name}]" if ":" in name else name if name.isascii() else name.encode("idna").decode()


def _login(parts: SplitResult) -> str:
    if parts.username is None:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def _request_head(target: SplitResult, length: int, headers: Mapping[str, str], *, whole: bool) -> bytes:
    path = quote(target.path or "/", safe="/%:@!$&'()*+,;=~") + (f"?{_query(target.query)}" if target.query else "")
    port = f":{target.port}" if target.port not in (None, PORTS[target.scheme]) else ""
    host = f"{_host(target)}{port}"
    fields = {
        "host": host,
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "keep-alive",
        "user-agent": "toolwright",
        **({"authorization": login} if (login := _login(target)) else {}),
        **{name.lower(): value for name, value in headers.items()},
        "content-length": str(length),
    }
    for name, value in fields.items():
        if not _is_token(name) or not value.isprintable() or not value.isascii():
            raise BadHeader(name)
    lines = [f"POST {f'http://{host}' if whole else ''}{path} HTTP/1.1", *map(": ".join, fields.items())]
    return "\r\n".join((*lines, "", "")).encode("ascii")


def _query(text: str) -> str:
    return quote(text, safe="/%:@!$&'()*+,;=~?")


def _is_token(name: str) -> bool:
    return name.isascii() and name.replace("-", "").replace("_", "").isalnum()


def _proxy_of(target: SplitResult) -> SplitResult | None:
    """The proxy for an address by the environment, or, on systems that have such, by their settings."""
    if sys.platform == "linux" and not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies, host = getproxies(), target.hostname or ""
    given = proxies.get(target.scheme) or proxies.get("all")
    if not given or proxy_bypass(f"{host}:{target.port or PORTS[target.scheme]}") or proxy_bypass(host):
        return None
    try:
        proxy = _split(given if "://" in given else f"http://{given}")
    except BadUrl as error:
        raise NoConnection(f"the proxy {_shown(given)} is no web address") from error
    if proxy.scheme != "http":
        raise NoConnection(f"the proxy {_shown(given)} is of a kind that is not known here; one by http:// is")
    return proxy


def _shown(proxy: str) -> str:
    """Without the login that may be in it."""
    return proxy.rpartition("@")[2]

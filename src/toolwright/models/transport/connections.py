"""Connections to one provider over HTTP/1.1, kept from one request to the next.

Models need little of HTTP: a POST whose answer streams, proxies, and TLS. A general library takes 1.4 ms of CPU more
for each request (2.1 ms with httpx2, 0.7 ms here), and some 65 ms more before the first. Tests have httpx2 judge it.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, SupportsIndex, TypeVar
from urllib.parse import SplitResult, quote, urlsplit

from toolwright.deadline import time_limit
from toolwright.models.transport.proxies import PORTS, BadProxy, login_of, proxy_of
from toolwright.protocols.http_answer import HEAD, AnswerBody, BadAnswer, Head, read_head
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
ALONE = 0.25
"""Seconds that one address of a host has to itself before the next is tried beside it."""
LARGE = 64 * 1024
"""Bytes of a request from which on a server may answer before it has read them all."""
INTERIM = 20
"""Heads that may come before the one that counts."""


class BadUrl(Exception):
    """The address is none that a request can be sent to."""


class BadHeader(Exception):
    """A header cannot be sent as it is."""


class NoConnection(Exception):
    """The host cannot be reached, or not securely."""


class NoHandshake(NoConnection):
    """The host was reached, but does not speak TLS."""


class NoWay(NoConnection):
    """Something on this machine must be set otherwise first: the proxy, or the file of certificates."""


class Silence(Exception):
    """Nothing has come for as long as is waited."""


class _Reader(asyncio.StreamReader):
    """Knows how much has come, whether it was read or not, and gives it also after the connection was reset."""

    came = 0

    def set_exception(self, exc: Exception) -> None:
        if isinstance(exc, ConnectionError):
            self.feed_eof()
        else:
            super().set_exception(exc)

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        piece = bytes(data)
        self.came += len(piece)
        super().feed_data(piece)


@record(slots=True)
class _Connection:
    reader: _Reader
    writer: asyncio.StreamWriter
    used: float = 0.0
    """When it was last used; 0 for one that never was."""
    read: int = 0
    """Bytes that were read from it."""
    is_spent: bool = False
    """Whether a part of a request was never sent, so that no other can follow it."""

    @property
    def is_fit(self) -> bool:
        """Return whether a request can be tried on it: a server that hangs up does so while nobody looks.

        What came unasked, such as the news that nobody has asked for long, would be taken for the answer.
        """
        quiet = self.reader.came == self.read and not self.reader.at_eof()
        return quiet and time.monotonic() - self.used < IDLE and not self.writer.transport.is_closing()

    def close(self) -> None:
        self.writer.transport.abort()


@record(frozen=True, slots=True)
class HttpAnswer:
    """An answer whose head has come."""

    head: Head
    pieces: AsyncGenerator[bytes, None]
    """The content, as it comes."""


class ConnectionPool:
    """Opens connections to one address as they are needed, through the proxy that the environment names."""

    def __init__(self, *, local: bool, silence: float) -> None:
        """`local` goes past all proxies. `silence` is how many seconds may pass without a byte."""
        self._local = local
        self._silence = silence
        self._kept: list[_Connection] = []
        self._secure: ssl.SSLContext | None = None

    @asynccontextmanager
    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[HttpAnswer]:
        """Send a request. The connection is kept if the answer was read to its end, and closed otherwise."""
        target = _split(url)
        proxy = None if self._local else _proxy_of(target)
        sent = _request_head(target, len(body), headers, proxy if target.scheme == "http" else None)
        connection, head = await self._asked(target, proxy, sent, body)
        is_free = False
        try:
            decoder = AnswerBody(head)
            async with aclosing(self._pieces(connection, decoder)) as pieces:
                yield HttpAnswer(head, pieces)
            ended = decoder.done and not decoder.overrun and not connection.is_spent
            is_free = ended and head.stays_open and len(self._kept) < KEPT
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
                if len(body) >= LARGE:
                    return connection, await self._early_head(connection)
                await self._in_time(connection.writer.drain())
                return connection, await self._in_time(self._head(connection))
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

    async def _early_head(self, connection: _Connection) -> Head:
        """The head, listened for while the request is sent: who wants no more of it says so and hangs up."""
        heard = asyncio.create_task(self._head(connection))
        sent = asyncio.create_task(connection.writer.drain())
        try:
            await self._in_time(asyncio.wait((heard, sent), return_when=asyncio.FIRST_COMPLETED))
            connection.is_spent = not sent.done()
            await self._in_time(asyncio.wait((heard,)))
            return heard.result()
        finally:
            heard.cancel()
            sent.cancel()
            await asyncio.gather(heard, sent, return_exceptions=True)

    async def _head(self, connection: _Connection) -> Head:
        for _ in range(INTERIM):
            try:
                data = await connection.reader.readuntil(b"\r\n\r\n")
            except asyncio.LimitOverrunError as error:
                raise BadAnswer(f"a head of more than {HEAD} bytes") from error
            except asyncio.IncompleteReadError as error:
                raise BadAnswer(f"no HTTP answer, but {error.partial[:80]!r}" if error.partial else "") from error
            connection.read += len(data)
            head = read_head(data)
            if head.status >= 200:
                return head
            if head.status == 101:
                raise BadAnswer("another protocol than HTTP")
        raise BadAnswer(f"no answer, but {INTERIM} times that one would come")

    async def _pieces(self, connection: _Connection, body: AnswerBody) -> AsyncGenerator[bytes, None]:
        while not body.done:
            data = await self._in_time(connection.reader.read(READ))
            if not data:
                if body.is_open:
                    return
                raise BadAnswer("the connection was closed before the end of the answer")
            connection.read += len(data)
            for piece in body.feed(data):
                yield piece

    async def _in_time(self, action: Awaitable[T]) -> T:
        try:
            async with time_limit(self._silence):
                return await action
        except TimeoutError as error:
            raise Silence from error

    async def _opened(self, target: SplitResult, proxy: SplitResult | None) -> _Connection:
        place = proxy or target
        secure = self._context() if target.scheme == "https" else None
        direct = secure if proxy is None else None
        try:
            async with time_limit(min(CONNECT, self._silence)):
                connection = await _connected(place, direct)
                if proxy is not None and secure is not None:
                    await self._through(connection, target, proxy, secure)
        except TimeoutError as error:
            raise NoConnection(f"no answer in time{_by(proxy)}") from error
        except ConnectionAbortedError as error:
            raise NoHandshake(str(error)) from error
        except BadAnswer as error:
            raise NoConnection(f"{str(error) or 'the connection was closed'}{_by(proxy)}") from error
        except (OSError, UnicodeError) as error:
            raise NoConnection(f"{str(error) or type(error).__name__}{_by(proxy)}") from error
        return connection

    async def _through(
        self, connection: _Connection, target: SplitResult, proxy: SplitResult, secure: "ssl.SSLContext"
    ) -> None:
        host = f"{_host(target)}:{target.port or PORTS[target.scheme]}"
        lines = [f"CONNECT {host} HTTP/1.1", f"Host: {host}"]
        if login := login_of(proxy):
            lines.append(f"Proxy-Authorization: {login}")
        try:
            connection.writer.write("\r\n".join((*lines, "", "")).encode("ascii"))
            head = await self._head(connection)
            if head.status == 407:
                form = "http://user:password@host in HTTPS_PROXY"
                raise NoWay(f"the proxy {_host(proxy)} wants another login; write it as {form}")
            if head.status >= 300:
                raise NoConnection(f"the proxy {_host(proxy)} answered with {head.status}")
            await connection.writer.start_tls(secure, server_hostname=target.hostname, ssl_handshake_timeout=HANDSHAKE)
        except BaseException:
            connection.close()
            raise

    def _context(self) -> "ssl.SSLContext":
        """The authorities that are trusted: those of every other request of the program."""
        if self._secure is None:
            named = os.environ.get("SSL_CERT_FILE")
            try:
                self._secure = _trusting(named, local=self._local)
            except OSError as error:
                if not named:
                    raise
                raise NoWay(f"SSL_CERT_FILE names {named}, from which no certificates can be read") from error
        return self._secure


async def _connected(place: SplitResult, secure: "ssl.SSLContext | None") -> _Connection:
    loop = asyncio.get_running_loop()
    reader = _Reader(limit=HEAD, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_connection(
        lambda: protocol,
        place.hostname or "",
        place.port or PORTS[place.scheme],
        ssl=secure,
        ssl_handshake_timeout=HANDSHAKE if secure else None,
        happy_eyeballs_delay=ALONE,
    )
    return _Connection(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


def _trusting(named: str | None, *, local: bool) -> "ssl.SSLContext":
    if local:
        import ssl

        return ssl.create_default_context(cafile=named)
    from toolwright.models.transport.certificates import trusting_context

    return trusting_context()


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        named = parts.scheme in PORTS and bool(_host(parts)) and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise BadUrl(url) from error
    if not named:
        raise BadUrl(url)
    return parts


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    return f"[{name}]" if ":" in name else name if name.isascii() else name.encode("idna").decode()


def _proxy_of(target: SplitResult) -> SplitResult | None:
    try:
        return proxy_of(target)
    except BadProxy as error:
        raise NoWay(str(error)) from error


def _by(proxy: SplitResult | None) -> str:
    return f", by the proxy {_host(proxy)}" if proxy is not None else ""


def _request_head(target: SplitResult, length: int, headers: Mapping[str, str], proxy: SplitResult | None) -> bytes:
    """`proxy` is one that is given the whole address."""
    path = quote(target.path or "/", safe="/%:@!$&'()*+,;=~") + (f"?{_query(target.query)}" if target.query else "")
    port = f":{target.port}" if target.port not in (None, PORTS[target.scheme]) else ""
    host = f"{_host(target)}{port}"
    fields = {
        "host": host,
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "keep-alive",
        "user-agent": "toolwright",
        **({"authorization": login} if (login := login_of(target)) else {}),
        **({"proxy-authorization": login} if proxy and (login := login_of(proxy)) else {}),
        **{name.lower(): value for name, value in headers.items()},
        "content-length": str(length),
    }
    for name, value in fields.items():
        if not _is_token(name) or not value.isprintable() or not value.isascii():
            raise BadHeader(name)
    lines = [f"POST {f'http://{host}' if proxy else ''}{path} HTTP/1.1", *map(": ".join, fields.items())]
    return "\r\n".join((*lines, "", "")).encode("ascii")


def _query(text: str) -> str:
    return quote(text, safe="/%:@!$&'()*+,;=~?")


def _is_token(name: str) -> bool:
    return name.isascii() and name.replace("-", "").replace("_", "").isalnum()

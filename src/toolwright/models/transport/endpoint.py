"""One provider over HTTP: requests out, bytes of the answer back, everything that goes wrong as a ModelError."""

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from toolwright.models.model import ModelError
from toolwright.models.transport.connections import (
    BadHeader,
    BadUrl,
    ConnectionPool,
    HttpAnswer,
    NoConnection,
    NoHandshake,
    NoWay,
    Silence,
)
from toolwright.models.transport.failures import refusal
from toolwright.protocols.http_answer import BadAnswer, Unreadable
from toolwright.record import record

SILENCE = 300.0
"""Seconds without a byte after which a provider counts as gone."""
ERROR_BODY = 64 * 1024
"""Bytes of an error's body that are read."""
HARMLESS = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"),
        *("anthropic-beta", "anthropic-version", "user-agent"),
    }
)
"""Headers of a request that hold no key."""
SHORTEST_KEY = 6


@record(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a provider is and how it is spoken to."""

    provider: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    silence: float = SILENCE
    """Seconds between two bytes, and until the first."""
    longest: float | None = None
    """Seconds a whole answer may take; None for no limit."""


class RequestLogin(Protocol):
    """A login whose token changes from time to time."""

    async def headers(self) -> Mapping[str, str]:
        """Return the headers of a request."""
        ...

    async def refused(self) -> bool:
        """The provider has not taken the token. Whether there is another one now."""
        ...


class Transport(Protocol):
    """Sends requests and lets their answers come."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> AbstractAsyncContextManager[HttpAnswer]: ...

    async def close(self) -> None: ...


class Endpoint:
    """An address with its connections, which are opened when first needed and kept for the next request."""

    def __init__(self, address: Address, login: RequestLogin | None = None, transport: Transport | None = None) -> None:
        """`transport` sends the requests in the place of connections of our own."""
        self.address = address
        self.login = login
        self._connections = transport

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], *, whole: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer as they come. `whole` takes one JSON document as well as a stream of events."""
        started = time.monotonic()
        begun = False
        headers = {**self.address.headers, **headers}
        if self.login is not None:
            headers |= await self.login.headers()
        try:
            async with self._open().post(self._url(path), body, headers) as answer:
                await self._check(answer, headers, whole=whole)
                begun = True
                async for piece in answer.pieces:
                    yield piece
                    self._check_time(started)
        except (Silence, NoConnection, BadAnswer, OSError) as error:
            raise self._failure(error, begun=begun) from error
        except BadUrl as error:
            raise self._bad_address() from error
        except BadHeader as error:
            raise ModelError(
                f"The header {str(error)!r} for {self.address.provider} has characters that cannot be sent. "
                "Check the key and the provider's `headers`.",
                "bad_request",
            ) from error

    async def close(self) -> None:
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.close()

    def _open(self) -> Transport:
        if self._connections is None:
            self._connections = ConnectionPool(local=is_local(self.address.base_url), silence=self.address.silence)
        return self._connections

    def _url(self, path: str) -> str:
        return f"{self.address.base_url.rstrip('/')}/{path}"

    async def _check(self, answer: HttpAnswer, sent: Mapping[str, str], *, whole: bool) -> None:
        """Let an event stream pass; anything else is an error, also one that calls itself a success."""
        status, headers = answer.head.status, answer.head.headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if status < 300 and (kind not in {"application/json", "text/html"} or (whole and "json" in kind)):
            return
        if 300 <= status < 400 and "location" in headers:
            raise self._redirect(status, headers["location"])
        body = _without_keys(await _beginning(answer), sent)
        if status >= 400 or (kind == "application/json" and '"error"' in body):
            raise refusal(self.address.provider, max(status, 400), headers, body)
        raise ModelError(
            f"{self.address.provider} answered with {kind or 'no content'} ({status}) "
            "in place of a stream of events. Check the provider's `baseURL` and `api`.",
            "bad_request",
            status=status,
        )

    def _redirect(self, status: int, location: str) -> ModelError:
        """Not followed: the key and the conversation would go to whoever is named there."""
        place = urlsplit(urljoin(f"{self.address.base_url.rstrip('/')}/", location))
        address = f"{place.scheme}://{place.netloc.rpartition('@')[2]}{place.path}"
        return ModelError(
            f"{self.address.provider} sends requests on ({status}) to {address[:200]}. "
            "If that is where it is now, set the provider's `baseURL` so.",
            "bad_request",
            status=status,
        )

    def _check_time(self, started: float) -> None:
        if self.address.longest is not None and time.monotonic() - started > self.address.longest:
            raise ModelError(
                f"The answer of {self.address.provider} took longer than {self.address.longest:g} seconds, "
                "the provider's `timeout`.",
                "network",
            )

    def _failure(self, error: Exception, *, begun: bool) -> ModelError:
        provider, host = self.address.provider, urlsplit(self.address.base_url).netloc.rpartition("@")[2]
        if isinstance(error, Silence):
            return ModelError(f"{provider} has been silent for {self.address.silence:g} seconds.", "network")
        if not begun and (insecure := _tls_trouble(error)) is not None:
            return ModelError(
                f"The connection to {provider} at {host} is not secure: {insecure}", "network", retryable=False
            )
        if isinstance(error, NoWay):
            return ModelError(f"Cannot reach {provider} at {host}: {error}.", "network", retryable=False)
        if isinstance(error, Unreadable):
            message = f"The answer of {provider} at {host} cannot be read: it has {error}."
            return ModelError(message, "network", retryable=False)
        if isinstance(error, NoConnection) and is_local(self.address.base_url):
            return ModelError(
                f"Nothing answers at {host}, where {provider} should be. Start the server, or set `baseURL`.",
                "network",
                retryable=False,
            )
        if begun:
            return ModelError(f"The connection to {provider} broke in the middle of an answer: {error}", "cut")
        reason = str(error) or type(error).__name__
        return ModelError(f"Cannot reach {provider} at {host}: {reason}. Check the network.", "network")

    def _bad_address(self) -> ModelError:
        return ModelError(
            f"{self.address.base_url!r} is no web address for {self.address.provider}. "
            "Set its options.baseURL to one such as https://host/v1.",
            "bad_request",
        )


def _without_keys(body: str, sent: Mapping[str, str]) -> str:
    """An error's body without the keys of the request, which some providers repeat in it."""
    for name, value in sent.items():
        if name.lower() not in HARMLESS:
            for one in (value, value.rpartition(" ")[2]):
                body = body.replace(one, "********") if len(one) >= SHORTEST_KEY else body
    return body


async def _beginning(answer: HttpAnswer) -> str:
    body = bytearray()
    async for piece in answer.pieces:
        body += piece
        if len(body) >= ERROR_BODY:
            break
    return body[:ERROR_BODY].decode("utf-8", "replace")


def _tls_trouble(error: BaseException) -> str | None:
    """Return advice on a certificate or a handshake that failed: trying again does not help."""
    if not isinstance(error, NoConnection):
        return None
    import ssl

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError | NoHandshake):
        cause = cause.__cause__
    if cause is None:
        return None
    reason = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or str(cause)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({reason}). Set SSL_CERT_FILE to the file of the authority that signed it."
        )
    return f"TLS failed ({reason}). Check whether the provider's `baseURL` should begin with http:// or https://."


def is_local(url: str) -> bool:
    """Return whether the address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host in {"localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104 - nothing is bound to it
    except ValueError:  # no address at all, which the request will say
        return False

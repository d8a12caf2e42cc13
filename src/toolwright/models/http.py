"""One provider over HTTP: requests out, bytes of the answer back, everything that goes wrong as a ModelError."""

import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from toolwright.models.failures import refusal
from toolwright.models.model import ModelError
from toolwright.record import record

if TYPE_CHECKING:
    import ssl

    import httpx2

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


class Login(Protocol):
    """A login whose token changes from time to time."""

    async def headers(self) -> Mapping[str, str]:
        """What to send with a request."""
        ...

    async def refused(self) -> bool:
        """The provider has not taken the token. Whether there is another one now."""
        ...


class Endpoint:
    """An address with its connections, which are opened when first needed and kept for the next request."""

    def __init__(self, address: Address, login: Login | None = None) -> None:
        self.address = address
        self.login = login
        self._client: httpx2.AsyncClient | None = None

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], *, whole: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer as they come. `whole` takes one JSON document as well as a stream of events."""
        import httpx2

        started = time.monotonic()
        begun = False
        if self.login is not None:
            headers = {**headers, **await self.login.headers()}
        try:
            async with self._connections().stream("POST", self._url(path), content=body, headers=headers) as response:
                await self._check(response, whole=whole)
                begun = True
                async for chunk in response.aiter_bytes():
                    yield chunk
                    self._check_time(started)
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._failure(error, begun=begun) from error
        except httpx2.InvalidURL as error:
            raise self._bad_address() from error

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _connections(self) -> "httpx2.AsyncClient":
        import httpx2

        if self._client is None:
            # Reading the certificates of all authorities takes longer than a whole answer of a local server.
            secure, local = self.address.base_url.startswith("https:"), is_local(self.address.base_url)
            self._client = httpx2.AsyncClient(
                headers={"user-agent": "toolwright", "accept-encoding": "identity", **self.address.headers},
                timeout=httpx2.Timeout(self.address.silence, connect=min(30.0, self.address.silence)),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
                verify=_certificates(local=local) if secure else False,
                trust_env=not local,
            )
        return self._client

    def _url(self, path: str) -> str:
        return f"{self.address.base_url.rstrip('/')}/{path}"

    async def _check(self, response: "httpx2.Response", *, whole: bool) -> None:
        """Let an event stream pass; anything else is an error, also one that calls itself a success."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code < 300 and (kind not in {"application/json", "text/html"} or (whole and "json" in kind)):
            return
        body = _without_keys(await _beginning(response), response.request.headers)
        if response.status_code >= 400 or (kind == "application/json" and '"error"' in body):
            raise refusal(self.address.provider, max(response.status_code, 400), response.headers, body)
        raise ModelError(
            f"{self.address.provider} answered {response.url} with {kind or 'no content'} ({response.status_code}) "
            "in place of a stream of events. Check the provider's `baseURL` and `api`.",
            "bad_request",
            status=response.status_code,
        )

    def _check_time(self, started: float) -> None:
        if self.address.longest is not None and time.monotonic() - started > self.address.longest:
            raise ModelError(
                f"The answer of {self.address.provider} took longer than {self.address.longest:g} seconds, "
                "the provider's `timeout`.",
                "network",
            )

    def _failure(self, error: Exception, *, begun: bool) -> ModelError:
        import httpx2

        if isinstance(error, httpx2.UnsupportedProtocol):
            return self._bad_address()
        provider, host = self.address.provider, urlsplit(self.address.base_url).netloc
        if isinstance(error, httpx2.ReadTimeout):
            return ModelError(f"{provider} has been silent for {self.address.silence:g} seconds.", "network")
        if not begun and (insecure := _tls_trouble(error)) is not None:
            return ModelError(
                f"The connection to {provider} at {host} is not secure: {insecure}", "network", retryable=False
            )
        if isinstance(error, httpx2.ConnectError) and is_local(self.address.base_url):
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


async def _beginning(response: "httpx2.Response") -> str:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= ERROR_BODY:
            break
    return body[:ERROR_BODY].decode("utf-8", "replace")


def _certificates(*, local: bool) -> "bool | ssl.SSLContext":
    """A server on this machine is reached past all proxies, yet by the authorities that the environment names."""
    import os
    import ssl

    named = os.environ.get("SSL_CERT_FILE")
    return ssl.create_default_context(cafile=named) if local and named else True


def _tls_trouble(error: BaseException) -> str | None:
    """What to do about a certificate or a handshake that failed: trying again does not help."""
    import ssl

    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    reason = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or str(cause)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({reason}). Set SSL_CERT_FILE to the file of the authority that signed it."
        )
    return f"TLS failed ({reason}). Check whether the provider's `baseURL` should begin with http:// or https://."


def is_local(url: str) -> bool:
    """Whether the address is on this machine."""
    try:
        return urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}
    except ValueError:  # no address at all, which the request will say
        return False

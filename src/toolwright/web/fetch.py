"""Fetching a page: every address judged before it is reached, redirects followed here, all of it within limits."""

import asyncio
import os
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from ipaddress import ip_address
from itertools import zip_longest

from toolwright.deadline import time_limit
from toolwright.errors import PermissionDenied, ToolError
from toolwright.record import record
from toolwright.version import VERSION
from toolwright.web.addresses import Address, inner, is_public
from toolwright.web.bodies import ACCEPTED, Body, too_large
from toolwright.web.exchange import WebReply, WebRequest, WebRoute, exchange
from toolwright.web.pace import Pace
from toolwright.web.pages import KEPT_FOR, Pages, WebPage
from toolwright.web.proxies import Proxy, proxy_for
from toolwright.web.urls import Url

LIMIT = 5 * 1024 * 1024
"""Bytes that a page may have, unpacked."""
REDIRECTS = 10
"""Redirects that are followed one after the other."""
_REFUSAL = 64 * 1024
"""Bytes that are read of an answer that is no page."""
_TRIED = 4
"""Addresses of one name that are tried."""
_AGENT = f"Mozilla/5.0 (compatible; toolwright/{VERSION})"

Admit = Callable[[Url], Awaitable[bool]]
"""Asks permission for an address, and tells whether it may lie on this machine or a private network."""
Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]


async def look_up(host: str, port: int) -> list[Address]:
    """Every address behind a name."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(entry[4][0])) for entry in entries))


@record(slots=True, kw_only=True)
class Fetcher:
    """Fetches pages for the sessions of a workspace."""

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    resolve: Resolve = look_up
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    pages: Pages = field(default_factory=Pages)
    pace: Pace = field(default_factory=Pace)
    _context: ssl.SSLContext | None = None

    async def fetch(self, session_id: str, url: Url, *, accept: str, seconds: float, admit: Admit) -> WebPage:
        """The page at the end of the redirects; permission is asked for every address on the way."""
        key = (session_id, str(url), accept)
        page = self.pages.find(key)
        if page is None:
            page = await self._travel(url, accept, _Allowance(seconds), admit)
            self.pages.keep(key, page)
        else:
            for hop in page.hops:
                await admit(hop)
        return page

    async def _travel(self, url: Url, accept: str, allowance: "_Allowance", admit: Admit) -> WebPage:
        hops: list[Url] = []
        while True:
            opened = await admit(url)
            hops.append(url)
            async with allowance.spend(url):
                route, private = await self._route(url, opened=opened)
                context = await self._secure() if url.scheme == "https" else None
            if not private:
                await self.pace.turn(url.origin)
            headers = [
                ("User-Agent", _AGENT),
                ("Accept", accept),
                ("Accept-Language", "en-US,en;q=0.9"),
                ("Accept-Encoding", ACCEPTED),
            ]
            async with allowance.spend(url), exchange(WebRequest(url=url, headers=headers), route, context) as reply:
                if not _is_redirect(reply):
                    return await _page(reply, hops, keep=not private)
                target = _target(url, reply)
            if target in hops:
                raise ToolError(f"{hops[0]} leads in a circle: {url} redirects back to {target}.", "network")
            if len(hops) > REDIRECTS:
                raise ToolError(f"{hops[0]} leads through more than {REDIRECTS} redirects.", "network")
            url = target

    async def _route(self, url: Url, *, opened: bool) -> tuple[WebRoute, bool]:
        """Return how to reach the host, at the very addresses judged here; and whether one of them is not public."""
        proxy = proxy_for(url, self.environment)
        try:
            addresses = [url.address] if url.address is not None else await self.resolve(url.host, url.port)
        except OSError as error:
            return _by_name(url, proxy, error, opened=opened), False
        private = next((address for address in addresses if not is_public(address)), None)
        if private is not None and not opened:
            raise closed(url, private)
        if any(inner(address).is_loopback for address in addresses):
            proxy = None  # it would be another machine's
        places = (url.host,) if proxy and opened else tuple(map(str, _alternating(addresses)[:_TRIED]))
        return WebRoute(places=places, proxy=proxy), private is not None

    async def _secure(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = await asyncio.to_thread(self.tls)  # reads the certificates of all authorities
        return self._context


def _alternating(addresses: Sequence[Address]) -> list[Address]:
    """IPv4 and IPv6 by turns, so that a network which leads nowhere in one of them costs one attempt."""
    first = [address for address in addresses if address.version == addresses[0].version]
    other = [address for address in addresses if address.version != addresses[0].version]
    return [address for pair in zip_longest(first, other) for address in pair if address is not None]


def closed(url: Url, address: Address) -> PermissionDenied:
    """The error for a host that is not on the public internet."""
    what = url.host if str(address) == url.host else f"{url.host} ({address})"
    return PermissionDenied(
        f"{what} is no public address: it lies on this machine or in a private network. Nothing was sent. Only a "
        f"`webfetch` rule that spells the host opens it, such as `{url.scheme}://{url.authority}/*: allow`; "
        "tell the user if you need it."
    )


def _by_name(url: Url, proxy: Proxy | None, error: OSError, *, opened: bool) -> WebRoute:
    """A name that is not known here may be known to the proxy; but then nobody has judged where it leads."""
    if proxy is None:
        raise ToolError(f"No address is known for {url.host}: {error.strerror or error}.", "network") from error
    if not opened:
        raise PermissionDenied(
            f"{url.host} is not known here, so that nobody can tell where the proxy would lead. Nothing was sent. "
            f"A `webfetch` rule that spells the host opens it, such as `{url.scheme}://{url.authority}/*: allow`; "
            "tell the user if you need it."
        )
    return WebRoute(places=(url.host,), proxy=proxy)


class _Allowance:
    """The seconds that are left for the network; those spent on questions and on turns do not count."""

    def __init__(self, seconds: float) -> None:
        self._seconds = self._left = seconds

    @asynccontextmanager
    async def spend(self, url: Url) -> AsyncIterator[None]:
        started = time.monotonic()
        try:
            async with time_limit(self._left):
                yield
        except TimeoutError as error:
            raise ToolError(f"{url.authority} took longer than {self._seconds:g} seconds.", "timeout") from error
        self._left -= time.monotonic() - started


def _is_redirect(reply: WebReply) -> bool:
    return reply.status in (301, 302, 303, 307, 308) and "location" in reply.headers


def _target(url: Url, reply: WebReply) -> Url:
    try:
        return url.join(reply.headers["location"].encode("latin-1").decode("utf-8", "replace"))
    except (ToolError, ValueError) as error:
        raise ToolError(f"{url} redirects to what is no web address: {error}", "network") from error


async def _page(reply: WebReply, hops: Sequence[Url], *, keep: bool) -> WebPage:
    good = 200 <= reply.status < 300
    packing = reply.headers.get("content-encoding", "")
    length = reply.headers.get("content-length", "")
    if good and not packing and length.isdecimal() and int(length) > LIMIT:
        raise too_large(LIMIT)
    data = await _whole(reply, packing) if good else await _excerpt(reply, packing)
    return WebPage(
        url=hops[-1],
        hops=tuple(hops),
        status=reply.status,
        reason=reply.reason,
        content_type=reply.content_type,
        data=data,
        kept_for=_kept_for(reply.headers.get("cache-control", "")) if keep and good else 0.0,
    )


async def _whole(reply: WebReply, packing: str) -> bytes:
    body = Body(packing, LIMIT)
    async for chunk in reply.chunks:
        body.feed(chunk)
    return body.close()


async def _excerpt(reply: WebReply, packing: str) -> bytes:
    """Read what a server says with a refusal, as far as it can be read: the refusal itself is known anyway."""
    try:
        body = Body(packing, LIMIT)
        async for chunk in reply.chunks:
            body.feed(chunk)
            if len(body.data) >= _REFUSAL:
                break
    except ToolError:
        return b""
    return bytes(body.data)


def _kept_for(control: str) -> float:
    if re.search(r"no-store|no-cache", control, re.IGNORECASE):
        return 0.0
    match = re.search(r"max-age\s*=\s*(\d{1,9})", control, re.IGNORECASE)
    return min(KEPT_FOR, float(match.group(1))) if match else KEPT_FOR

"""Connections to the world, made by us: the name is resolved once, its addresses are looked at, one is reached."""

import asyncio
import base64
import ipaddress
import os
import socket
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Final, Literal

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.machine.sockdiag import SocketEnd
from toolwright.network.destination import Destination
from toolwright.web.addresses import Address, inner, is_public
from toolwright.web.proxies import Proxy, proxy_for
from toolwright.web.urls import Url

PATIENCE: Final = 30.0
"""Seconds for a name to be resolved, and for each address to answer."""
RESOLVERS: Final = 64
"""Names that are resolved at a time. Such a lookup cannot be ended before the system gives it up."""
LONGEST_ANSWER: Final = 16_384
"""Bytes of a proxy's answer."""
TRIED: Final = 4
"""Addresses of one host that are tried."""
METADATA: Final = ("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254")
"""Addresses at which clouds tell machines their secrets, outside of the link-local block."""


class Unreachable(ToolError):
    """A destination that was allowed cannot be reached."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "network")


class ClosedAddress(ToolError):
    """A destination that was allowed leads to an address that was not."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "denied")


class Outward:
    """Makes connections. One for each of the threads that do."""

    def __init__(self, environment: Mapping[str, str] = MappingProxyType({})) -> None:
        """`environment` names the proxy that the user's own connections go through, if they do."""
        self._environment = environment
        self._context: ssl.SSLContext | None = None
        self._resolvers = ThreadPoolExecutor(RESOLVERS, "toolwright-names")

    async def connect(self, destination: Destination, *, named: bool) -> socket.socket:
        """Connect to a destination that is allowed; `named` says that the user means it wherever it lies."""
        proxy = self._proxy(destination)
        try:
            addresses = [destination.address] if destination.address else await self._resolve(destination.host)
        except Unreachable:
            if proxy is None:
                raise
            # A name that is not known here leads to nothing here; where it leads from there, the proxy knows.
            addresses = []
        if problem := next(filter(None, (closed(one, destination, named=named) for one in addresses)), ""):
            raise ClosedAddress(problem)
        if proxy is None:
            return await _connected(destination, addresses)
        there = Destination.of(proxy.host, proxy.port)
        to_proxy = await _connected(there, [there.address] if there.address else await self._resolve(there.host))
        try:
            async with time_limit(PATIENCE):
                await ask_proxy(to_proxy, destination, proxy.credentials)
        except (OSError, EOFError, TimeoutError) as error:
            to_proxy.close()
            raise Unreachable(f"{destination} cannot be reached: the proxy {there} gave no answer") from error
        except BaseException:
            to_proxy.close()
            raise
        return to_proxy

    async def secured(self, connection: socket.socket, host: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Speak TLS on a connection, and make sure that it is the host who answers."""
        if self._context is None:
            self._context = await asyncio.to_thread(ssl.create_default_context)
        async with time_limit(PATIENCE):
            return await asyncio.open_connection(sock=connection, ssl=self._context, server_hostname=host)

    def _proxy(self, destination: Destination) -> Proxy | None:
        scheme: Literal["http", "https"] = "http" if destination.port == 80 else "https"
        url = Url(scheme=scheme, host=destination.host, port=destination.port, target="/", address=destination.address)
        proxy = proxy_for(url, self._environment)
        if proxy is not None and proxy.secure:
            raise Unreachable(f"{destination} cannot be reached: the proxy is one over TLS, which commands cannot use")
        return proxy

    async def connect_here(self, port: int) -> socket.socket:
        """Connect to a service of this machine that a rule names."""
        here: list[Address] = [ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1")]
        return await _connected(Destination("localhost", port), here)

    async def _resolve(self, host: str) -> list[Address]:
        loop = asyncio.get_running_loop()
        try:
            async with time_limit(PATIENCE):
                looked_up = loop.run_in_executor(self._resolvers, _look_up, host)
                return (await looked_up)[:TRIED]
        except TimeoutError as error:
            raise Unreachable(f"no address of {host} was found within {PATIENCE:.0f} seconds") from error
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no name of a host"
            raise Unreachable(f"no address of {host} is known: {reason}") from error

    def close(self) -> None:
        self._resolvers.shutdown(wait=False, cancel_futures=True)


async def ask_proxy(to_proxy: socket.socket, destination: Destination, credentials: str) -> None:
    """Have the user's own proxy connect. What follows its answer is the host's already, and is not read here."""
    loop = asyncio.get_running_loop()
    lines = [f"CONNECT {destination} HTTP/1.1", f"Host: {destination}"]
    if credentials:
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(credentials.encode()).decode()}")
    await loop.sock_sendall(to_proxy, "\r\n".join([*lines, "", ""]).encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n") and len(answer) < LONGEST_ANSWER:
        piece = await loop.sock_recv(to_proxy, 1)
        if not piece:
            raise EOFError
        answer += piece
    first = answer.split(b"\r\n", 1)[0].decode("latin-1")
    if first.split(" ")[1:2] != ["200"]:
        raise Unreachable(f"{destination} cannot be reached: the user's proxy says {first[:100]!r}")


def closed(address: Address, destination: Destination, *, named: bool) -> str:
    """Say why an address is not to be reached; empty if it may be."""
    real, as_address = inner(address), destination.address is not None
    if real.is_loopback or real.is_unspecified or _is_ours(real):
        return f"{_named(destination, address)} is this machine, whose services a rule opens by port: `localhost:PORT`"
    if real.is_link_local or real.is_multicast or str(real) in METADATA:
        return "" if named and as_address else f"{_named(destination, address)} is closed to commands"
    if is_public(address) or named:
        return ""
    return (
        f"{_named(destination, address)} is in a private network, which takes a rule with its name:"
        f" `{destination}: allow`"
    )


def _named(destination: Destination, address: Address) -> str:
    return str(destination) if destination.address is not None else f"{destination} ({address})"


def _is_ours(address: Address) -> bool:
    """Tell whether an address is one of this machine's own."""
    return not is_this_broad(address) and SocketEnd(address=address.packed, port=0).is_here()


def is_this_broad(address: Address) -> bool:
    """Tell whether it is no address of one machine."""
    return address.is_multicast or address.is_unspecified


def _look_up(host: str) -> list[Address]:
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(name[0]).partition("%")[0] for *_, name in entries)
    return [ipaddress.ip_address(text) for text in texts]


async def _connected(destination: Destination, addresses: list[Address]) -> socket.socket:
    reason = "it has no address"
    for address in addresses:
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        try:
            connection = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        except OSError as error:
            reason = error.strerror or str(error)
            continue
        try:
            async with time_limit(PATIENCE):
                await asyncio.get_running_loop().sock_connect(connection, (str(address), destination.port))
        except TimeoutError:
            reason = f"no answer in {PATIENCE:.0f} seconds"
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
        except BaseException:
            connection.close()
            raise
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        connection.close()
    raise Unreachable(f"{destination} cannot be reached: {reason}")

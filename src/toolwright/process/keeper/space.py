"""Network namespaces: made by a leader, with sockets that are handed out, and entered before a program starts.

A socket belongs to the namespace it was made in, whoever holds it. So nothing of ours need stay inside: our master
accepts on these sockets from outside, and a program in there has no other way out.
"""

# pathlib would take as long to import as all the rest of the keeper.

import array
import fcntl
import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

from . import redirect, system
from .order import SpaceOrder

NEW_NETWORK = 0x40000000
PROXY, THROUGH, NAMES = 61080, 61081, 53
"""Ports inside: of the proxy, of what is redirected, of the answers to names. The first two are above those that are
given to whoever asks for any."""
BACKLOG = 1024
DIAGNOSIS = 4
"""Netlink's family by which it is asked who listens."""
SET_FLAGS, UP = 0x8914, 0x1
PACKET_INFO, PACKET_INFO_6 = 8, 49
"""Options by which a datagram tells the address that it was sent to, which Python has no name for."""

Handed = tuple[str, socket.socket]


def carry_out(order: SpaceOrder, namespace: int | None, control: socket.socket) -> None:
    """Make what is asked for and hand it out by the control socket: names as JSON, descriptors beside them."""
    try:
        if namespace is None:
            sockets, refused = _new_space()
        else:
            enter(namespace)
            sockets, refused = [], []
        sockets += _listening(order["ports"], refused)
        sockets += [("plain", _plain()) for _ in range(order["plain"])]
    except OSError as problem:
        control.sendall(json.dumps({"failed": problem.strerror or str(problem)}).encode())
        return
    descriptors = [one.fileno() for _, one in sockets]
    if namespace is None:
        descriptors.append(os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
    answer = json.dumps({"names": [name for name, _ in sockets], "refused": refused}).encode()
    control.sendmsg([answer], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])


def enter(namespace: int) -> None:
    """Have this process, and whatever it starts, in a network namespace."""
    system.setns(namespace, NEW_NETWORK)


def _new_space() -> tuple[list[Handed], list[str]]:
    """The namespace with its loopback alone, where every address leads to us; what it could not be given is named."""
    system.unshare(NEW_NETWORK)
    _bring_up("lo")
    refused = list[str]()
    sockets = [("proxy", _listener(socket.AF_INET, "127.0.0.1", PROXY))]
    for family, version in ((socket.AF_INET, "4"), (socket.AF_INET6, "6")):
        try:
            sockets += _doors(family, version)
        except OSError as problem:
            refused.append(f"IPv{version} without a proxy: {problem.strerror or problem}")
    sockets.append(("diagnosis", socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, DIAGNOSIS)))
    return sockets, refused


def _doors(family: socket.AddressFamily, version: str) -> Iterator[Handed]:
    """Yield sockets for programs that know no proxy: names are answered, and whatever address they want leads here."""
    home, anywhere = ("127.0.0.1", "0.0.0.0") if family == socket.AF_INET else ("::1", "::")  # noqa: S104 - inside
    redirect.lead_every_address_here(family)
    redirect.redirect_connections(family, THROUGH)
    names = _of_family(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET:
        names.setsockopt(socket.IPPROTO_IP, PACKET_INFO, 1)
    else:
        names.setsockopt(socket.IPPROTO_IPV6, PACKET_INFO_6, 1)
    names.bind((anywhere, NAMES))
    yield f"names{version}", names
    yield f"through{version}", _listener(family, home, THROUGH)


def _listening(ports: list[int], refused: list[str]) -> list[Handed]:
    """Sockets for services outside. A port that is taken inside is left to who has it."""
    listeners = list[Handed]()
    for port in ports:
        try:
            listeners.append((f"port {port}", _listener(socket.AF_INET, "127.0.0.1", port)))
        except OSError as problem:
            refused.append(f"port {port}: {problem.strerror}")
            continue
        with suppress(OSError):
            listeners.append((f"port {port}", _listener(socket.AF_INET6, "::1", port)))
    return listeners


def _plain() -> socket.socket:
    """A socket to be connected to a server inside: one of IPv6 reaches those of IPv4 too."""
    try:
        connector = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        connector.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    except OSError:
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    return connector


def _listener(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    listener = _of_family(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(BACKLOG)
    return listener


def _of_family(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
    opened = socket.socket(family, kind)
    if family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return opened


def _bring_up(device: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", device.encode(), UP))

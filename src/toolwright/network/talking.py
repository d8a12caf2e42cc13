"""Pieces of conversations with programs in a session's network, by plain sockets in the door's thread."""

import asyncio
import socket
import struct
from typing import Final

from toolwright.network import proxying

PATIENCE: Final = 30.0
"""Seconds for a program to say what it wants."""
ORIGINAL: Final = 80
"""The option by which a redirected connection tells where it was going."""


async def some(connection: socket.socket, before: bytes) -> bytes:
    """Return what came before with what comes next; EOFError if nothing does."""
    data = await asyncio.get_running_loop().sock_recv(connection, 65_536)
    if not data:
        raise EOFError
    return before + data


async def exactly(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes and no more; EOFError if it ends before."""
    data = b""
    while len(data) < size:
        piece = await asyncio.get_running_loop().sock_recv(connection, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


async def send(connection: socket.socket, data: bytes) -> None:
    """Send all of it."""
    await asyncio.get_running_loop().sock_sendall(connection, data)


async def socks(connection: socket.socket, data: bytes) -> proxying.Wanted:
    """Talk SOCKS up to what is wanted, of which some has come."""
    while (greeting := proxying.socks_greeting(data)) is None:
        data = await some(connection, data)
    await send(connection, proxying.SOCKS_CHOICE)
    data = data[greeting:]
    while (request := proxying.socks_request(data)) is None:
        data = await some(connection, data)
    wanted, size = request
    return proxying.Wanted(destination=wanted.destination, how="socks", first=data[size:])


async def connect_inside(connection: socket.socket, port: int) -> None:
    """Connect to the loopback of a session's network, by either version."""
    hosts = ("127.0.0.1",) if connection.family == socket.AF_INET else ("::ffff:127.0.0.1", "::1")
    for host in hosts:
        try:
            await asyncio.get_running_loop().sock_connect(connection, (host, port))
        except ConnectionRefusedError:
            if host == hosts[-1]:
                raise
        else:
            return


def original(connection: socket.socket) -> tuple[str, int]:
    """Return where a redirected connection was going."""
    if connection.family == socket.AF_INET:
        place = connection.getsockopt(socket.IPPROTO_IP, ORIGINAL, 16)
        return socket.inet_ntop(socket.AF_INET, place[4:8]), int.from_bytes(place[2:4], "big")
    place = connection.getsockopt(socket.IPPROTO_IPV6, ORIGINAL, 28)
    return socket.inet_ntop(socket.AF_INET6, place[8:24]), int.from_bytes(place[2:4], "big")


def reset(connection: socket.socket) -> None:
    """Have the program see that it was refused, and not that all was said."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

"""Bytes between two connections, both ways, counted."""

import asyncio
import fcntl
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from toolwright.network.hello import LONGEST, Incomplete, server_name

PIECE = 256 * 1024
"""Bytes that are moved at once. What cannot be sent on at once is copied, so all connections share the room for it."""

PIPE = 1024 * 1024
"""And at once in a pipe, through which the kernel moves them without a copy."""
PIPES = 8
"""Connections that have a pipe at a time: each takes two open files."""
UNASKED = 1_000_000
"""Bytes that are sent to a host that a client of the user's is set up with, before anybody is asked."""
SHARE = 10
"""And this part of what came from there: to fetch much takes many requests."""


class Watcher(Protocol):
    """A watcher of what a program says."""

    async def begins(self, data: bytes) -> None:
        """Look at the first of it. OSError if it is not to go on."""
        ...

    async def spent(self) -> None:
        """Decide on more than is sent unasked. OSError if it is not to go on."""
        ...


class Traffic:
    """Bytes that went to a destination and came from it."""

    __slots__ = ("connections", "limited", "received", "sent")

    def __init__(self) -> None:
        self.connections = self.sent = self.received = 0
        self.limited: bool | None = None
        """True if nobody has allowed this very host, so that no more is sent than fetching takes; None before that is
        known."""

    @property
    def is_spent(self) -> bool:
        """True if more was sent than goes without a question."""
        return bool(self.limited) and self.sent > UNASKED + self.received // SHARE


class Relay:
    """Moves bytes; one for each loop."""

    def __init__(self) -> None:
        self._room = memoryview(bytearray(PIECE))
        self._pipes_left = PIPES

    async def between(
        self, inside: socket.socket, outside: socket.socket, traffic: Traffic, watcher: Watcher | None = None
    ) -> None:
        """Pass on what comes on either side until both have ended, or one has broken off."""

        def sent(count: int) -> None:
            traffic.sent += count

        def received(count: int) -> None:
            traffic.received += count

        ways = [
            asyncio.ensure_future(self._outward(inside, outside, traffic, sent, watcher)),
            asyncio.ensure_future(self._one_way(outside, inside, received)),
        ]
        try:
            await asyncio.gather(*ways)
        except OSError:
            return
        finally:
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)

    async def _outward(
        self,
        inside: socket.socket,
        outside: socket.socket,
        traffic: Traffic,
        sent: Callable[[int], None],
        watcher: Watcher | None,
    ) -> None:
        """Pass on what a program says; it is looked at when it begins, and where it becomes much."""
        if watcher is None:
            await self._one_way(inside, outside, sent)
            return
        first = await _greeting(inside)
        if first:
            await watcher.begins(first)
            sent(len(first))
            await asyncio.get_running_loop().sock_sendall(outside, first)

        decide = (lambda: watcher.spent() if traffic.is_spent else None) if traffic.limited else None
        await self._one_way(inside, outside, sent, decide)

    async def _one_way(
        self,
        source: socket.socket,
        target: socket.socket,
        count: Callable[[int], None],
        decide: Callable[[], Awaitable[None] | None] | None = None,
    ) -> None:
        """`decide` returns what is to be waited for before more is passed on, if anything is."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                size = source.recv_into(self._room)
            except (BlockingIOError, InterruptedError):
                await readable(source)
                continue
            if not size:
                break
            count(size)
            if decide is not None and (decision := decide()) is not None:
                # The room is everybody's.
                kept = bytes(self._room[:size])
                await decision
                await loop.sock_sendall(target, kept)
                continue
            try:
                done = target.send(self._room[:size])
            except (BlockingIOError, InterruptedError):
                done = 0
            if done < size:
                await loop.sock_sendall(target, bytes(self._room[done:size]))
            elif size == PIECE:
                await asyncio.sleep(0)
            if size == PIECE and decide is None and self._pipes_left and sys.platform == "linux":
                # Where much has come at once, more will.
                self._pipes_left -= 1
                try:
                    await _pass_by_pipe(source, target, count)
                finally:
                    self._pipes_left += 1
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


async def _pass_by_pipe(source: socket.socket, target: socket.socket, count: Callable[[int], None]) -> None:
    """Pass on what comes up to its end, or nothing where no file may be opened."""
    try:
        reader, writer = os.pipe()
    except OSError:
        return
    flags = os.SPLICE_F_NONBLOCK | os.SPLICE_F_MOVE
    try:
        with suppress(OSError):  # a user may have so many large pipes
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
        while True:
            try:
                size = os.splice(source.fileno(), writer, PIPE, flags=flags)
            except (BlockingIOError, InterruptedError):
                await readable(source)
                continue
            if not size:
                return
            count(size)
            while size:
                try:
                    size -= os.splice(reader, target.fileno(), size, flags=flags)
                except (BlockingIOError, InterruptedError):
                    await writable(target)
            await asyncio.sleep(0)
    finally:
        os.close(reader)
        os.close(writer)


async def _greeting(peer: socket.socket) -> bytes:
    """Return the first that is said; all of it if it is the greeting of TLS."""
    data = b""
    while len(data) < LONGEST:
        piece = await asyncio.get_running_loop().sock_recv(peer, PIECE)
        data += piece
        try:
            server_name(data)
        except Incomplete:
            if piece:
                continue
        break
    return data


async def readable(peer: socket.socket) -> None:
    """Return once there is something to read."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(peer.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(peer.fileno())


async def writable(peer: socket.socket) -> None:
    """Return once something can be said."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(peer.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(peer.fileno())


async def speak_for(
    inside: socket.socket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes, traffic: Traffic
) -> None:
    """Send what a program says to a stream, and what that says to the program, until the stream has ended."""
    loop = asyncio.get_running_loop()

    async def out() -> None:
        data = first
        while data:
            traffic.sent += len(data)
            writer.write(data)
            await writer.drain()
            data = await loop.sock_recv(inside, PIECE)

    sending = asyncio.ensure_future(out())
    try:
        while data := await reader.read(PIECE):
            traffic.received += len(data)
            await loop.sock_sendall(inside, data)
    except OSError:
        return
    finally:
        sending.cancel()
        await asyncio.wait([sending])

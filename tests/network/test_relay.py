"""Much that comes at once: passed on whole, however fast it is read, and nothing stays open."""

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from toolwright.network.relay import PIPES, Relay, Traffic

MUCH = random.Random(7).randbytes(6_000_000)
BITS = 4096


async def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a connection on the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    for end in (one, other):
        end.setblocking(False)
        # What cannot be sent on at once is what is hard.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
    return one, other


@asynccontextmanager
async def relayed(relay: Relay, traffic: Traffic) -> AsyncIterator[tuple[socket.socket, socket.socket]]:
    """A program and a host with the relay between them."""
    program, inside = await pair()
    outside, host = await pair()
    with program, inside, outside, host:
        work = asyncio.ensure_future(relay.between(inside, outside, traffic))
        yield program, host
        program.close()
        host.close()
        await work


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


async def sent(one: socket.socket, data: bytes) -> None:
    await asyncio.get_running_loop().sock_sendall(one, data)
    one.shutdown(socket.SHUT_WR)


async def received(one: socket.socket, size: int) -> bytes:
    pieces = list[bytes]()
    while piece := await asyncio.get_running_loop().sock_recv(one, size):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("size", [1 << 20, BITS])
async def test_much_is_passed_on_whole_both_ways_however_slowly_it_is_read(size: int) -> None:
    traffic = Traffic()
    async with relayed(Relay(), traffic) as (program, host):
        up, down = MUCH[:5_000_001], MUCH[7:]
        _, _, at_host, at_program = await asyncio.gather(
            sent(program, up), sent(host, down), received(host, size), received(program, size)
        )
        assert at_host == up
        assert at_program == down
        assert (traffic.sent, traffic.received) == (len(up), len(down))


async def test_much_that_nobody_reads_to_its_end_leaves_nothing_open() -> None:
    relay, before = Relay(), open_files()
    for _ in range(2 * PIPES):
        async with relayed(relay, Traffic()) as (program, host):
            sending = asyncio.ensure_future(asyncio.get_running_loop().sock_sendall(host, MUCH))
            await asyncio.get_running_loop().sock_recv(program, 1)
            sending.cancel()
            await asyncio.wait([sending])
    assert open_files() <= before
    traffic = Traffic()
    async with relayed(relay, traffic) as (program, host):
        _, got = await asyncio.gather(sent(host, MUCH), received(program, 1 << 20))
        assert got == MUCH


async def test_without_a_file_to_spare_much_is_passed_on_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", full)
    async with relayed(Relay(), Traffic()) as (program, host):
        _, got = await asyncio.gather(sent(host, MUCH), received(program, 1 << 20))
        assert got == MUCH

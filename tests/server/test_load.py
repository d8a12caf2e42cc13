"""Many who listen, many at work, one asleep: everybody hears all of it, and nothing grows without end."""

import asyncio
import gc
import socket
from pathlib import Path

import pytest

from tests.server.harness import TOKEN, Served, served
from tests.server.test_session import project
from tests.waiting import patience
from toolwright.server.listeners import KEPT_BYTES, KEPT_FRAMES, QUEUE_BYTES, QUEUE_FRAMES
from toolwright.testing import ScriptedModel

pytestmark = pytest.mark.slow

LISTENERS, SESSIONS = 200, 50


def request(server: Served, path: str) -> bytes:
    host = server.url.removeprefix("http://")
    return f"GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode()


async def hear(server: Served, ready: asyncio.Semaphore) -> int:
    """Listen until every session has come to rest; the number of those that have."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    writer.write(request(server, "/event"))
    rest, idle = b"", 0
    while idle < SESSIONS and (chunk := await reader.read(2**20)):
        if b"server.connected" in chunk:
            ready.release()
        *frames, rest = (rest + chunk).split(b"\n\n")
        idle += sum(b'"type":"session.idle"' in frame for frame in frames)
    writer.close()
    return idle


async def test_everybody_hears_all_while_one_sleeps(tmp_path: Path) -> None:
    model = ScriptedModel(default={"text": "word " * 2000, "chunk": 500})
    async with served(project(tmp_path), model=model) as server:
        await server.get("/path")
        asleep = socket.socket()
        asleep.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asleep.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
        asleep.sendall(request(server, "/event"))
        ready = asyncio.Semaphore(0)
        listening = [asyncio.create_task(hear(server, ready)) for _ in range(LISTENERS - 1)]
        for _ in listening:
            await ready.acquire()
        sessions = [await server.session() for _ in range(SESSIONS)]
        most = 0

        async def watch() -> None:
            nonlocal most
            while True:
                held = [one for channel in server.serving.channels.values() for one in channel.listeners]
                most = max(most, *(one.size for one in held), 0)
                assert all(one.frames <= QUEUE_FRAMES for one in held)
                await asyncio.sleep(0)

        watching = asyncio.create_task(watch())
        body = {"parts": [{"type": "text", "text": "speak"}]}
        for session in sessions:
            await server.post(f"/session/{session}/prompt_async", body, status=204)
        async with patience():
            assert await asyncio.gather(*listening) == [SESSIONS] * (LISTENERS - 1)
        watching.cancel()
        asleep.close()
        assert most <= QUEUE_BYTES
        for channel in server.serving.channels.values():
            assert len(channel._kept) <= KEPT_FRAMES
            assert channel._kept_bytes <= KEPT_BYTES


async def test_many_requests_leave_nothing_behind(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        session = await server.session()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))

        async def ask(number: int) -> None:
            for _ in range(number):
                for path in ("/path", f"/session/{session}", "/nothing/here"):
                    writer.write(request(server, path))
                    head = (await reader.readuntil(b"\r\n\r\n")).lower()
                    await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
            gc.collect()

        await ask(200)
        before = len(gc.get_objects())
        await ask(1000)
        assert len(gc.get_objects()) - before < 500
        writer.close()

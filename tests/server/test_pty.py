"""Terminals over HTTP: a program of the user's own, typed into and shown over a WebSocket."""

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server.harness import TOKEN, Served, listening, served
from tests.waiting import patience, until

websockets = pytest.importorskip("websockets", reason="WebSockets are an extra")
from websockets.asyncio.client import connect  # noqa: E402

SHELL = {"command": "/bin/sh", "title": "mine", "env": {"PS1": "", "ENV": "/dev/null"}}


@asynccontextmanager
async def connected(server: Served, terminal: Any, **more: Any) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
    address = f"{server.url.replace('http', 'ws', 1)}/pty/{terminal['id']}/connect"
    async with patience(), connect(address, additional_headers=headers, proxy=None, **more) as socket:
        yield socket


async def shown(socket: Any, wanted: str) -> str:
    """All that comes until this has come."""
    text = ""
    while wanted not in text:
        text += await socket.recv()
    return text


async def test_a_terminal_is_typed_into_sized_shown_and_ends_with_its_program(project: Path) -> None:
    async with served(project) as server, listening(server) as heard:
        await heard.wait("server.connected")
        made = await server.post("/pty", SHELL)
        assert (made["title"], made["status"], made["cwd"]) == ("mine", "running", str(project))
        assert await server.get("/pty") == [made] == [await server.get(f"/pty/{made['id']}")]
        size = {"size": {"rows": 31, "cols": 101}, "title": "wide"}
        assert (await server.send("PUT", f"/pty/{made['id']}", json=size))["title"] == "wide"
        async with connected(server, made) as socket:
            await socket.send("stty size; test -t 0 && echo $((40 + 2)); pwd\n")
            assert "31 101" in await shown(socket, "\r\n42\r\n")
            async with connected(server, made) as later:
                assert "31 101" in await shown(later, "42"), "who comes later is shown what was printed"
            await socket.send("exit 3\n")
            with pytest.raises(websockets.ConnectionClosed):
                await shown(socket, "never printed")
        assert (await heard.wait("pty.created"))["properties"]["info"] == made
        assert (await heard.wait("pty.updated"))["properties"]["info"]["title"] == "wide"
        assert (await heard.wait("pty.exited"))["properties"] == {"id": made["id"], "exitCode": 3}
        assert await server.get("/pty") == []
        await server.send("GET", f"/pty/{made['id']}", 404)


async def test_a_terminal_that_is_removed_leaves_nothing_running(project: Path) -> None:
    async with served(project) as server:
        made = await server.post("/pty", SHELL)
        async with connected(server, made) as socket:
            await socket.send("sleep 1000 & echo begun $!.\n")
            text = ""
            while (told := re.search(r"begun (\d+)\.", text)) is None:
                text += await socket.recv()
            sleeping = int(told[1])
            assert await server.send("DELETE", f"/pty/{made['id']}") is True
            with suppress(websockets.ConnectionClosed):
                await shown(socket, "never printed")
        await until(lambda: not _runs(made["pid"]) and not _runs(sleeping))


async def test_the_end_of_the_server_ends_its_terminals(project: Path) -> None:
    async with served(project) as server:
        made = await server.post("/pty", SHELL)
        await server.serving.end()
        await until(lambda: not _runs(made["pid"]))


@pytest.mark.parametrize("headers", [{"Authorization": "Bearer wrong"}, {"Origin": "http://evil.example"}])
async def test_only_who_brings_the_secret_and_is_no_other_page_is_connected(
    project: Path, headers: dict[str, str]
) -> None:
    async with served(project) as server:
        made = await server.post("/pty", SHELL)
        with pytest.raises(websockets.InvalidStatus, match="403"):
            async with connected(server, made, headers=headers):
                pass
        with pytest.raises(websockets.InvalidStatus, match="403"):
            async with connected(server, {"id": "pty_none"}):
                pass
        async with connected(server, made, headers={"Origin": server.url}):
            pass


async def test_a_program_that_is_not_there_says_so_on_its_terminal(project: Path) -> None:
    async with served(project) as server, listening(server) as heard:
        await heard.wait("server.connected")
        await server.post("/pty", {"command": "no-such-program"})
        assert (await heard.wait("pty.exited"))["properties"]["exitCode"] == 1
        await server.send("POST", "/pty", 400, json={"command": "ls", "cwd": "nowhere"})
        await server.send("POST", "/pty", 400, json={"command": 5})


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

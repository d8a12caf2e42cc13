"""What a stranger on the same machine could try: floods, random bytes, deep JSON, answers at the same time."""

import asyncio
import os
import random
import socket
import stat
import sys
import tempfile
from pathlib import Path

import httpx2
import pytest

from tests.server.harness import TOKEN, Served, listening, served
from tests.server.test_session import ASK_EDIT, EDIT, READ, project
from tests.waiting import PATIENCE, patience
from toolwright.http_server.guard import AT_ONCE, HEADERS
from toolwright.server.projects import OPEN_SESSIONS
from toolwright.server.routes.streams import STREAMS

SLEEP = {"tools": [{"name": "bash", "args": {"command": "sleep 100", "description": "wait"}}]}


def port_of(server: Served) -> int:
    return int(server.url.rpartition(":")[2])


async def test_of_two_answers_at_the_same_time_one_counts(tmp_path: Path) -> None:
    turns = (READ, EDIT, {"text": "Done."})
    async with served(project(tmp_path), *turns, config=ASK_EDIT) as server, listening(server) as heard:
        answering = server.say(await server.session(), "edit it")
        asked = (await heard.wait("permission.asked"))["properties"]["id"]
        path = f"/permission/{asked}/reply"
        bodies = [{"reply": "once"}, {"reply": "reject"}, {"reply": "once"}]
        answers = await asyncio.gather(*(server.client.post(path, json=body) for body in bodies))
        assert sorted(one.status_code for one in answers) == [200, 404, 404]
        refused = [one.json()["data"]["message"] for one in answers if one.status_code == 404]
        assert all("already answered" in message for message in refused)
        await answering


async def test_headers_and_json_have_a_size_and_a_depth(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        answer = await server.client.get("/path", headers={"x-long": "x" * HEADERS})
        assert answer.status_code == 431
        deep = b'{"title": ' + b"[" * 200 + b"]" * 200 + b"}"
        answer = await server.client.post("/session", content=deep, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert "deep" in answer.json()["data"]["message"]


@pytest.mark.slow
async def test_one_peer_has_so_many_requests_and_streams_at_once(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        await server.get("/path")
        limits = httpx2.Limits(max_connections=2000)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(
            base_url=server.url, headers=headers, limits=limits, timeout=PATIENCE, trust_env=False
        ) as many:
            waiting = [asyncio.create_task(many.get("/tui/control/next")) for _ in range(AT_ONCE)]
            while len(vars(server.serving.controls)["_getters"]) < AT_ONCE:  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0)
            refused = await many.get("/path")
            assert refused.status_code == 429
            assert str(AT_ONCE) in refused.json()["data"]["message"]
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        listeners = [server.serving.channels["whole"].join("/p", "") for _ in range(STREAMS)]
        await server.get("/event", status=429)
        for one in listeners:
            server.serving.channels["whole"].leave(one)


@pytest.mark.slow
async def test_sessions_at_rest_are_let_go_and_those_at_work_are_kept(tmp_path: Path) -> None:
    async with served(project(tmp_path), SLEEP) as server, listening(server) as heard:
        busy = await server.session()
        answering = server.say(busy, "wait")
        await heard.wait("session.status")
        workspace = await server.serving.projects.of("")
        for _ in range(OPEN_SESSIONS + 20):
            await server.say(await server.session(), "for later", noReply=True)
        assert len(workspace.sessions_open) <= OPEN_SESSIONS + 1
        assert busy in workspace.sessions_open
        await server.post(f"/session/{busy}/abort")
        await answering


@pytest.mark.slow
async def test_random_bytes_are_refused_and_break_nothing(tmp_path: Path) -> None:
    words = random.Random(7)
    async with served(project(tmp_path)) as server:
        await server.get("/path")
        lines = (b"GET / HTTP/1.1\r\n", b"POST /session HTTP/1.1\r\nhost: x\r\n", b"PRI * HTTP/2.0\r\n\r\n", b"")
        for _ in range(300):
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
            noise = words.choice(lines) + words.randbytes(words.randrange(400)) + b"\r\n\r\n"
            writer.write(noise)
            writer.write_eof()
            async with patience():
                answer = await reader.read()
            assert b" 500 " not in answer.partition(b"\r\n")[0]
            writer.close()
        body = {"content-type": "application/json"}
        for _ in range(300):
            answered = await server.client.post("/session", content=words.randbytes(50), headers=body)
            assert answered.status_code == 400
        assert (await server.get("/global/health"))["healthy"]


TURNS = int(os.environ.get("TOOLWRIGHT_TURNS", "300"))
"""Enough to meet every order of ids here; the thousand of the contract are run by hand: TOOLWRIGHT_TURNS=1000."""


@pytest.mark.slow
async def test_lists_stay_sorted_through_many_turns_whoever_makes_the_ids(tmp_path: Path) -> None:
    words = random.Random(3)
    async with served(project(tmp_path)) as server:
        session = await server.session()
        for number in range(TURNS):
            head = words.randrange(2**44, 2**47)
            given = words.choice(["", f"msg_{head:012x}AAAAAAAAAAAAAA", f"msg_{number:05d}"])
            more = {"messageID": given + str(number)} if given else {}
            await server.say(session, str(number), noReply=True, **more)
        messages = await server.get(f"/session/{session}/message")
        ids = [one["info"]["id"] for one in messages]
        assert ids == sorted(ids)
        assert [one["parts"][0]["text"] for one in messages] == [str(number) for number in range(TURNS)]


@pytest.mark.slow
async def test_a_socket_of_the_file_system_is_its_owners_and_changes_are_logged_without_words(tmp_path: Path) -> None:
    # A path of the file system must be short to be a socket's.
    path = Path(tempfile.mkdtemp()) / "s"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", "serve", "--socket", str(path)),
        cwd=project(tmp_path),
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        assert b"unix:" in await process.stdout.readline()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(path))
        transport = httpx2.AsyncHTTPTransport(uds=str(path))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE) as client:
            made = await client.post("/session", json={"title": "a secret title"})
            assert made.status_code == 200, made.text
    finally:
        process.terminate()
        _, told = await process.communicate()
    assert b"POST /session" in told
    assert b"secret title" not in told
    assert not path.exists()
    path.parent.rmdir()


@pytest.mark.slow
async def test_every_part_that_was_shown_before_a_kill_is_there_when_the_server_is_back(tmp_path: Path) -> None:
    from tests.server.test_running import running

    async with running(tmp_path) as server, server.client() as client:
        session = await client.create_session(title="kept")
        events = client.events()
        await anext(events)
        prompting = asyncio.create_task(client.prompt(session.id, "wait"))
        shown: dict[str, str] = {}
        async for event in events:
            part = event["properties"].get("part", {})
            if part:
                shown[part["id"]] = part["type"]
            if part.get("state", {}).get("status") == "running":
                break
        server.process.kill()
        await server.process.wait()
        await asyncio.gather(prompting, return_exceptions=True)
    async with running(tmp_path) as server, server.client() as client:
        messages = await client.messages(session.id)
        kept = {part.id for message in messages for part in message.parts.values()}
        assert set(shown) <= kept
        assert await client.send("GET", "/session/status") == {}
        assert getattr(messages[-1].info, "error").name == "MessageAbortedError"  # noqa: B009

"""The program itself: started, found, killed, stopped."""

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.ports import free_port
from tests.waiting import patience, read_pipe, until
from toolwright.client import Client, ServerError, ServerGone

pytestmark = pytest.mark.slow

SLEEP = {"tools": [{"name": "bash", "args": {"command": "sleep 100", "description": "wait"}}]}


class Running:
    def __init__(self, process: asyncio.subprocess.Process, url: str, environment: dict[str, str]) -> None:
        self.process, self.url, self.environment = process, url, environment

    @property
    def note(self) -> Path:
        port = self.url.rpartition(":")[2]
        return Path(self.environment["HOME"], ".local/state/toolwright/server", f"{port}.json")

    def client(self) -> Client:
        return Client(self.url, environment=self.environment)


@asynccontextmanager
async def running(tmp_path: Path, *options: str, **variables: str) -> AsyncIterator[Running]:
    home, folder = tmp_path / "home", tmp_path / "proj ü"
    settings = home / ".config" / "toolwright"
    settings.mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    script = tmp_path / "turns.json"
    script.write_text(json.dumps({"turns": [SLEEP, {"text": "done"}]}))
    (settings / "toolwright.json").write_text(json.dumps({"model": f"scripted/{script}", "sandbox": "off"}))
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **variables}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", "serve", "--port", str(free_port()), *options),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with patience():
            line = (await process.stdout.readline()).decode().strip()
        assert line.startswith("toolwright server listening on http://127.0.0.1:")
        yield Running(process, line.rpartition(" ")[2], environment)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_server_is_found_by_its_owner_and_leaves_nothing_when_it_ends(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        assert server.note.exists()
        async with server.client() as client:
            assert (await client.send("GET", "/global/health"))["healthy"]
            assert (await client.send("GET", "/path"))["directory"] == str(tmp_path / "proj ü")
        async with Client(server.url, token="x") as stranger:
            with pytest.raises(ServerError):
                await stranger.sessions()
        server.process.send_signal(signal.SIGTERM)
        async with patience():
            assert await server.process.wait() == 0
        assert not server.note.exists()


async def test_where_nothing_can_be_kept_the_server_runs_all_the_same(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.write_text("")
    async with running(tmp_path, XDG_STATE_HOME=str(no_folder), XDG_DATA_HOME=str(no_folder)) as server:
        assert server.process.stdout is not None
        async with patience():
            address = (await server.process.stdout.readline()).decode().split()[-1]
        async with Client(server.url, token=address.rpartition("/k-")[2]) as client:
            assert (await client.send("GET", "/global/health"))["healthy"]
            assert await client.sessions() == []


async def test_a_signal_in_a_turn_closes_it_and_tells_who_listens(tmp_path: Path) -> None:
    async with running(tmp_path) as server, server.client() as client:
        session = await client.create_session()
        events = client.events()
        assert (await anext(events))["type"] == "server.connected"
        prompting = asyncio.create_task(client.prompt(session.id, "wait"))
        kinds = []
        signalled = False
        async for event in events:
            kinds.append(event["type"])
            part = event["properties"].get("part", {})
            if part.get("state", {}).get("status") == "running" and not signalled:
                signalled = True  # a second signal ends at once
                server.process.send_signal(signal.SIGTERM)
        assert kinds[-1] == "server.instance.disposed"
        message = await prompting
        assert getattr(message.info, "error").name == "MessageAbortedError"  # noqa: B009
        async with patience():
            assert await server.process.wait() == 0


async def test_after_a_kill_the_turn_is_closed_and_nothing_shown_is_lost(tmp_path: Path) -> None:
    async with running(tmp_path) as server, server.client() as client:
        session = await client.create_session(title="kept")
        events = client.events()
        await anext(events)
        prompting = asyncio.create_task(client.prompt(session.id, "wait"))
        async for event in events:
            if event["properties"].get("part", {}).get("state", {}).get("status") == "running":
                break
        server.process.kill()
        await server.process.wait()
        await asyncio.gather(prompting, return_exceptions=True)
    async with running(tmp_path) as server, server.client() as client:
        assert [one.id for one in await client.sessions(search="kept")] == [session.id]
        messages = await client.messages(session.id)
        assert messages[0].text == "wait"
        assert [part.state.status for one in messages for part in one.calls] == ["error"]


async def test_after_a_kill_who_listens_again_hears_how_the_turn_ended(tmp_path: Path) -> None:
    async with running(tmp_path) as server, server.client() as client:
        session = await client.create_session()
        prompting = asyncio.create_task(client.prompt(session.id, "wait"))
        async for event in client.events():
            if event["properties"].get("part", {}).get("state", {}).get("status") == "running":
                break
        server.process.kill()
        await server.process.wait()
        await asyncio.gather(prompting, return_exceptions=True)
        async with running(tmp_path, "--port", server.url.rpartition(":")[2]):
            told = []
            async with patience():
                async for event in client.events():
                    told.append(event["type"])
                    if event["type"] == "server.instance.disposed":
                        break
    assert told[0] == "server.connected"
    assert told[-3:] == ["session.status", "session.idle", "server.instance.disposed"]
    assert {"message.part.updated", "message.updated"} <= set(told)


async def test_after_a_kill_the_secret_is_the_same_and_after_an_end_in_order_another(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first = json.loads(server.note.read_text())["token"]
        server.process.kill()
        await server.process.wait()
    port = server.url.rpartition(":")[2]
    async with running(tmp_path, "--port", port) as server:
        async with Client(f"{server.url}/k-{first}", environment={}) as client:
            assert await client.sessions() == []
        server.process.terminate()
        await server.process.wait()
    async with running(tmp_path, "--port", port) as server:
        assert json.loads(server.note.read_text())["token"] != first


async def test_a_client_says_nothing_to_who_listens_where_its_server_was_killed(tmp_path: Path) -> None:
    heard = list[bytes]()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1000))
        writer.close()

    async with running(tmp_path) as server:
        client = server.client()
        assert await client.sessions() == []
        server.process.kill()
        await server.process.wait()
    port = urlsplit(server.url).port
    async with client:
        async with await asyncio.start_server(listen, "127.0.0.1", port):
            with pytest.raises(ServerGone, match="was killed"):
                await client.sessions()
            with pytest.raises(ServerGone, match="was killed"):
                await anext(client.server_events())
        async with running(tmp_path, "--port", str(port)):
            assert await client.sessions() == []
    assert heard == []


async def test_the_page_is_opened_in_the_browser_of_who_wants_it_by_a_private_file(
    tmp_path: Path, outside: Path
) -> None:
    # Commands may write the temporary folder: no browser of ours is looked up there.
    browser, opened = outside / "browser", tmp_path / "opened"
    os.mkfifo(opened)
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    async with running(tmp_path, "--open", BROWSER=f"{browser} %s") as server, server.client() as client:
        told = urlsplit((await read_pipe(opened)).strip())
        assert told.scheme == "file"
        file = Path(unquote(told.path))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        token = json.loads(server.note.read_text())["token"]
        assert f'content="0;url={server.url}/k-{token}"' in file.read_text()
        await client.send("GET", "/tw/page/key")
        await until(lambda: not file.exists())


async def test_nothing_is_left_of_a_page_that_nobody_opened(tmp_path: Path) -> None:
    async with running(tmp_path, "--open", BROWSER="true %s") as server:
        folder = server.note.parent.parent / "open"
        await until(lambda: folder.is_dir() and list(folder.iterdir()))
        server.process.terminate()
        await server.process.wait()
        assert list(folder.iterdir()) == []


@pytest.mark.parametrize("command", ["serve", "web"])
async def test_without_a_secret_the_server_warns_and_says_where_the_page_is(tmp_path: Path, command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", command, "--no-auth", "--port", "0"),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    async with patience():
        url = (await process.stdout.readline()).decode().split()[-1]
        assert (await process.stdout.readline()).decode() == f"open {url}/\n"
        assert await process.stderr.readline() == b"warning: --no-auth lets every program on this machine in\n"
        process.terminate()
        assert await process.wait() == 0


async def test_no_auth_is_for_this_machine_alone(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", "serve", "--no-auth", "--hostname", "0.0.0.0"),
        cwd=tmp_path,
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await process.communicate()
    assert process.returncode == 2
    assert b"--no-auth" in told


async def test_no_other_command_pays_for_the_server(tmp_path: Path) -> None:
    calls = "main(['--version']); main(['tool', 'list'])"
    code = f"import sys; from toolwright.cli import main; {calls}; print(sorted(sys.modules))"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code), cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    for name in (b"starlette", b"uvicorn", b"toolwright.server", b"toolwright.acp", b"toolwright.client"):
        assert name not in told

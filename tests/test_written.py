"""Whatever we write outside of a project, and whatever we listen on, is on the list of what is ours."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.person import at_terminal
from tests.waiting import PATIENCE, patience, until
from tests.written import can_watch, is_complete, ports, watched, written
from toolwright.machine.own_files import PORTS, Ours, Port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_watch(), reason="there is no strace of version 5.9 or newer that may look"),
    pytest.mark.xdist_group("traced programs"),
]

LONG = "import sys; print('word ' * 100000); open('made.py', 'w').write('x = 1'); print(sys.version)"
TURNS = [
    {"tools": [{"name": "write", "args": {"filePath": "a.py", "content": "x=1\n"}}]},
    {"tools": [{"name": "bash", "args": {"command": f'python3 -c "{LONG}"', "description": "print"}}]},
    {"tools": [{"name": "bash", "args": {"command": "mkdir -p ~/.cache/pip; true", "description": "use a cache"}}]},
    {"tools": [{"name": "grep", "args": {"pattern": "x"}}, {"name": "todowrite", "args": {"todos": []}}]},
    {"text": "all of it is done"},
]


class Surface:
    """A home and a project, and a program that is watched in them."""

    def __init__(self, base: Path) -> None:
        self.home, self.project, self.log = base / "home", base / "project", base / "log" / "calls"
        for folder in (self.home / ".config" / "toolwright", self.log.parent):
            folder.mkdir(parents=True)
        (base / "turns.json").write_text(json.dumps(TURNS))
        self.settings = {"model": f"scripted/{base}/turns.json", "permission": {"external_directory": "allow"}}
        self.set()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm"}

    def set(self, **more: Any) -> None:
        file = self.home / ".config" / "toolwright" / "toolwright.json"
        file.write_text(json.dumps(self.settings | more))

    @asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            *watched(self.log),
            *(sys.executable, "-P", "-m", "toolwright", *arguments),
            cwd=self.project,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**24,
        )
        try:
            async with patience():
                yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate(b"")

    def strangers(self) -> list[str]:
        """What was written and is on no list."""
        ours = Ours.of(self.environment)
        found = (Path(os.path.normpath(path)) for path in written(self.log))
        return sorted(str(path) for path in found if not (path.is_relative_to(self.project) or ours.owns(path)))


async def run(surface: Surface) -> None:
    async with surface.running("run", "Go", "--yes") as process:
        out, err = await process.communicate(b"")
    assert b"all of it is done" in out, err.decode()


async def goal(surface: Surface) -> None:
    """In a copy of the project, towards a goal, with a network of the session's own."""
    (surface.project / "start.txt").write_text("1\n")
    surface.set(permission={"external_directory": "allow", "network": {"*": "deny", "packages.test": "allow"}})
    async with surface.running("run", "Go", "--yes", "--copy", "--until", "grep -q 1 a.py") as process:
        out, err = await process.communicate(b"")
    assert b"all of it is done" in out, err.decode()
    copies = surface.home / ".local" / "share" / "toolwright-copies"
    names = [one.name for one in copies.iterdir()]
    for arguments in (["merge", *names, "--check", "true", "--yes"], ["session", "bundle", "--output", "taken"]):
        async with surface.running(*arguments) as process:
            out, err = await process.communicate(b"")
        assert process.returncode == 0, err.decode() + out.decode()


async def serve(surface: Surface) -> None:
    async with surface.running("serve", "--port", "0") as process:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().split()[-1]
        command = [sys.executable, "-P", "-m", "toolwright", "run", "Go", "--yes", "--attach", address]
        done = await asyncio.to_thread(
            subprocess.run,
            command,
            cwd=surface.project,
            env=surface.environment,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert b"all of it is done" in done.stdout, done.stderr.decode()
        process.send_signal(signal.SIGTERM)
        await process.wait()


async def mcp(surface: Surface) -> None:
    async with surface.running("mcp", "serve", "--http", "0") as process:
        assert process.stderr is not None
        address = (await process.stderr.readline()).decode().split()[-1]
        token = (await process.stderr.readline()).decode().split()[1]
        headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False) as client:
            met = await client.post(address, json=_request(1, "initialize", hello))
            client.headers["mcp-session-id"] = met.headers["mcp-session-id"]
            wanted = {"name": "bash", "arguments": {"command": "echo from mcp > b.txt", "description": "write"}}
            called = await client.post(address, json=_request(2, "tools/call", wanted))
        assert called.status_code == 200, called.text
        assert (surface.project / "b.txt").exists(), called.text
        process.send_signal(signal.SIGTERM)
        await process.wait()


def _request(number: int, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}


async def acp(surface: Surface) -> None:
    async with surface.running("acp") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        steps: dict[str, dict[str, Any]] = {
            "initialize": {"protocolVersion": 1},
            "session/new": {"cwd": str(surface.project), "mcpServers": []},
            "session/prompt": {"prompt": [{"type": "text", "text": "Go"}]},
        }
        answer = dict[str, str]()
        for number, (method, parameters) in enumerate(steps.items()):
            session = {"sessionId": answer["sessionId"]} if "sessionId" in answer else {}
            message = json.dumps(_request(number, method, parameters | session))
            process.stdin.write(message.encode() + b"\n")
            answer = await _answer(process, number)
        assert answer["stopReason"] == "end_turn"
        process.stdin.close()
        await process.wait()


async def _answer(process: asyncio.subprocess.Process, number: int) -> dict[str, str]:
    """The result of a request; whatever it is asked meanwhile is allowed."""
    assert process.stdin is not None
    assert process.stdout is not None
    while True:
        message = json.loads(await process.stdout.readline())
        if message.get("id") == number and "method" not in message:
            result: dict[str, str] = message["result"]
            return result
        if message.get("method") == "session/request_permission":
            option = message["params"]["options"][0]["optionId"]
            answer = {"outcome": {"outcome": "selected", "optionId": option}}
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode() + b"\n")


async def chat(surface: Surface) -> None:
    await asyncio.to_thread(_chat, surface)


def _chat(surface: Surface) -> None:
    with at_terminal(surface.project, variables=surface.environment, within=watched(surface.log)) as terminal:
        terminal.wait_for("/help")
        terminal.type("Go")
        terminal.wait_for("all of it is done")
        terminal.type("/exit")
        assert terminal.exit_code() == 0


SURFACES: dict[str, tuple[Callable[[Surface], Awaitable[None]], tuple[Port, ...]]] = {
    "tw run": (run, ()),
    "tw run --copy --until": (goal, ()),
    "tw serve": (serve, ("serve",)),
    "tw mcp serve --http": (mcp, ("mcp",)),
    "tw acp": (acp, ()),
    "tw": (chat, ()),
}


@pytest.mark.parametrize("name", SURFACES)
async def test_nothing_is_written_and_no_port_is_listened_on_that_is_not_on_the_list(outside: Path, name: str) -> None:
    use, named = SURFACES[name]
    surface = Surface(outside)
    await use(surface)
    await until(lambda: is_complete(surface.log))
    assert any(path.is_relative_to(surface.home) for path in written(surface.log)), "nothing was watched"
    assert surface.strangers() == []
    assert len(set(ports(surface.log))) == len(named)
    assert set(named) <= set(PORTS)

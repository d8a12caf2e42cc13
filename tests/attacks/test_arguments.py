"""No secret stands among the arguments of a program, where every user of the machine can read it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import patience, until

STRACE = shutil.which("strace")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not STRACE, reason="there is no strace to see what is started"),
]

SECRET = "s3cret-of-the-test"
PROGRAM = """
import json, sys
info = {"serverInfo": {"name": "n", "version": "1"}, "capabilities": {"tools": {}}, "protocolVersion": "2025-06-18"}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = info if asked["method"] == "initialize" else {"tools": []}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
RUN = {"tools": [{"name": "bash", "args": {"command": "git status; echo ran", "description": "run"}}]}
EDIT = {"tools": [{"name": "write", "args": {"filePath": "new.txt", "content": "words"}}]}


class Traced:
    """Programs of ours that are started here, and the arguments of whatever they start."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project, self.home = folder, folder / "project", folder / "home"
        settings = self.home / ".config" / "toolwright"
        settings.mkdir(parents=True)
        self.project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        (folder / "server.py").write_text(PROGRAM)
        (folder / "turns.json").write_text(json.dumps({"turns": [RUN, EDIT], "default": {"text": "done"}}))
        local = {"type": "local", "command": [sys.executable, str(folder / "server.py")]}
        config = {
            "model": f"scripted/{folder / 'turns.json'}",
            "mcp": {"local": {**local, "environment": {"TOKEN": SECRET}}},
            "provider": {"fake": {"options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": SECRET}, "models": {}}},
        }
        (settings / "toolwright.json").write_text(json.dumps(config))
        browser = folder / "browser"
        browser.write_text(f"#!/bin/sh\necho opened > {folder}/opened\n")
        browser.chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "BROWSER": f"{browser} %s",
            "TOOLWRIGHT_SERVER_PASSWORD": SECRET,
            "TOOLWRIGHT_MCP_TOKEN": SECRET,
            "OPENAI_API_KEY": SECRET,
        }
        self._number = 0

    async def start(self, *words: str, **more: Any) -> asyncio.subprocess.Process:
        self._number += 1
        tracing = (STRACE or "", "-D", "-f", "-qq", "-s", "100000", "-e", "trace=execve", "-e", "signal=none")
        return await asyncio.create_subprocess_exec(
            *(*tracing, "-o", str(self.folder / f"{self._number}.trace")),
            *(sys.executable, "-m", "toolwright", *words),
            cwd=self.project,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            **more,
        )

    async def run(self, *words: str, given: str = "") -> str:
        process = await self.start(*words, stdin=asyncio.subprocess.PIPE)
        async with patience():
            told, _ = await process.communicate(given.encode())
        assert process.returncode == 0, told.decode()
        return told.decode()

    @asynccontextmanager
    async def serving(self, *words: str) -> AsyncIterator[str]:
        process = await self.start(*words)
        assert process.stdout is not None
        line = ""
        async with patience():
            while "http://" not in line:
                line = (await process.stdout.readline()).decode()
        try:
            yield line.split()[-1]
        finally:
            process.terminate()
            async with patience():
                await process.communicate()

    async def started(self, *programs: str) -> None:
        """See these among the programs that were started, and in the arguments of none of all the secret."""

        def told() -> str:
            return "".join(file.read_text() for file in self.folder.glob("*.trace"))

        await until(lambda: all(program in told() for program in programs))
        assert SECRET not in told()


@pytest.fixture
def traced(outside: Path) -> Traced:
    done = subprocess.run([STRACE or "", "-qq", "true"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("strace may not trace here")
    return Traced(outside)


@pytest.mark.parametrize("command", ["serve", "web"])
async def test_the_server_its_browser_and_its_clients_start_nothing_with_a_secret(traced: Traced, command: str) -> None:
    async with traced.serving(command, "--port", "0", "--open") as url:
        assert "done" in await traced.run("run", "--attach", url, "--yes", "go")
        assert "done" in await traced.run("attach", url, "--yes", "go")
        await until(lambda: (traced.folder / "opened").exists())
    await traced.started("file:///", "git status", "server.py", '"attach"')


async def test_nor_does_anything_else_that_is_given_one(traced: Traced) -> None:
    async with traced.serving("mcp", "serve", "--http", "0"):
        pass
    await traced.run("auth", "anthropic", given=f"{SECRET}\n")
    assert "done" in await traced.run("run", "--yes", "go")
    await traced.run("mcp", "list")
    await traced.run("models")
    await traced.started("git status", "server.py", '"auth"', '"mcp"')

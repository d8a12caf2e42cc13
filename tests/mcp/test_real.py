"""Servers and clients that others have written, where they are installed (put their programs on PATH)."""

import asyncio
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port
from tests.waiting import PATIENCE, until
from toolwright.mcp.client.client import McpClient
from toolwright.mcp.client.web import WebLink
from toolwright.mcp.protocol import STATELESS
from toolwright.testing import make_workspace

pytestmark = pytest.mark.slow


def installed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not on PATH")
    return found


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


CLIENT = r"""
import asyncio
import json
import sys

import mcp_types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(mode: str, asks: bool, command: list[str], home: str) -> None:
    asked: list[str] = []

    async def answer(_: object, params: object) -> mcp_types.ElicitResult:
        asked.append(str(getattr(params, "message", "")))
        return mcp_types.ElicitResult(action="accept", content={"answer": "once"})

    server = StdioServerParameters(command=command[0], args=command[1:], env={"HOME": home, "PATH": "/usr/bin:/bin"})
    client = Client(stdio_client(server), mode=mode, elicitation_callback=answer if asks else None)
    async with client:
        listed = await client.list_tools()
        written = await client.call_tool("write", {"filePath": "a.txt", "content": "one\n"})
        changed = await client.call_tool("edit", {"filePath": "a.txt", "oldString": "one", "newString": "two"})
        undone = await client.call_tool("revert", {})
    errors = [written.is_error, changed.is_error, undone.is_error]
    print(json.dumps({"tools": [one.name for one in listed.tools], "errors": errors, "asked": asked}))


asyncio.run(main(sys.argv[1], sys.argv[2] == "asks", sys.argv[4:], sys.argv[3]))
"""
"""A program on the official package, which need not be installed here."""

SERVERS: list[tuple[str, list[str], str, dict[str, Any], str]] = [
    ("mcp-server-everything", [], "get-sum", {"a": 1, "b": 2}, "3"),
    ("mcp-server-filesystem", ["."], "list_allowed_directories", {}, "project"),
    ("mcp-server-memory", [], "read_graph", {}, "entities"),
    ("mcp-server-time", [], "get_current_time", {"timezone": "UTC"}, "UTC"),
    ("mcp-server-git", [], "git_status", {"repo_path": "."}, "branch"),
]


@pytest.mark.parametrize(
    ("program", "arguments", "tool", "given", "expected"), SERVERS, ids=[one[0] for one in SERVERS]
)
async def test_a_real_server_is_listed_and_called(
    project: Path, program: str, arguments: list[str], tool: str, given: dict[str, Any], expected: str
) -> None:
    path = installed(program)
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(project)], check=True)
    environment = {"PATH": f"{Path(path).parent}:/usr/local/bin:/usr/bin:/bin"}
    config = {"mcp": {"real": {"type": "local", "command": [path, *arguments]}}}
    async with make_workspace(project, config=config, environment=environment) as workspace:
        result = await workspace.call(f"real_{tool}", **given)
    assert result.error is None, result.output
    assert expected in result.output


WEB = """
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("web")


@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    return a + b


server.run(transport=sys.argv[2], port=int(sys.argv[1]), host="127.0.0.1")
"""


@pytest.mark.parametrize("way", ["streamable-http", "sse"])
async def test_the_official_python_server_is_called_over_http(project: Path, way: str) -> None:
    path = "mcp" if way == "streamable-http" else "sse"
    async with _web_server([_python_with_mcp(), "-c", WEB, "{port}", way]) as port:
        config = {"mcp": {"w": {"type": "remote", "url": f"http://127.0.0.1:{port}/{path}"}}}
        async with make_workspace(project, config=config) as workspace:
            assert (await workspace.call("w_add", a=1, b=2)).output == "3"


async def test_the_official_python_server_is_understood_in_the_newer_family(project: Path) -> None:
    async with _web_server([_python_with_mcp(), "-c", WEB, "{port}", "streamable-http"]) as port:
        client = McpClient(root=project)
        link = await WebLink.open(f"http://127.0.0.1:{port}/mcp", {}, client.handlers, None)
        await client.begin(link, stateless=True)
        assert [one["name"] for one in await client.listed("tools")] == ["add"]
        assert link.version == STATELESS
        await client.close()


@pytest.mark.parametrize("way", ["streamableHttp", "sse"])
async def test_the_npm_server_is_called_over_http(project: Path, way: str) -> None:
    path = "mcp" if way == "streamableHttp" else "sse"
    async with _web_server([installed("mcp-server-everything"), way]) as port:
        config = {"mcp": {"w": {"type": "remote", "url": f"http://127.0.0.1:{port}/{path}"}}}
        async with make_workspace(project, config=config) as workspace:
            assert "3" in (await workspace.call("w_get-sum", a=1, b=2)).output


@asynccontextmanager
async def _web_server(words: list[str]) -> AsyncIterator[int]:
    """Somebody else's server on a port that is free, once it listens."""
    port = free_port()
    command = [str(port) if word == "{port}" else word for word in words]
    quiet = asyncio.subprocess.DEVNULL
    environment = {**os.environ, "PORT": str(port)}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=quiet, stderr=quiet)
    try:
        await until(lambda: process.returncode is not None or listens(port))
        assert process.returncode is None
        yield port
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
@pytest.mark.parametrize("asks", [True, False])
async def test_the_official_python_client_uses_our_tools(project: Path, tmp_path: Path, mode: str, asks: bool) -> None:
    (project / "toolwright.json").write_text(json.dumps({"permission": {"edit": "ask"}}))
    serve = [sys.executable, "-m", "toolwright", "mcp", "serve", "--directory", str(project)]
    words = [_python_with_mcp(), "-c", CLIENT, mode, "asks" if asks else "silent", str(tmp_path / "home"), *serve]
    done = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {"read", "bash", "changes", "revert"} <= set(told["tools"])
    assert told["errors"] == ([False] * 3 if asks else [True] * 3)
    assert len(told["asked"]) == (3 if asks else 0)
    assert all("a.txt" in one for one in told["asked"])


@pytest.mark.parametrize("package", ["sdk", "client"])
@pytest.mark.parametrize("way", ["stdio", "http"])
@pytest.mark.parametrize("asks", [True, False])
async def test_the_official_typescript_clients_use_our_tools(
    project: Path, tmp_path: Path, package: str, way: str, asks: bool
) -> None:
    packages = Path(installed("mcp-server-everything")).parent.parent
    if not (packages / "@modelcontextprotocol" / package).is_dir():
        pytest.skip(f"@modelcontextprotocol/{package} is not installed beside the servers")
    (tmp_path / "node_modules").symlink_to(packages)
    shutil.copyfile(Path(__file__).with_name("official.mjs"), tmp_path / "official.mjs")
    (project / "toolwright.json").write_text(json.dumps({"permission": {"edit": "ask"}}))
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "TOOLWRIGHT_MCP_TOKEN": "t" * 40}
    seconds = f"9{secrets.randbelow(10**9)}"
    serve = [sys.executable, "-m", "toolwright", "mcp", "serve", "--directory", str(project)]
    words = ["node", str(tmp_path / "official.mjs"), package, way, "asks" if asks else "silent", environment["HOME"]]
    async with _served(serve, environment) if way == "http" else nullcontext("stdio") as address:
        words[3] = address
        done = await asyncio.to_thread(
            subprocess.run,
            [*words, *serve],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            cwd=project,
            env={**environment, "TOKEN": environment["TOOLWRIGHT_MCP_TOKEN"], "SECONDS_TO_WAIT": seconds},
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {"read", "bash", "changes", "revert"} <= set(told["tools"])
    assert told["errors"] == ([False] * 3 if asks else [True] * 3)
    assert all("a.txt" in one for one in told["asked"][:3])
    assert len(told["asked"]) >= 3 if asks else told["asked"] == []
    assert told["cancelled"] == "cancelled"
    running = await asyncio.to_thread(subprocess.run, ["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert f"sleep {seconds}" not in running.stdout


@asynccontextmanager
async def _served(serve: list[str], environment: dict[str, str]) -> AsyncIterator[str]:
    """Our server over HTTP, on a port that is free."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *serve, "--http", str(port), env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        await process.stderr.readline()
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.communicate()


def _python_with_mcp() -> str:
    """An interpreter that has the package: our own, or that of its servers on PATH."""
    if importlib.util.find_spec("mcp") is not None:
        return sys.executable
    return str(Path(installed("mcp-server-time")).parent / "python")

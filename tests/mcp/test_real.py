"""Servers and clients that others have written, where they are installed (put their programs on PATH)."""

import asyncio
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE
from toolwright.testing import make_workspace

pytestmark = pytest.mark.slow


def installed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not on PATH")
    return found


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


def _python_with_mcp() -> str:
    """An interpreter that has the package: our own, or that of its servers on PATH."""
    if importlib.util.find_spec("mcp") is not None:
        return sys.executable
    return str(Path(installed("mcp-server-time")).parent / "python")

"""The protocol's own conformance suite, for our client and for our server, where it is installed (make real)."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from tests.mcp.fixture_tools import FILES
from tests.ports import free_port
from tests.waiting import PATIENCE, patience
from toolwright.mcp.serve.http import OURS

FOLDER = Path(".venv/judges/conformance/node_modules/.bin").absolute()
SUITE = os.environ.get("TOOLWRIGHT_CONFORMANCE") or shutil.which("conformance") or str(FOLDER / "conformance")
ENVIRONMENT = {**os.environ, "PATH": f"{Path(SUITE).parent}:{os.environ['PATH']}"}
"""With the Node.js that is installed beside the suite, which needs a newer one than many have."""
TOKEN = "t" * 40


@cache
def is_there() -> bool:
    if not Path(SUITE).exists():
        return False
    listing = subprocess.run([SUITE, "list"], env=ENVIRONMENT, capture_output=True, check=False)
    return listing.returncode == 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_there(), reason="needs the conformance suite of MCP and Node.js 22: make real"),
]

CLIENT = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    *(f"auth/metadata-{name}" for name in ("default", "var1", "var2", "var3")),
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    *(f"auth/token-endpoint-auth-{name}" for name in ("basic", "post", "none")),
    "auth/pre-registration",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
]
"""All but those of extensions, and auth/2025-03-26-oauth-metadata-backcompat: an issuer must be what it says it is."""

SCENARIOS = 32
"""For servers, in the suite as it is installed."""
SERVER = [
    "server-initialize",
    "logging-set-level",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "json-schema-2020-12",
    *(f"tools-call-{name}" for name in ("image", "audio", "embedded-resource", "mixed-content", "with-progress")),
    *(f"tools-call-{name}" for name in ("with-logging", "elicitation")),
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "completion-complete",
    *(f"prompts-{name}" for name in ("list", "get-simple", "get-with-args", "get-embedded-resource", "get-with-image")),
    *(f"resources-{name}" for name in ("list", "read-text", "read-binary", "templates-read")),
    *(f"resources-{name}" for name in ("subscribe", "unsubscribe")),
]
"""All but tools-call-sampling: no tool of ours asks the model of a client, which the newer family does away with."""


@pytest.mark.parametrize("scenario", CLIENT)
async def test_our_client_passes(scenario: str) -> None:
    program = f"{sys.executable} -m tests.mcp.conformance"
    limit = str(PATIENCE * 1000)
    await judged("client", "--command", program, "--scenario", scenario, "--timeout", limit)


@pytest.mark.parametrize("scenario", SERVER)
async def test_our_server_passes(scenario: str, project: Path, tmp_path: Path) -> None:
    # The tools that the suite calls come as those of any program.
    (project / ".toolwright/plugin").mkdir(parents=True)
    lines = (
        "from toolwright import Extension",
        "from tests.mcp.fixture_tools import COMMANDS, RESOURCES, TOOLS",
        'extension = Extension(name="fixture", tools=TOOLS, commands=COMMANDS, resources=RESOURCES)',
    )
    for name, content in FILES.items():
        (project / name).write_bytes(content)
    (project / ".toolwright/plugin/fixture.py").write_text("\n".join(lines))
    async with served(project, tmp_path) as port:
        await judged("server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", scenario)


async def judged(*words: str) -> None:
    """Have the suite judge, and fail with what it says."""
    process = await asyncio.create_subprocess_exec(
        *(SUITE, *words),
        env=ENVIRONMENT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with patience():
            verdict, _ = await process.communicate()
        assert process.returncode == 0, verdict.decode()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@asynccontextmanager
async def served(project: Path, tmp_path: Path) -> AsyncIterator[int]:
    """Our server behind a port at which no token is needed, for the suite has none."""
    port = free_port()
    words = ["-m", "toolwright", "mcp", "serve", "--trust", "--directory", str(project), "--http", str(port)]
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "TOOLWRIGHT_MCP_TOKEN": TOKEN}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        await process.stderr.readline()
        async with admitted(port) as front:
            yield front
    finally:
        process.terminate()
        await process.communicate()


@asynccontextmanager
async def admitted(port: int) -> AsyncIterator[int]:
    """A port whose requests go to another one with the token, each on a connection of its own."""
    tasks = set[asyncio.Task[None]]()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            kept = [line for line in lines if not line.lower().startswith("connection:")]
            head = [first, f"authorization: Bearer {TOKEN}", "connection: close", *(addressed(line) for line in kept)]
            theirs, ours = await asyncio.open_connection("127.0.0.1", port)
            ours.write("\r\n".join(head).encode("latin-1"))
            await asyncio.gather(passed(reader, ours), passed(theirs, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    def addressed(line: str) -> str:
        """The header of the host or the origin, where it names this machine, for the other port."""
        own = any(f"{before}{name}:" in line for before in (" ", "//") for name in OURS)
        return line.replace(f":{front}", f":{port}") if own else line

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    front: int = server.sockets[0].getsockname()[1]
    try:
        yield front
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()

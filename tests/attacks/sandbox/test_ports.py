"""A program in a box, with the right secret in hand, gets nothing from a port of ours; one outside does."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.sandbox import knocking
from tests.outside import is_open, needs_checkout
from tests.process.escapes import PYTHON
from tests.process.places import ours_of
from tests.process.shell_session import open_shell
from tests.waiting import PATIENCE, patience, until, write_pipe
from toolwright.errors import ToolError
from toolwright.machine.own_ports import listen
from toolwright.mcp.callback import Callback
from toolwright.permission.rules import Rule
from toolwright.process.keeper.family import descendants
from toolwright.process.running.scope import Program, Scope, Scopes
from toolwright.process.sandbox.sandbox import Sandbox, SandboxSettings

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes tried here are those of Linux"),
    pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"the attempts need {PYTHON}"),
]

ROOT = Path(__file__).parents[3]
TOKEN = "the-right-secret"
KINDS = ("bubblewrap", "landlock", "landlock alone")
Boxed = Callable[..., Awaitable[Scope]]


@asynccontextmanager
async def boxes(kind: str, project: Path) -> AsyncIterator[Any]:
    """Starts programs in boxes of one kind; skips where this machine has none."""
    scopes = Scopes()
    settings = SandboxSettings(mode=kind.split()[0])  # type: ignore[arg-type] # the table names modes
    home = project.parent / "home"
    sandbox = Sandbox(settings, directory=project, root=project, ours=ours_of(home, home / "data"), scopes=scopes)
    try:
        box = await sandbox.box()
    except ToolError as error:
        pytest.skip(str(error))
    if kind.endswith("alone"):
        box = replace(box, mounts=False, anchored=False)

    async def start(*argv: str, **env: str) -> Scope:
        wrapped = sandbox.wrap(box, argv, project)
        return await scopes.start(Program.of(wrapped, cwd=project, env={"PATH": os.environ["PATH"], **env}))

    try:
        yield scopes, start
    finally:
        await scopes.close()
        sandbox.close()


@pytest.fixture(params=KINDS)
async def boxed(request: pytest.FixtureRequest, outside: Path) -> AsyncIterator[Boxed]:
    project = outside / "project"
    project.mkdir()
    shutil.copy(knocking.__file__, project)
    async with boxes(request.param, project) as (_, start):
        yield start


async def printed(scope: Scope) -> str:
    """All that a program prints to its end."""
    pieces = list[bytes]()
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def hear() -> None:
        piece = os.read(scope.stdout, 65536)
        pieces.append(piece)
        if not piece and not ended.done():
            ended.set_result(None)

    loop.add_reader(scope.stdout, hear)
    try:
        async with patience():
            await ended
    finally:
        loop.remove_reader(scope.stdout)
        scope.release()
    return b"".join(pieces).decode("utf-8", "replace")


async def knock(boxed: Boxed, port: int, request: str, host: str = "127.0.0.1") -> list[str]:
    """Try everything, and return what was let in."""
    text = await printed(await boxed(PYTHON, "knocking.py", str(port), request, host))
    assert text.endswith("tried\n"), text
    return [line for line in text.splitlines() if line.startswith("IN")]


class Listening:
    """A port of ours, and what came in by it."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.said: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.read(100))
        writer.write(b"hello")
        writer.close()


@asynccontextmanager
async def listening(host: str = "127.0.0.1") -> AsyncIterator[Listening]:
    port = Listening()
    door = listen("serve", host, 0, say=port.said.append)
    port.port = door.getsockname()[1]
    server = await asyncio.start_server(port.answer, sock=door)
    try:
        yield port
    finally:
        server.close()


async def ask(port: int, host: str = "127.0.0.1", request: bytes = b"from outside") -> bytes:
    """What a program hears that is in no box."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request)
        async with patience():
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_nothing_that_runs_in_a_box_comes_through(boxed: Boxed) -> None:
    async with listening() as port:
        assert await knock(boxed, port.port, "from the box") == []
        assert port.heard == []
        assert "runs in the sandbox of an agent" in port.said[0]
        assert await ask(port.port) == b"hello"


@pytest.mark.parametrize(("host", "reached"), [("::", "::1"), ("::", "127.0.0.1"), ("0.0.0.0", "127.0.0.7")])
async def test_nor_does_it_by_another_address_of_this_machine(boxed: Boxed, host: str, reached: str) -> None:
    async with listening(host) as port:
        assert await knock(boxed, port.port, "from the box", reached) == []
        assert port.heard == []
        assert await ask(port.port, reached) == b"hello"


@pytest.mark.parametrize("mode", ["bubblewrap", "landlock"])
async def test_nor_does_a_job_of_an_agent_that_goes_on_after_its_call(outside: Path, mode: Any) -> None:
    project = outside / "project"
    project.mkdir()
    shutil.copy(knocking.__file__, project)
    # Held to destinations it would not even come to the port.
    rules = (Rule("network", "*", "allow"),)
    async with listening() as port, open_shell(project, rules=rules, sandbox=SandboxSettings(mode=mode)) as shell:
        command = f"{PYTHON} knocking.py {port.port} hello 127.0.0.1 > out; echo over >> out; sleep 1000"
        started = await shell.bash(command, background=True, timeout=1)
        if started.error is not None and "does not work" in started.output:
            pytest.skip(started.output)
        out = project / "out"
        await until(lambda: out.exists() and out.read_text().endswith("tried\nover\n"))
        assert "IN" not in out.read_text()
        assert port.heard == []
        assert await ask(port.port) == b"hello"


LATER = """
import os, sys
print("begun", flush=True)
open("go").read()
os.execv(sys.argv[1], sys.argv[1:])
"""


async def test_nor_what_outlives_those_who_keep_it(outside: Path) -> None:
    project = outside / "project"
    project.mkdir()
    shutil.copy(knocking.__file__, project)
    os.mkfifo(project / "go")
    async with listening() as port, boxes("landlock alone", project) as (scopes, boxed):
        words = (PYTHON, "knocking.py", str(port.port), "from the box", "127.0.0.1")
        scope = await boxed("/bin/sh", "-c", 'exec setsid "$@" > out 2>&1', "sh", PYTHON, "-c", LATER, *words)
        await until(lambda: "begun" in (project / "out").read_text() if (project / "out").exists() else "")
        keeper = scopes._keepers[False]._pid
        below = [pid for pid in descendants(keeper) if "toolwright-lead" in Path(f"/proc/{pid}/comm").read_text()]
        for pid in (keeper, *below):
            os.kill(pid, signal.SIGKILL)
        await write_pipe(project / "go", "")
        await until(lambda: (project / "out").read_text().endswith("tried\n"))
        assert "IN" not in (project / "out").read_text()
        assert port.heard == []
        scope.release()


INSIDE = """
import asyncio, subprocess, sys
from toolwright.machine.own_ports import listen

CLIENT = '''
import resource, socket, sys
if len(sys.argv) > 2:
    resource.setrlimit(10, (int(sys.argv[2]),) * 2)
made = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
try:
    made.sendall(b"x")
    print(made.recv(10))
except OSError:
    print(b"")
'''

async def answer(reader, writer):
    await reader.read(10)
    writer.write(b"hello")
    writer.close()

async def main():
    door = listen("serve", "127.0.0.1", 0)
    await asyncio.start_server(answer, sock=door)
    print(port := door.getsockname()[1], flush=True)
    for more in ((), ("5",)):
        client = await asyncio.create_subprocess_exec(sys.executable, "-c", CLIENT, str(port), *more, stdout=-1)
        print((await client.communicate())[0].decode().strip(), flush=True)

asyncio.run(main())
"""


@needs_checkout
async def test_a_server_in_a_box_serves_that_box_and_nothing_in_a_box_within(boxed: Boxed) -> None:
    scope = await boxed(sys.executable, "-c", INSIDE, PYTHONPATH=str(ROOT / "src"), PYTHONDONTWRITEBYTECODE="1")
    lines = (await printed(scope)).splitlines()
    assert [line for line in lines if line.startswith("b'")] == ["b'hello'", "b''"]


# The real servers.


@asynccontextmanager
async def running(outside: Path, *words: str, **env: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server of ours in a process of its own, and the address that it tells."""
    home = outside / "home"
    home.mkdir(exist_ok=True)
    (outside / "served").mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwright", *words),
        cwd=outside / "served",
        env={"PATH": os.environ["PATH"], "HOME": str(home), **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        async with patience():
            line = ""
            while "http://" not in line:
                line = (await process.stdout.readline()).decode()
        yield process, line.split()[-1]
    finally:
        process.kill()
        await process.wait()


def request(method: str, path: str, body: str = "") -> str:
    """One over HTTP that has everything it needs, as it stands on a command line."""
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1:PORT", f"authorization: Bearer {TOKEN}"]
    lines += ["content-type: application/json", f"content-length: {len(body)}", "connection: close", "", body]
    return "\r\n".join(lines)


async def test_the_server_does_nothing_for_a_command(boxed: Boxed, outside: Path) -> None:
    async with running(outside, "serve", "--port", "0", TOOLWRIGHT_SERVER_PASSWORD=TOKEN) as (_, url):
        port = int(url.rpartition(":")[2])
        made = request("POST", "/session", "{}").replace("PORT", str(port))
        assert await knock(boxed, port, made.encode("unicode_escape").decode()) == []
        wanted = request("GET", "/session").replace("PORT", str(port)).encode()
        answer = await ask(port, request=wanted)
        assert answer.startswith(b"HTTP/1.1 200")
        assert json.loads(answer.partition(b"\r\n\r\n")[2]) == []


INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
)


async def test_nor_do_our_tools_over_http(boxed: Boxed, outside: Path) -> None:
    async with running(outside, "mcp", "serve", "--http", "0", TOOLWRIGHT_MCP_TOKEN=TOKEN) as (_, url):
        port = int(url.rpartition(":")[2].partition("/")[0])
        wanted = request("POST", "/mcp", INITIALIZE).replace("PORT", str(port))
        assert await knock(boxed, port, wanted.encode("unicode_escape").decode()) == []
        assert (await ask(port, request=wanted.encode())).startswith(b"HTTP/1.1 200")


async def test_nor_is_a_login_answered_by_a_command(boxed: Boxed) -> None:
    async with Callback(0, "/way/back") as callback:
        wanted = "GET /way/back?code=1 HTTP/1.1\r\nhost: x\r\n\r\n"
        assert await knock(boxed, callback.port, wanted.encode("unicode_escape").decode()) == []
        assert not callback.answered.done()
        await ask(callback.port, request=wanted.replace("code=1", "code=2").encode())
        assert (await callback.answered)["code"] == "2"


# As an ordinary user, who sees less of the processes of the machine.

AS_NOBODY = """
import asyncio, sys
from pathlib import Path
from tests.attacks.sandbox.test_ports import ask, boxes, knock, listening

async def main():
    async with listening() as port, boxes(sys.argv[1], Path(sys.argv[2])) as (_, boxed):
        print(await knock(boxed, port.port, "from the box"), await ask(port.port), port.heard)

asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_for_an_ordinary_user(outside: Path, kind: str) -> None:
    site = Path(pytest.__file__).parents[1]
    if not is_open(site):
        pytest.skip("the packages of the tests lie where only their owner may enter")
    sources, project = outside / "sources", outside / "project"
    left = shutil.ignore_patterns("__pycache__", ".outside-*", "vectors", "corpus")
    shutil.copytree(ROOT / "src" / "toolwright", sources / "toolwright", ignore=left)
    for name in ("attacks", "process"):
        shutil.copytree(ROOT / "tests" / name, sources / "tests" / name, ignore=left)
    for name in ("__init__.py", "outside.py", "waiting.py"):
        shutil.copy(ROOT / "tests" / name, sources / "tests")
    project.mkdir()
    shutil.copy(knocking.__file__, project)
    outside.chmod(0o755)
    for place in (outside, project):
        os.chown(place, 65532, 65532)
    pythonpath = f"{sources}:{site}"
    done = subprocess.run(
        ["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", PYTHON, "-c", AS_NOBODY, kind, str(project)],
        env={"PATH": os.environ["PATH"], "HOME": str(outside), "PYTHONPATH": pythonpath},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if "does not work on this machine" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout == "[] b'hello' [b'from outside']\n", done.stdout + done.stderr

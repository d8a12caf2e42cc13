"""Our own ports, as programs of this machine find them; real boxes are in `tests/attacks/sandbox/test_ports.py`."""

import ast
import asyncio
import os
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import toolwright
from tests.waiting import patience
from toolwright.machine import own_ports, peer_programs, sockdiag
from toolwright.machine.own_files import PORTS
from toolwright.machine.own_ports import listen, noted_ports
from toolwright.machine.sockdiag import SocketEnd
from toolwright.process.keeper.limits import FILE_LOCKS, OUTERMOST

SOURCE = Path(toolwright.__file__).parent
linux = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux the other end can be found")

CLIENT = """
import os, resource, socket, sys
if sys.argv[2] != "outside":
    resource.setrlimit(10, (int(sys.argv[2]),) * 2)
made = socket.socket(socket.AF_INET6 if ":" in sys.argv[3] else socket.AF_INET)
made.connect((sys.argv[3], int(sys.argv[1])))
print(made.recv(10).decode())
"""


class Listening:
    def __init__(self, port: int) -> None:
        self.port = port
        self.said: list[str] = []

    async def ask(self, mark: str = "outside", host: str = "127.0.0.1") -> str:
        """What another program hears, which is in a box if it has a mark."""
        client = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CLIENT, str(self.port), mark, host),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        async with patience():
            return (await client.communicate())[0].decode().strip()


async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"hello")
    writer.close()


@asynccontextmanager
async def listening(host: str = "127.0.0.1", *, tunnel: bool = False) -> AsyncIterator[Listening]:
    said = list[str]()
    door = listen("mcp", host, 0, say=said.append, tunnel=tunnel)
    port = Listening(door.getsockname()[1])
    port.said = said
    server = await asyncio.start_server(answer, sock=door)
    try:
        yield port
    finally:
        server.close()


@linux
@pytest.mark.parametrize("asked", [True, False], ids=["the kernel is asked", "its lists are read"])
@pytest.mark.parametrize(("host", "reached"), [("127.0.0.1", "127.0.0.1"), ("::", "::1"), ("::", "127.0.0.2")])
async def test_who_is_in_no_box_is_let_in_and_who_is_in_one_is_not(
    monkeypatch: pytest.MonkeyPatch, host: str, reached: str, *, asked: bool
) -> None:
    if not asked:
        monkeypatch.setattr(sockdiag, "_asked", lambda _one, _other: b"")
    async with listening(host) as port:
        assert await port.ask(host=reached) == "hello"
        assert port.said == []
        assert await port.ask(str(OUTERMOST), host=reached) == ""
        assert "runs in the sandbox of an agent" in port.said[0]
        assert PORTS["mcp"] in port.said[0]


@linux
async def test_the_mark_is_that_of_the_keeper() -> None:
    assert peer_programs.FILE_LOCKS == FILE_LOCKS
    limits = Path("/proc/self/limits").read_text()
    assert "Max file locks" in limits


@linux
async def test_a_refusal_is_one_line_without_the_escapes_of_the_program_s_name() -> None:
    name = "b'ev\\x1b[2J\\nil'"
    client = CLIENT.replace("import os,", f"import ctypes; ctypes.CDLL(None).prctl(15, {name}, 0, 0, 0)\nimport os,")
    async with listening() as port:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", client, str(port.port), "5", "127.0.0.1"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await process.wait()
        [line] = port.said
        assert "ev\\x1b[2J\\nil" in line


@linux
@pytest.mark.parametrize("tunnel", [False, True])
async def test_whose_program_cannot_be_seen_is_let_in_for_tunnels_alone(
    monkeypatch: pytest.MonkeyPatch, *, tunnel: bool
) -> None:
    monkeypatch.setattr(peer_programs, "_descriptor", lambda _pid, _inode: "")
    async with listening(tunnel=tunnel) as port:
        assert await port.ask() == ("hello" if tunnel else "")
        assert ["--tunnel" in line for line in port.said] == ([] if tunnel else [True])


@linux
async def test_a_box_is_not_let_in_by_the_way_for_tunnels() -> None:
    async with listening(tunnel=True) as port:
        assert await port.ask(str(OUTERMOST)) == ""


@linux
@pytest.mark.parametrize("half", [False, True])
async def test_a_connection_that_is_closed_again_before_it_is_judged_is_refused(*, half: bool) -> None:
    said = list[str]()
    with listen("mcp", "127.0.0.1", 0, say=said.append) as door, socket.socket() as client:
        client.connect(door.getsockname())
        if half:
            client.shutdown(socket.SHUT_WR)
        else:
            client.close()
        with pytest.raises(BlockingIOError):
            door.accept()
        assert len(said) == 1


@linux
async def test_many_refusals_are_told_in_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [10.0, 10.1, 10.2, 11.5]
    monkeypatch.setattr(own_ports, "time", SimpleNamespace(monotonic=lambda: moments.pop(0)))
    said = list[str]()
    with listen("mcp", "127.0.0.1", 0, say=said.append) as door:
        for _ in range(4):
            with socket.create_connection(door.getsockname()):
                pass
            with pytest.raises(BlockingIOError):
                door.accept()
    first, last = said
    assert last == f"{first} (2 more before)"


@linux
def test_the_addresses_of_this_machine_are_known() -> None:
    for here in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert _end(here).is_here(), here
    for other in ("203.0.113.7", "2001:db8::7", "::ffff:203.0.113.7"):
        assert not _end(other).is_here(), other


def _end(address: str) -> SocketEnd:
    return (
        SocketEnd.of((address, 1, 0, 0), socket.AF_INET6)
        if ":" in address
        else SocketEnd.of((address, 1), socket.AF_INET)
    )


@linux
async def test_another_machine_goes_on_to_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SocketEnd, "is_here", lambda _: False)
    async with listening() as port:
        assert await port.ask(str(OUTERMOST)) == "hello"


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_another_user_goes_on_to_the_secret_but_not_where_root_s_boxes_could_become_that_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with listening() as port:
        become = CLIENT.replace("made =", "os.setresuid(1000, 1000, 1000)\nmade =", 1)
        monkeypatch.setitem(globals(), "CLIENT", become)
        assert await port.ask() == "hello"
        assert await port.ask("5") == ""
    monkeypatch.setattr(os, "geteuid", lambda: 2000)
    async with listening() as port:
        assert await port.ask("5") == "hello"


@linux
def test_who_was_given_a_mark_by_somebody_else_opens_no_port() -> None:
    code = (
        "import resource; resource.setrlimit(10, (7, 7))\n"
        "from toolwright.machine.own_ports import listen\nlisten('serve', '127.0.0.1', 0)"
    )
    if "NoNewPrivs:\t1" in Path("/proc/self/status").read_text():
        pytest.skip("the tests run in a sandbox themselves")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ulimit -x" in done.stderr.splitlines()[-1]


def test_ports_are_noted_for_the_user_alone_and_forgotten_with_their_program(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with listen("serve", "127.0.0.1", 0) as door:
        door.note(tmp_path / "state")
        [note] = (tmp_path / "state" / "ports").iterdir()
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        assert stat.S_IMODE(note.parent.stat().st_mode) == 0o700
        (note.parent / f"5-{gone.pid}").touch()
        (note.parent / "junk-x").touch()
        assert noted_ports(tmp_path / "state") == [door.getsockname()[1]]
        assert not (note.parent / f"5-{gone.pid}").exists()
    assert noted_ports(tmp_path / "state") == []


BINDS = {
    "machine/own_ports.py",
    "machine/sockdiag.py",
    "server/running.py",
    "extensions/python_host.py",
    "process/keeper/space.py",
}
"""Who binds: we, who only tries whether it could, a socket of the file system, arguments to parameters, and the sockets
of a network namespace that nobody but its own commands reaches."""


def test_no_other_module_opens_a_port() -> None:
    opened = dict.fromkeys(PORTS, 0)
    for file in SOURCE.rglob("*.py"):
        name = str(file.relative_to(SOURCE))
        for call in (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)):
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if called in ("start_server", "create_server"):
                assert any(one.arg == "sock" for one in call.keywords), f"{name} opens a port by itself"
            assert called != "bind" or name in BINDS, f"{name} opens a port by itself"
            assert called not in ("HTTPServer", "ThreadingHTTPServer", "TCPServer"), f"{name} opens a port by itself"
            if called == "listen" and call.args and isinstance(call.args[0], ast.Constant):
                opened[str(call.args[0].value)] += 1
    assert set(opened.values()) == {1}, "each port is opened in one place"

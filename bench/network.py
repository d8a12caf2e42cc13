# ruff: noqa: ARG002 - who lets everything pass looks at nothing
"""What the network of a session costs: a command in it beside one without, and 200 MB through its door.

python bench/network.py            # both, in turns; the second-lowest of several runs counts
"""

import asyncio
import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from toolwright.network.destination import Destination
from toolwright.network.door import NetworkDoor
from toolwright.network.gatekeeper import Permit
from toolwright.network.outward import Outward
from toolwright.network.relay import Traffic
from toolwright.process.box.box import Wrapped
from toolwright.process.running.network_namespaces import Space
from toolwright.process.running.scope import Program, Scopes

COMMANDS, ROUNDS = 200, 6
SIZE = 200 * 1024 * 1024
FETCH = """
import socket, sys
host, port, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if how == "connect":
    one = socket.create_connection(("127.0.0.1", 61080))
    one.sendall(b"CONNECT big.test:80 HTTP/1.1\\r\\n\\r\\n")
    assert b" 200 " in one.recv(4096)
elif how == "socks":
    one = socket.create_connection(("127.0.0.1", 61080))
    one.sendall(b"\\5\\1\\0"); one.recv(2)
    one.sendall(b"\\5\\1\\0\\3\\x08big.test\\0\\x50"); one.recv(10)
else:
    one = socket.create_connection((host, port))
one.sendall(b"go")
one.shutdown(socket.SHUT_WR)
room, total = bytearray(1 << 18), 0
while size := one.recv_into(room):
    total += size
assert total == int(sys.argv[4]), total
"""


class Opened(Outward):
    """Everything is at one port of the loopback."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._port = port

    async def connect(self, destination: Destination, *, named: bool) -> socket.socket:
        return await self.connect_here(self._port)


class LetsAll:
    """Who lets everything pass."""

    gate = None

    async def permit(self, destination: Destination) -> Permit:
        return Permit(allowed=True)

    async def permit_more(self, destination: Destination) -> Permit:
        return Permit(allowed=True)

    async def permit_here(self, port: int) -> Permit:
        return Permit(allowed=True)

    def exists(self, name: str) -> bool:
        return True

    def note(self, destination: Destination, reason: str) -> None: ...

    def note_crowd(self, most: int) -> None: ...

    def key_for(self, host: str) -> bytes | None:
        return None

    async def inside(self) -> socket.socket:
        return socket.socket()

    def traffic_to(self, destination: Destination) -> Traffic:
        return Traffic()


async def main() -> None:
    scopes = Scopes()
    try:
        await _commands(scopes)
        await _bytes(scopes)
    finally:
        await scopes.close()


async def _commands(scopes: Scopes) -> None:
    """The processor time of everybody: ours, and by its clock that of the keeper with all below."""
    space = await Space.make(scopes)
    plain = Program(argv=("/bin/true",), cwd=Path("/"), env={}, walls=Wrapped(argv=(), anchored=True))
    kinds = {"without": plain, "in the network": replace(plain, space=space.descriptor)}
    taken = {name: list[float]() for name in kinds}
    for _ in range(ROUNDS):
        for name, program in kinds.items():
            before = _machine()
            for _ in range(COMMANDS):
                scope = await scopes.start(program)
                await scope.ended()
                await scope.end()
            taken[name].append((_machine() - before) / COMMANDS * 1000)
    space.close()
    low = {name: sorted(each)[1] for name, each in taken.items()}
    for name, milliseconds in low.items():
        sys.stdout.write(f"a command {name:16} {milliseconds:6.2f} ms of processor time\n")
    sys.stdout.write(f"more for the network     {low['in the network'] - low['without']:6.2f} ms (bar: 0.30)\n")


def _machine() -> float:
    """Processor seconds of this process, of the keeper and of all that has ended below it."""
    total = _own()
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


async def _bytes(scopes: Scopes) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    serving = multiprocessing.get_context("fork").Process(target=_serve, args=(server,), daemon=True)
    serving.start()
    port = server.getsockname()[1]
    space, door = await Space.make(scopes), NetworkDoor(Opened(port))
    served = await door.serve(space.sockets, LetsAll())
    ways: dict[str, Callable[[], Sequence[str]]] = {
        "directly": lambda: ("127.0.0.1", str(port), "direct"),
        "CONNECT": lambda: ("", "0", "connect"),
        "SOCKS": lambda: ("", "0", "socks"),
        "transparently": lambda: ("big.test", "80", "direct"),
    }
    taken = {name: list[tuple[float, float]]() for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "fetch.py")
        script.write_text(FETCH)
        for _ in range(ROUNDS):
            for name, way in ways.items():
                argv = (sys.executable, "-S", str(script), *way(), str(SIZE))
                where = None if name == "directly" else space.descriptor
                program = Program(argv=argv, cwd=Path("/"), env={}, walls=Wrapped(argv=(), anchored=True), space=where)
                own, start = _own(), time.perf_counter()
                scope = await scopes.start(program)
                end = await scope.ended()
                taken[name].append((time.perf_counter() - start, _own() - own))
                assert end.code == 0, os.read(scope.stdout, 4096)
                await scope.end()
    serving.kill()
    await served.close()
    await door.close()
    space.close()
    walls = {name: sorted(wall for wall, _ in each)[1] for name, each in taken.items()}
    for name, wall in walls.items():
        own = sorted(one for _, one in taken[name])[1]
        ratio = wall / walls["directly"]
        sys.stdout.write(f"200 MB {name:16} {wall:5.2f} s, {ratio:4.2f} times direct (bar: 1.3), {own:5.2f} s ours\n")


def _own() -> float:
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


def _serve(server: socket.socket) -> None:
    piece = bytes(1 << 20)
    while True:
        one, _ = server.accept()
        with one:
            one.recv(10)
            for _ in range(SIZE // len(piece)):
                one.sendall(piece)


if __name__ == "__main__":
    asyncio.run(main())

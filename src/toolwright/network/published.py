"""Servers of a session's jobs, led to the same port of this machine, so that its user's browser reaches them."""

import socket
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol

from toolwright.machine.own_ports import listen
from toolwright.network.served import Served
from toolwright.process.keeper.space import DIAGNOSIS, NAMES, PROXY, THROUGH
from toolwright.process.running.network_namespaces import Handed

EPHEMERAL: Final = range(32_768, 65_536)
"""Ports that are given to whoever asks for any, as tests do, and our own: nobody outside waits for those."""
MOST: Final = 32
"""Servers of one session that are led outside."""
SPARE: Final = 8
"""Sockets of a session's network that are made at once, for connections to its servers."""
CLOSED: Final = frozenset({4096})
"""Ports that no job has outside: a browser may still have what our own page has left it for them."""
_OURS: Final = frozenset({PROXY, THROUGH, NAMES})
_LISTENING: Final = 1 << 10
_BY_FAMILY, _REQUEST, _DUMP, _DONE, _ERROR, _TCP = 20, 0x1, 0x300, 3, 2, 6
_HEADER: Final = struct.Struct("=IHHII")
_PORT_AT: Final = _HEADER.size + 4


class SessionNamespace(Protocol):
    """A namespace of a session."""

    @property
    def sockets(self) -> Sequence[Handed]: ...
    async def further(self, *, ports: Sequence[int] = (), plain: int = 0) -> list[Handed]: ...


class PublishedServers:
    """The servers of one session that are led outside."""

    def __init__(self, space: SessionNamespace, served: Served, own_ports: Callable[[], Iterable[int]]) -> None:
        self._space, self._served, self._own_ports = space, served, own_ports
        self._diagnosis = next(one for name, one in space.sockets if name == "diagnosis")
        self._doors = dict[int, socket.socket | None]()
        """By port; None for one that is taken outside."""
        self._spare = list[socket.socket]()

    async def look(self, *, without: Collection[int] | None) -> list[str]:
        """Lead outside what is there now, and nothing that has gone; return a sentence on each that is new.

        `without` are ports of the user's own services; None stands for nothing to be led at all.
        """
        there = set[int]() if without is None else listening_ports(self._diagnosis) - _OURS - set(without)
        there = {port for port in there if port not in EPHEMERAL}
        for port in self._doors.keys() - there:
            if (door := self._doors.pop(port)) is not None:
                await self._served.drop(door)
        return [await self._lead(port) for port in sorted(there - self._doors.keys())[: MOST - len(self._doors)]]

    async def inside(self) -> socket.socket:
        """Return a socket of the session's network that is not connected yet."""
        if not self._spare:
            self._spare += [one for _, one in await self._space.further(plain=SPARE)]
        return self._spare.pop()

    def close(self) -> None:
        for spare in self._spare:
            spare.close()

    async def _lead(self, port: int) -> str:
        closed = port in CLOSED or port in self._own_ports()
        door = self._doors[port] = None if closed else open_outside(port)
        if door is None:
            return f"port {port} is not free outside, so only this session reaches it"
        await self._served.add([(f"job {port}", door)])
        return f"port {port} is led to http://127.0.0.1:{port} of this machine, for the user's browser"


def listening_ports(diagnosis: socket.socket) -> set[int]:
    """Return the ports that programs in a network listen on; `diagnosis` is a socket of netlink made in there."""
    ports = set[int]()
    for family in (socket.AF_INET, socket.AF_INET6):
        question = struct.pack("=BBBBI", family, _TCP, 0, 0, _LISTENING) + bytes(48)
        diagnosis.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST | _DUMP, 0, 0) + question)
        ports.update(_answered(diagnosis))
    return ports


def listens_here(port: int) -> bool:
    """Tell whether a program of this machine listens on a port."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, DIAGNOSIS) as diagnosis:
            diagnosis.setblocking(False)
            return port in listening_ports(diagnosis)
    except OSError:
        return False


def _answered(diagnosis: socket.socket) -> Iterator[int]:
    while True:
        try:
            data = diagnosis.recv(65_536)
        except OSError:
            return
        while len(data) >= _HEADER.size:
            length, kind, *_ = _HEADER.unpack_from(data)
            if kind in (_DONE, _ERROR) or length < _HEADER.size:
                return
            yield int.from_bytes(data[_PORT_AT : _PORT_AT + 2], "big")
            data = data[(length + 3) & ~3 :]


def open_outside(port: int) -> socket.socket | None:
    """Listen on the same port of this machine, for everybody but programs in boxes; None if it is taken."""
    try:
        door = listen("job", "127.0.0.1", port, say=_say_nothing)
    except OSError:
        return None
    door.setblocking(False)
    return door


def _say_nothing(_: str) -> None:
    """Report nothing: what is refused here is the server of a job."""

"""One session's part of the door: its connections from the first byte to the last."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.machine.peer_programs import listens_in_a_box
from toolwright.network import proxying
from toolwright.network.asked_names import AskedNames
from toolwright.network.destination import Destination
from toolwright.network.gate import means_this_machine, read_preamble
from toolwright.network.gatekeeper import Gatekeeper, Permit
from toolwright.network.hello import Incomplete, server_name
from toolwright.network.keys import with_key
from toolwright.network.outward import ClosedAddress, Outward
from toolwright.network.relay import Relay, Traffic, speak_for
from toolwright.network.talking import PATIENCE, connect_inside, exactly, original, reset, send, socks, some
from toolwright.process.keeper.gate import PREAMBLE
from toolwright.process.keeper.space import NAMES, PROXY
from toolwright.process.running.network_namespaces import Handed

Handler = Callable[[socket.socket], Awaitable[None]]


class Room(Protocol):
    """The parts that sessions share: the thread, the way out, and the room for connections."""

    share: int
    """Connections that one session may have open."""
    outward: Outward
    relay: Relay

    async def done(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done in the thread, and wait for it."""
        ...

    def has_room(self) -> bool: ...
    def wait_for_room(self, listening: "Listening") -> None: ...
    def came(self) -> None: ...
    def went(self) -> None: ...


class Served:
    """One session's part of the door."""

    def __init__(
        self, door: Room, sockets: Sequence[Handed], keeper: Gatekeeper, home: asyncio.AbstractEventLoop
    ) -> None:
        self._door, self._keeper, self._home = door, keeper, home
        self._sockets = tuple(sockets)
        self._names = AskedNames(keeper, home)
        self._listening = list[Listening]()
        self._added = list[Handed]()
        self._tasks = set[asyncio.Task[None]]()
        self._open = 0

    async def add(self, sockets: Sequence[Handed]) -> None:
        """Take what comes on further sockets as well."""

        async def listen() -> None:
            self._listen(sockets)

        self._added += sockets
        await self._door.done(listen)

    async def drop(self, listener: socket.socket) -> None:
        """Take nothing more on a socket that was added, and close it."""
        number = listener.fileno()

        async def end() -> None:
            for listening in [each for each in self._listening if each.number == number]:
                listening.end()
                self._listening.remove(listening)

        await self._door.done(end)
        self._added = [(name, each) for name, each in self._added if each is not listener]
        listener.close()

    async def close(self) -> None:
        """Take no more, and end what is open."""
        await self._door.done(self._end)
        for _, listener in self._added:
            listener.close()

    # In the thread.

    async def listen(self) -> None:
        self._listen(self._sockets)

    def _listen(self, sockets: Sequence[Handed]) -> None:
        loop = asyncio.get_running_loop()
        for name, listener in sockets:
            match name.split(" "):
                case ["proxy"]:
                    self._accept(listener, self._proxied)
                case ["through4" | "through6"]:
                    self._accept(listener, self._through)
                case ["gate"]:
                    self._accept(listener, self._gated)
                case ["port", port]:
                    self._accept(listener, partial(self._to_port, int(port)))
                case ["job", port]:
                    self._accept(listener, partial(self._to_job, int(port)))
                case ["names4" | "names6"]:
                    loop.add_reader(listener.fileno(), self._names.came, listener, self._start)
                case _:
                    continue

    def _accept(self, listener: socket.socket, handle: Handler) -> None:
        listening = Listening(self, listener, partial(self._begin, handle))
        self._listening.append(listening)
        listening.begin()

    def _begin(self, handle: Handler, connection: socket.socket) -> None:
        self._start(self._handled(handle, connection))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end(self) -> None:
        loop = asyncio.get_running_loop()
        for listening in self._listening:
            listening.end()
        for name, listener in self._sockets:
            if name.startswith("names"):
                loop.remove_reader(listener.fileno())
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def has_room(self) -> bool:
        """Tell whether another connection may come, and tell of it if not."""
        if self._open < self._door.share and self._door.has_room():
            return True
        self._home.call_soon_threadsafe(self._keeper.note_crowd, self._door.share)
        return False

    def wait_for_room(self, listening: "Listening") -> None:
        self._door.wait_for_room(listening)

    async def _handled(self, handle: Handler, connection: socket.socket) -> None:
        self._door.came()
        self._open += 1
        try:
            await handle(connection)
        except (OSError, EOFError, TimeoutError, RuntimeError):
            # It broke off, said nothing, or our own loop is gone: there is nobody to tell.
            return
        finally:
            connection.close()
            self._open -= 1
            self._door.went()

    async def _proxied(self, connection: socket.socket) -> None:
        async with time_limit(PATIENCE):
            data = await some(connection, b"")
            if data[0] == proxying.SOCKS:
                try:
                    wanted = await socks(connection, data)
                except proxying.Malformed:
                    await send(connection, proxying.SOCKS_REFUSED)
                    return
            else:
                while b"\r\n\r\n" not in data:
                    if len(data) > proxying.LONGEST_HEAD:
                        await send(connection, proxying.bad_request("The head is too long"))
                        return
                    data = await some(connection, data)
                try:
                    wanted = proxying.read_head(data)
                except proxying.Malformed as problem:
                    await send(connection, proxying.bad_request(str(problem)))
                    return
        await self._pass(connection, wanted)

    async def _pass(self, connection: socket.socket, wanted: proxying.Wanted) -> None:
        socks = wanted.how == "socks"
        try:
            key = self._keeper.key_for(wanted.destination.host) if wanted.how == "key" else None
        except ToolError as problem:
            await send(connection, proxying.failure(str(problem)))
            return
        if wanted.how == "key" and key is None:
            await send(connection, proxying.bad_request(f"No key is put in for {wanted.destination.host}"))
            return
        permit = await self._decided(self._keeper.permit(wanted.destination))
        if not permit.allowed:
            no = proxying.SOCKS_REFUSED if socks else proxying.refusal(wanted.destination, permit.reason)
            await send(connection, no)
            return
        try:
            outside = await self._reached(wanted.destination, permit)
        except ToolError as problem:
            await send(connection, proxying.SOCKS_UNREACHABLE if socks else proxying.failure(str(problem)))
            return
        try:
            if key is not None:
                await self._with_key(connection, outside, wanted, key)
                return
            if wanted.how != "http":
                await send(connection, proxying.SOCKS_FINE if socks else proxying.CONNECTED)
            await self._relayed(connection, outside, wanted.destination, wanted.first, limited=permit.limited)
        finally:
            outside.close()

    async def _with_key(
        self, connection: socket.socket, outside: socket.socket, wanted: proxying.Wanted, key: bytes
    ) -> None:
        """Speak for a program to a host over TLS, with the key that it does not have."""
        try:
            reader, writer = await self._door.outward.secured(outside, wanted.destination.host)
        except OSError as problem:
            reason = f"{wanted.destination} cannot be reached: no secure connection ({problem})"
            await send(connection, proxying.failure(reason))
            return
        traffic = self._keeper.traffic_to(wanted.destination)
        traffic.connections += 1
        try:
            await speak_for(connection, reader, writer, with_key(wanted.first, key), traffic)
        finally:
            writer.transport.abort()

    async def _through(self, connection: socket.socket) -> None:
        """A program that knows no proxy: the address that it wanted is the one that it believes it has reached."""
        host, port = original(connection)
        if port == NAMES:
            await self._names.by_connection(connection)
            return
        await self._lead(connection, Destination.of(self._names.given.name_at(host) or host, port))

    async def _gated(self, connection: socket.socket) -> None:
        """A program that has no network of its own, whose leader says first what it wanted."""
        gate = self._keeper.gate
        async with time_limit(PATIENCE):
            wanted = None if gate is None else read_preamble(await exactly(connection, PREAMBLE.size), gate)
        if wanted is None:
            return
        host, port = wanted
        if port == NAMES:
            await self._names.by_connection(connection)
        elif not means_this_machine(host):
            await self._lead(connection, Destination.of(self._names.given.name_at(host) or host, port))
        elif port == PROXY:
            await self._proxied(connection)
        elif await asyncio.to_thread(listens_in_a_box, port):
            await self._lead_here(connection, port)
        else:
            await self._to_port(port, connection)

    async def _lead(self, connection: socket.socket, destination: Destination) -> None:
        permit = await self._decided(self._keeper.permit(destination))
        if not permit.allowed:
            reset(connection)
            return
        try:
            outside = await self._reached(destination, permit)
        except ToolError:
            reset(connection)
            return
        try:
            await self._relayed(connection, outside, destination, limited=permit.limited)
        finally:
            outside.close()

    async def _to_port(self, port: int, connection: socket.socket) -> None:
        """A service of this machine, where a rule names its port."""
        permit = await self._decided(self._keeper.permit_here(port))
        if permit.allowed:
            await self._lead_here(connection, port)
        else:
            reset(connection)

    async def _lead_here(self, connection: socket.socket, port: int) -> None:
        try:
            outside = await self._door.outward.connect_here(port)
        except ToolError:
            reset(connection)
            return
        try:
            await self._relayed(connection, outside, Destination("localhost", port))
        finally:
            outside.close()

    async def _to_job(self, port: int, connection: socket.socket) -> None:
        """Somebody on this machine, to a server of the session."""
        inside = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._keeper.inside(), self._home))
        try:
            await connect_inside(inside, port)
            await self._door.relay.between(inside, connection, Traffic())
        finally:
            inside.close()

    async def _relayed(
        self,
        connection: socket.socket,
        outside: socket.socket,
        destination: Destination,
        first: bytes = b"",
        *,
        limited: bool = False,
    ) -> None:
        traffic = self._keeper.traffic_to(destination)
        traffic.connections += 1
        traffic.limited = limited if traffic.limited is None else traffic.limited and limited
        if first:
            await send(outside, first)
            traffic.sent += len(first)
        await self._door.relay.between(connection, outside, traffic, DestinationWatch(self, destination, traffic))

    async def more(self, destination: Destination) -> bool:
        """Have it decided whether more is sent than goes unasked."""
        return (await self._decided(self._keeper.permit_more(destination))).allowed

    def refused(self, destination: Destination, reason: str) -> None:
        """Have it told that a connection was broken off."""
        self._home.call_soon_threadsafe(self._keeper.note, destination, reason)

    async def _reached(self, destination: Destination, permit: Permit) -> socket.socket:
        try:
            return await self._door.outward.connect(destination, named=permit.named)
        except ClosedAddress as problem:
            self._home.call_soon_threadsafe(self._keeper.note, destination, str(problem))
            raise

    async def _decided(self, decision: Coroutine[Any, Any, Permit]) -> Permit:
        """Have it decided at home; whoever gives up meanwhile takes the question back."""
        try:
            asked = asyncio.run_coroutine_threadsafe(decision, self._home)
        except RuntimeError:
            decision.close()
            raise
        return await asyncio.wrap_future(asked)


class DestinationWatch:
    """Looks at what a program says to one destination."""

    def __init__(self, served: Served, destination: Destination, traffic: Traffic) -> None:
        self._served, self._destination, self._traffic = served, destination, traffic

    async def begins(self, data: bytes) -> None:
        """A program that is led to one host must not ask for another, which the same machine may serve."""
        try:
            name = server_name(data)
        except Incomplete:
            name = "what it does not say to its end"
        if name and self._destination.address is None and name != self._destination.host:
            self._served.refused(self._destination, f"it asks for {name} there, by TLS")
            raise ConnectionRefusedError

    async def spent(self) -> None:
        if not await self._served.more(self._destination):
            raise ConnectionRefusedError
        self._traffic.limited = False


class Listening:
    """A socket on which connections come, as long as there is room for them."""

    def __init__(self, served: Served, listener: socket.socket, begin: Callable[[socket.socket], None]) -> None:
        self._served, self._socket, self._handle = served, listener, begin
        self.number = listener.fileno()
        self._ended = False

    def begin(self) -> None:
        if not self._ended:
            asyncio.get_running_loop().add_reader(self.number, self._accept)

    def end(self) -> None:
        self._ended = True
        asyncio.get_running_loop().remove_reader(self.number)

    def _accept(self) -> None:
        if not self._served.has_room():
            asyncio.get_running_loop().remove_reader(self.number)
            self._served.wait_for_room(self)
            return
        try:
            connection, _ = self._socket.accept()
        except OSError:
            return
        connection.setblocking(False)
        self._handle(connection)

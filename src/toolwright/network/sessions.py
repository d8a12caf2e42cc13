"""The networks of the sessions of a workspace, each made when its first command may reach out."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.machine.own_ports import noted_ports
from toolwright.network.destination import Destination
from toolwright.network.door import NetworkDoor
from toolwright.network.gate import GatePlace
from toolwright.network.keys import Keys
from toolwright.network.known import KnownDestination
from toolwright.network.logins import LoginSockets
from toolwright.network.outward import Outward
from toolwright.network.running import CommandCaller
from toolwright.network.session import SessionNetwork
from toolwright.network.verdict import verdict_on
from toolwright.process.jobs.jobs import SpaceUse
from toolwright.process.running.network_namespaces import Space
from toolwright.process.running.scope import Scopes
from toolwright.process.sandbox.sandbox import Holding


class Networks:
    """One for each workspace."""

    def __init__(
        self,
        scopes: Scopes,
        known: Callable[[], Awaitable[list[KnownDestination]]],
        state: Path,
        outward: Outward,
        keys: Keys,
        spaces: dict[str, SpaceUse],
        logins: LoginSockets,
    ) -> None:
        """`known` are the destinations of the user's own clients, `state` is the folder that has our own ports, and
        `spaces` is where commands find the network of their session."""
        self._scopes, self._known, self._spaces = scopes, known, spaces
        self._own_ports = partial(noted_ports, state)
        self._door = NetworkDoor(outward)
        self._keys, self._logins = keys, logins
        self._sessions = dict[str, asyncio.Task[SessionNetwork]]()
        self.has_made_one = False
        """True if this machine has given a network, so that it is able to."""
        self._without = set[str]()
        """Sessions that were told that nothing holds their commands."""

    async def of(self, session_id: str, by: Holding) -> SessionNetwork:
        """Return the network of a session, made if it has none. ToolError if this machine has none to give.

        `by` says what holds its commands.
        """
        making = self._sessions.get(session_id)
        if making is None:
            making = self._sessions[session_id] = asyncio.ensure_future(self._make(by))
        try:
            network = await asyncio.shield(making)
        except ToolError:
            self._sessions.pop(session_id, None)
            raise
        self.has_made_one = True
        self._spaces[session_id] = network.use
        return network

    def existing(self, session_id: str) -> SessionNetwork | None:
        """Return the network of a session, if it has one already."""
        making = self._sessions.get(session_id)
        return making.result() if making is not None and making.done() and not making.exception() else None

    async def is_asked(self, caller: CommandCaller, destination: Destination) -> bool:
        """Tell whether a connection of a caller's would be asked about."""
        if destination.is_local or verdict_on(destination, caller, ()).action != "ask":
            return False
        return verdict_on(destination, caller, await self._known()).action == "ask"

    def is_first_of(self, session_id: str) -> bool:
        """Tell whether this session was not told yet that nothing holds its commands; from now on it was."""
        first = session_id not in self._without
        self._without.add(session_id)
        return first

    async def problem(self) -> str:
        """Say why this machine has no networks to give; empty if it has."""
        try:
            space = await Space.make(self._scopes)
        except (ToolError, OSError) as error:
            return str(error)
        space.close()
        if not space.refused:
            return ""
        return (
            f"programs that know no proxy reach nothing, for this kernel lacks something ({'; '.join(space.refused)})."
        )

    async def end_session(self, session_id: str) -> None:
        """End the network of a session, with every connection."""
        self._spaces.pop(session_id, None)
        making = self._sessions.pop(session_id, None)
        if making is None:
            return
        await asyncio.wait([making])
        if not making.cancelled() and making.exception() is None:
            await making.result().close()

    async def close(self) -> None:
        for session_id in list(self._sessions):
            await self.end_session(session_id)
        await self._door.close()
        await self._logins.close()

    async def _make(self, by: Holding) -> SessionNetwork:
        place = GatePlace(by) if by in ("gate", "proxy") else await Space.make(self._scopes)
        network = SessionNetwork(place, self._known, self._own_ports, self._keys)
        network.serve_by(await self._door.serve(network.space.sockets, network))
        network.log_in_by(await self._logins.open(network.reached, network.note_all))
        return network

"""The network of one session: who runs in it, what they may reach, what was refused, how much went where."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from toolwright.calls.acts import Act
from toolwright.calls.request import Request
from toolwright.errors import PermissionRejected, ToolError
from toolwright.network.destination import WEB_PORTS, Destination
from toolwright.network.gate import proxied_by
from toolwright.network.gatekeeper import Permit
from toolwright.network.keys import Keys
from toolwright.network.known import KnownDestination
from toolwright.network.logins import SessionLogins
from toolwright.network.published import PublishedServers
from toolwright.network.relay import Traffic
from toolwright.network.running import CommandCaller, HostTraffic, RunningCommand
from toolwright.network.served import Served
from toolwright.network.verdict import PERMISSION, Action, NetworkVerdict, local_ports, local_verdict, verdict_on
from toolwright.process.jobs.jobs import SpaceUse
from toolwright.process.keeper.order import GateOrder
from toolwright.process.running.network_namespaces import PROXY, Handed

VARIABLES: Final = proxied_by(PROXY)
PAUSE: Final = 0.5
"""Seconds between two looks for servers of jobs."""
MOST_COUNTED: Final = 1000
"""Destinations that are counted one by one; what goes to further ones is counted together."""
_FORBIDDEN: Final = "a rule forbids it"
_SSH: Final = 22
_OPENED_BY: Final = "The user can allow it with a rule for network"
THE_REST: Final = Destination("others", 0)
_STRICTNESS: Final[dict[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}


class CommandSpace(Protocol):
    """The holder of the commands of a session: a namespace, or a gate where there are none."""

    @property
    def descriptor(self) -> int | None: ...
    @property
    def gate(self) -> GateOrder | None: ...
    @property
    def door(self) -> int: ...
    @property
    def variables(self) -> Mapping[str, str]: ...
    @property
    def sockets(self) -> Sequence[Handed]: ...
    async def further(self, *, ports: Sequence[int] = (), plain: int = 0) -> list[Handed]: ...
    def close(self) -> None: ...


class SessionNetwork:
    """Decides what the commands of a session reach. It lasts as long as the session."""

    def __init__(
        self,
        space: CommandSpace,
        known: Callable[[], Awaitable[list[KnownDestination]]],
        own_ports: Callable[[], Iterable[int]],
        keys: Keys,
    ) -> None:
        self.space = space
        self._keys = keys
        self._own_ports = own_ports
        self.served: Served | None = None
        self._known = known
        self._running = list[RunningCommand]()
        self._asking = dict[tuple[Destination, bool], asyncio.Task[str]]()
        self._traffic = dict[Destination, Traffic]()
        self._told = dict[Destination, tuple[int, int]]()
        self._ports = set[int]()
        self._servers: PublishedServers | None = None
        self._looking: asyncio.Task[None] | None = None
        self._logins: SessionLogins | None = None

    def serve_by(self, served: Served) -> None:
        """Have its connections taken by the door."""
        self.served = served
        if self.space.descriptor is not None:
            self._servers = PublishedServers(self.space, served, self._own_ports)

    def log_in_by(self, logins: SessionLogins) -> None:
        """Have its programs log in by these sockets."""
        self._logins = logins

    @property
    def use(self) -> SpaceUse:
        """Return how a command is started in it."""
        logins = self._logins
        return SpaceUse(
            descriptor=self.space.descriptor,
            variables={**VARIABLES, **self.space.variables, **(logins.variables if logins else {})},
            gate=self.gate,
            door=self.space.door,
            git_settings=logins.git_settings if logins else (),
        )

    @property
    def gate(self) -> GateOrder | None:
        """Return what leaders say first where there are no namespaces."""
        return self.space.gate

    def reached(self) -> list[Destination]:
        """List what its programs have connections to, or had."""
        return list(self._traffic)

    def begin(self, caller: CommandCaller, command: str) -> RunningCommand:
        """Have a command in this network, under the rules of its caller."""
        running = RunningCommand(self, caller, command)
        self._running.append(running)
        return running

    async def publish(self) -> None:
        """Lead the servers of jobs to the same ports of this machine, and say so; and go on looking for others."""
        await self._look_for_servers()
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._keep_looking())

    async def _keep_looking(self) -> None:
        try:
            while any(one.is_job for one in self._running):
                await asyncio.sleep(PAUSE)
                await self._look_for_servers()
        finally:
            self._looking = None

    async def _look_for_servers(self) -> None:
        jobs = [running for running in self._running if running.is_job]
        if self._servers is not None:
            for sentence in await self._servers.look(without=self._ports if jobs else None):
                for running in jobs:
                    running.note(sentence)

    def ended(self, running: RunningCommand) -> None:
        if running in self._running:
            self._running.remove(running)
        if not self._running:
            for task in self._asking.values():
                task.cancel()

    async def open_ports(self, caller: CommandCaller) -> None:
        """Listen inside for the services of this machine that a rule names."""
        wanted = [port for port in local_ports(caller) if port not in self._ports]
        if wanted and self.served is not None:
            self._ports.update(wanted)
            await self.served.add(await self.space.further(ports=wanted))

    # What the door asks.

    async def permit(self, destination: Destination) -> Permit:
        """Decide on a connection, and ask whoever can be asked; however many wait for it, once."""
        if destination.is_local:
            return self._no(destination, "localhost is the session's own: reach it without the proxy")
        verdict = await self._verdict(destination)
        if verdict.action == "ask" or (verdict.action == "allow" and not (verdict.named or verdict.source)):
            # What is allowed in general may still be named by nobody but a text of others.
            reason = await self._asked(destination)
        else:
            reason = _FORBIDDEN if verdict.action == "deny" else ""
        return (
            self._no(destination, reason)
            if reason
            else Permit(allowed=True, named=verdict.named, limited=bool(verdict.source))
        )

    async def permit_more(self, destination: Destination) -> Permit:
        """Decide on more than is sent unasked to a host that a client of the user's is set up with."""
        reason = await self._asked(destination, more=True)
        return self._no(destination, f"no more was sent: {reason}") if reason else Permit(allowed=True, named=True)

    async def permit_here(self, port: int) -> Permit:
        """Decide on a service of this machine, by the same rules."""
        destination = Destination("localhost", port)
        if port in self._own_ports():
            return self._no(destination, "it is a port of toolwright's own, which no rule opens")
        verdict = _strictest(local_verdict(port, one.caller) for one in self._running)
        if verdict.action == "ask":
            reason = await self._asked(destination)
        else:
            reason = "no rule names its port" if verdict.action == "deny" else ""
        return self._no(destination, reason) if reason else Permit(allowed=True, named=True)

    def exists(self, name: str) -> bool:
        """Tell whether a name gets an address: not one that is denied whatever the port."""
        callers = [running.caller for running in self._running]
        if any(_may_fit(name, caller) for caller in callers):
            return True
        ports = (*WEB_PORTS, _SSH)
        places = [[verdict_on(Destination(name, port), caller, ()) for caller in callers] for port in ports]
        if any(_strictest(verdicts).action != "deny" for verdicts in places):
            return True
        for running in self._running:
            running.note(f"{name} was refused: {_FORBIDDEN}")
        return False

    def note_all(self, sentence: str) -> None:
        """Have the results of all that run tell of something."""
        for running in self._running:
            running.note(sentence)

    def note(self, destination: Destination, reason: str) -> None:
        """Have the results of all that run tell of a refusal: it is not known whose connection it was."""
        self._no(destination, reason)

    def key_for(self, host: str) -> bytes | None:
        """Return the header that is put in for a host, if one is."""
        return self._keys.line_for(host) if host in self._keys else None

    async def inside(self) -> socket.socket:
        """Return a socket of this network that is not connected yet."""
        assert self._servers is not None
        return await self._servers.inside()

    def note_crowd(self, most: int) -> None:
        """Have the results tell why connections wait."""
        for running in self._running:
            running.note(f"{most} connections were open, which is as many as there may be, so further ones waited")

    def traffic_to(self, destination: Destination) -> Traffic:
        """Return where it is counted. The door counts in its own thread."""
        if destination not in self._traffic and len(self._traffic) >= MOST_COUNTED:
            destination = THE_REST
        return self._traffic.setdefault(destination, Traffic())

    def take_exchanges(self) -> list[HostTraffic]:
        """Return what went where since this was last asked, in the order of what was sent."""
        exchanges = list[HostTraffic]()
        for destination, traffic in list(self._traffic.items()):
            now, before = (traffic.sent, traffic.received), self._told.get(destination, (0, 0))
            if now != before:
                self._told[destination] = now
                exchanges.append(HostTraffic(to=str(destination), sent=now[0] - before[0], received=now[1] - before[1]))
        return sorted(exchanges, key=lambda exchange: -exchange.sent)

    async def close(self) -> None:
        for task in (*self._asking.values(), *([self._looking] if self._looking else [])):
            task.cancel()
        if self._servers is not None:
            self._servers.close()
        if self._logins is not None:
            self._logins.close()
        if self.served is not None:
            await self.served.close()
        self.space.close()

    async def _verdict(self, destination: Destination) -> NetworkVerdict:
        verdict = _strictest(verdict_on(destination, one.caller, ()) for one in self._running)
        if verdict.action == "deny" or verdict.named:
            return verdict
        known = await self._known()
        return _strictest(verdict_on(destination, one.caller, known) for one in self._running)

    async def _asked(self, destination: Destination, *, more: bool = False) -> str:
        """Return why a person, or nobody, has refused; empty if it may be reached, or be sent `more`."""
        key = (destination, more)
        waiting = [one for one in self._running if key not in one.answers]
        if not waiting:
            return next(filter(None, (one.answers[key] for one in self._running)), "")
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.ensure_future(self._ask(key, waiting))
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            return "the command has ended"

    async def _ask(self, key: tuple[Destination, bool], waiting: Sequence[RunningCommand]) -> str:
        running = waiting[-1]
        destination, more = key
        sent = self.traffic_to(destination).sent if more else 0
        now = asyncio.get_running_loop().time
        for each in self._running:
            each.asked_since = now()
        try:
            await running.caller.ask_all(about(destination, running.command, sent=sent))
            reason = ""
        except PermissionRejected as refusal:
            reason = f"{refusal.advice}. {_OPENED_BY}" if refusal.advice else "the user said no"
        except ToolError as refusal:
            reason = str(refusal)
        finally:
            for each in self._running:
                if each.asked_since is not None:
                    each.waited += now() - each.asked_since
                    each.asked_since = None
        for each in waiting:
            each.answers[key] = reason
        return reason

    def _no(self, destination: Destination, reason: str) -> Permit:
        for running in self._running:
            running.note(f"{destination} was refused: {reason}")
        return Permit(allowed=False, reason=reason)


def about(destination: Destination, command: str, *, sent: int = 0) -> Request:
    """Return what is asked about a destination that a command wants to reach, or has `sent` so much that more is."""
    stored = destination.host if destination.port in WEB_PORTS and ":" not in destination.host else str(destination)
    line = " ".join(command.split())
    start = line if len(line) <= 60 else f"{line[:59]}…"
    return Request(
        permission=PERMISSION,
        patterns=(destination.pattern,),
        always=(stored,),
        title=f"`{start}` wants to {_wish(destination, sent)}",
        acts={destination.pattern: Act(kind="nothing", program="network", on=str(destination), to=(destination.host,))},
        metadata={"destination": str(destination)},
    )


def _wish(destination: Destination, sent: int) -> str:
    if not sent:
        return f"reach {destination}"
    return f"send more to {destination}, which has got {sent / 1e6:.1f} MB; to install or fetch takes less"


def _strictest(verdicts: Iterable[NetworkVerdict]) -> NetworkVerdict:
    """Return what all that run may reach: it is not known which of them asks. If none runs any more, nothing."""
    known = list(verdicts)
    if not known:
        return NetworkVerdict(action="deny")
    strictest = max(known, key=lambda verdict: _STRICTNESS[verdict.action])
    return replace(strictest, named=all(verdict.named for verdict in known))


def _may_fit(name: str, caller: CommandCaller) -> bool:
    """Tell whether a rule opens another port of a host that is closed otherwise."""
    return any(
        permission == PERMISSION and action != "deny" and pattern.lower().startswith(f"{name}:")
        for permission, pattern, action in caller.rules_about(PERMISSION)
    )

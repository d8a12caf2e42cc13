"""The network of a command: all of it, nothing, or that of its session, whose door goes by the rules."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolwright.calls.request import Request
from toolwright.definition import ToolContext
from toolwright.errors import ToolError
from toolwright.network.destination import Destination
from toolwright.network.verdict import PERMISSION, is_by_destination, local_ports, names_destinations
from toolwright.process.box.access import Access
from toolwright.process.jobs.jobs import Job, Jobs, SpaceUse
from toolwright.process.sandbox.sandbox import Holding
from toolwright.record import record
from toolwright.shell import Analysis
from toolwright.shell.analysis.reach import addresses_of, works_alone

if TYPE_CHECKING:
    # Loaded for the first command that is held to destinations, and not for any other.
    from toolwright.network.running import RunningCommand

UNHELD = "nothing on this machine holds commands to rules for destinations (`tw doctor` says why)"


@record(frozen=True, slots=True, kw_only=True)
class CommandNetwork:
    """The network that one command is to have."""

    kind: Literal["as ruled", "none", "own"] = "as ruled"
    space: SpaceUse | None = None
    running: "RunningCommand | None" = None
    doors: tuple[int, ...] = ()
    """Ports of this machine that are all it is to reach, where it can be held to those alone."""
    note: str = ""
    """A sentence for the result."""
    by_rule: bool = True
    """True if rules for destinations are why it has one of its own."""

    def end(self) -> None:
        """Say that the command never came to run."""
        if self.running is not None:
            self.running.end()


async def named_destinations(ctx: ToolContext, analysis: Analysis) -> list[Request]:
    """Return what is to be asked about the hosts that a line names for certain, where its connections would be."""
    addresses = addresses_of(analysis)
    jobs = ctx.use(Jobs)
    if not addresses or jobs.terminals is not None or not is_by_destination(ctx) or not await _holding(ctx):
        return []
    from toolwright.network.session import about
    from toolwright.network.sessions import Networks

    networks = ctx.use(Networks)
    destinations = dict.fromkeys(filter(None, map(Destination.of_url, addresses)))
    new = [destination for destination in destinations if await networks.is_asked(ctx, destination)]
    return [about(destination, analysis.command) for destination in new]


async def network_for(
    ctx: ToolContext, analysis: Analysis, requests: Sequence[Request] = (), *, elsewhere: bool
) -> CommandNetwork:
    """Return what the rules leave a command, and ask where nothing would hold it to them.

    `requests` were granted; `elsewhere` says that it runs in a terminal of somebody else's.
    """
    jobs = ctx.use(Jobs)
    sandbox = jobs.sandbox
    by_rule = is_by_destination(ctx)
    if not (by_rule or sandbox.settings.own_network) or not sandbox.settings.network:
        return CommandNetwork()
    alone = works_alone(analysis)
    by = "" if elsewhere else await _holding(ctx)
    if not by_rule and by != "namespace":
        return CommandNetwork()
    if not by:
        return CommandNetwork() if alone else CommandNetwork(note=await _unheld(ctx))
    if alone:
        # To enter a network takes less than to make one for the command.
        space = None if by == "proxy" else jobs.spaces.get(ctx.session_id)
        return CommandNetwork(kind="own" if space else "none", space=space, by_rule=by_rule)
    from toolwright.network.sessions import Networks

    networks = ctx.use(Networks)
    try:
        session = await networks.of(ctx.session_id, by)
    except ToolError:
        if not by_rule:
            return CommandNetwork()
        if networks.has_made_one or names_destinations(ctx):
            raise
        return CommandNetwork(note=await _unheld(ctx))
    await session.open_ports(ctx)
    running = session.begin(ctx, analysis.command)
    for request in requests:
        if request.permission == PERMISSION:
            running.answers[Destination.read(request.patterns[0]), False] = ""
    space = session.use
    doors = (space.door, *local_ports(ctx)) if space.door else ()
    return CommandNetwork(kind="own", space=space, running=running, doors=doors, by_rule=by_rule)


async def _holding(ctx: ToolContext) -> Holding:
    """Return what holds commands; a box that leads to a proxy alone is put up only for rules that name destinations."""
    by = await ctx.use(Jobs).sandbox.holds_network_by()
    return "" if by == "proxy" and not names_destinations(ctx) else by


def held(access: Access, network: CommandNetwork, home: Path) -> Access:
    """Return what a command may do, once its network is known: held to destinations, it does not see keys to others."""
    if network.kind == "as ruled":
        return access
    from toolwright.network.credentials import credentials

    own = network.kind == "own"
    keys = credentials(home) if own and network.by_rule else ()
    return replace(access, network=own, own_space=own, doors=network.doors, hidden=(*access.hidden, *keys))


async def _unheld(ctx: ToolContext) -> str:
    """Ask for all destinations where a rule asks and none can be told from another; return what is to be said of it."""
    if ctx.decide(PERMISSION, "*") == "ask":
        title = "This command may reach any host"
        await ctx.ask_all(
            Request(permission=PERMISSION, patterns=("*",), always=(), title=title, metadata={"why": UNHELD})
        )
    if ctx.use(Jobs).sandbox.settings.mode == "off" and not names_destinations(ctx):
        return ""
    from toolwright.network.sessions import Networks

    return f"network: {UNHELD}" if ctx.use(Networks).is_first_of(ctx.session_id) else ""


def network_notes(job: Job, text: str = "") -> Iterator[str]:
    """Yield what a result says of connections that were refused; `text` is what a command that failed has printed."""
    if job.reaching is None:
        return
    yield from (f"network: {note}" for note in job.reaching.take_notes())
    for port in _missed(text):
        yield (
            f"network: nothing of this session listens on port {port}; a service of the user's does, which the rule"
            f" `localhost:{port}: allow` for network opens"
        )


_REFUSED = re.compile(r"connection refused|ECONNREFUSED|could(?: not|n't) connect|failed to connect", re.IGNORECASE)
_LOCAL_PORT = re.compile(r"(?:localhost|127\.0\.0\.1|::1)\D{1,40}?(\d{2,5})\b")
LINES = 50
"""At most this many of the last lines are looked at."""


def _missed(text: str) -> list[int]:
    """Services of this machine that a command has looked for in the network of its session."""
    if not _REFUSED.search(text):
        return []
    from toolwright.network.published import listens_here

    named = dict.fromkeys(int(one) for line in text.splitlines()[-LINES:] for one in _LOCAL_PORT.findall(line[:1000]))
    return [port for port in named if listens_here(port)][:3] if named else []


def network_metadata(ctx: ToolContext) -> list[dict[str, object]]:
    """Return what went where in this session since it was last told, for programs."""
    from toolwright.network.sessions import Networks

    network = ctx.use(Networks).existing(ctx.session_id)
    exchanges = [] if network is None else network.take_exchanges()
    return [{"to": one.to, "sent": one.sent, "received": one.received} for one in exchanges]


async def renew_network(ctx: ToolContext) -> None:
    """Have the next command of the session have another network: whoever this one belonged to may be gone."""
    from toolwright.network.sessions import Networks

    await ctx.use(Networks).end_session(ctx.session_id)

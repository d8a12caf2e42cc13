"""One configured server: started when it is needed, listed, called, watched, started again, and ended."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from toolwright.deadline import time_limit
from toolwright.definition import Result, Tool, ToolContext
from toolwright.errors import Kind, ToolError
from toolwright.mcp.client.calling import call_tool
from toolwright.mcp.client.client import McpClient
from toolwright.mcp.client.known import KnownLists
from toolwright.mcp.client.link import NeedsAuth, keep
from toolwright.mcp.client.login import login_problem
from toolwright.mcp.client.opening import open_client
from toolwright.mcp.client.pins import FOLDER, Pins
from toolwright.mcp.client.tools import BadTool, tool_of
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.scope import Scopes
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import RpcClosed, RpcError
from toolwright.record import record
from toolwright.settings import McpSettings

log = logging.getLogger(__name__)

CONNECT = 30.0
"""Seconds for a server to start and tell what it has, unless its `timeout` says otherwise."""
CALL = 60.0
"""Seconds for a call, unless a `timeout` says otherwise; each sign of progress begins them anew."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before each try to start a server again that has ended by itself; after the last it waits for a call."""
STEADY = 60.0
"""Seconds after which a server counts as steady, and an end as the first."""
SETTLE = 0.1
"""Seconds in which changes of a list are gathered."""

Status = Literal["idle", "connecting", "connected", "disabled", "failed", "needs_auth"]
KINDS = ("tools", "prompts", "resources")


class ServerHome(Protocol):
    """The workspace as a server needs it."""

    directory: Path

    @property
    def scopes(self) -> Scopes: ...
    @property
    def lookup(self) -> Lookup: ...


@record(frozen=True, slots=True, kw_only=True)
class SharedByServers:
    """Things that all servers of a workspace share."""

    home: ServerHome
    cache: Path
    environment: Mapping[str, str]
    """Environment of programs, as far as they may see ours."""
    data: Path
    timeout: int | None
    """Milliseconds for calls of servers that say nothing themselves."""


class McpServer:
    """A server by its name. `offered` is called when its tools have changed."""

    def __init__(
        self, name: str, settings: McpSettings, around: SharedByServers, offered: "Callable[[McpServer], None]"
    ) -> None:
        self.name = name
        self.said = settings
        self.around = around
        self.status: Status = "idle" if settings.enabled else "disabled"
        self.error = ""
        """Why it failed."""
        self.kind: Kind = "missing"
        self.needed: NeedsAuth | None = None
        """The login it waits for."""
        self.logging_in = asyncio.Lock()
        self.tools: list[Tool] = []
        self.left_out: list[BadTool] = []
        self.waiting: list[Json] = []
        """Tools that are not what they were when they were first seen, until the user has accepted them."""
        self.lists: dict[str, list[Json]] = {kind: [] for kind in KINDS}
        self.instructions = ""
        self._offered = offered
        self._known = KnownLists.of(around.cache, name, settings, around.home.directory)
        self.pins = Pins(around.data / FOLDER / self._known.path.name)
        self._client: McpClient | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._tasks = set[asyncio.Task[None]]()
        self._ending = set[asyncio.Task[None]]()
        self._stale = set[str]()
        self._tries = 0
        self._closed = False

    @property
    def type(self) -> str:
        return self.said.type or ("remote" if self.said.url else "local")

    @property
    def enabled(self) -> bool:
        return self.status != "disabled"

    @property
    def connect_seconds(self) -> float:
        return self.said.timeout / 1000 if self.said.timeout else CONNECT

    @property
    def call_seconds(self) -> float:
        timeout = self.said.timeout or self.around.timeout
        return timeout / 1000 if timeout else CALL

    def recall(self) -> None:
        """Offer what the server had when it was last asked; the truth follows once it is connected."""
        if self.enabled:
            self._take({kind: self._known.read(kind) for kind in KINDS})

    @asynccontextmanager
    async def opened(self, _: Any) -> AsyncIterator[None]:
        """As an extension is started: nothing runs yet, and what does later ends with the workspace."""
        _scopes = self.around.home.scopes  # made before us, so that it is closed after us
        try:
            yield
        finally:
            await self.close()

    def begin(self) -> None:
        """Start it in the background, unless it runs or is being started."""
        if self.enabled and not self._closed and self._living() is None and self._connecting is None:
            self.status, self.error, self.needed = "connecting", "", None
            self._connecting = asyncio.create_task(self._connect())

    async def settled(self) -> None:
        """Return once the server is connected or has failed. Never raises."""
        self.begin()
        if self._connecting is not None:
            await asyncio.shield(self._connecting)

    async def client(self) -> McpClient:
        """The connected server; ToolError if there is none."""
        await self.settled()
        client = self._living()
        if client is not None:
            return client
        raise self.failure()

    def failure(self) -> ToolError:
        """Why it cannot be used now."""
        if self.needed is not None:
            return self.needed
        why = "it is switched off" if self.status == "disabled" else self.error or "it was closed"
        return ToolError(f"The MCP server {self.name} is not available: {why}.", self.kind)

    async def call(self, ctx: ToolContext, name: str, arguments: Json) -> Result:
        return await call_tool(self, ctx, name, arguments)

    def needs_login(self, needed: NeedsAuth) -> None:
        self.status, self.needed = "needs_auth", needed
        self.error = f"the login lacks the scope {needed.scope}" if needed.scope else "the login was not accepted"

    async def switch_on(self) -> None:
        """Have it, also where the settings leave it out. Returns once it is connected or has failed."""
        if not self.enabled:
            self.status = "idle"
        await self.settled()

    async def switch_off(self) -> None:
        """Do without it, and without its tools, until it is switched on again."""
        self.status, self.error, self.needed = "disabled", "", None
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        await self.drop()
        self._take(dict.fromkeys(KINDS, ()))

    async def drop(self) -> None:
        """Let go of the connection; the next call makes another."""
        client, self._client = self._client, None
        if client is not None:
            await self._end(client)

    async def close(self) -> None:
        """End it, with everything it has started."""
        self._closed = True
        tasks = [*self._tasks, *([self._connecting] if self._connecting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.drop()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _end(self, client: McpClient) -> None:
        """Close a connection to its end, also if whoever wants it closed is stopped meanwhile."""
        if hasattr(client, "link"):
            ending = asyncio.create_task(client.close())
            keep(ending, self._ending)
            await asyncio.shield(ending)

    def _living(self) -> McpClient | None:
        return None if self._client is None or self._client.link.peer.ended.is_set() else self._client

    # Connecting.

    async def _connect(self) -> None:
        """Start the server and list what it has; `status` and `error` say how that went."""
        try:
            await self.drop()
            client = await self._started()
        except NeedsAuth as needed:
            self.needs_login(needed)
        except (ToolError, OSError) as error:
            self.status, self.error = "failed", str(error).rstrip(".")
            self.kind = error.kind if isinstance(error, ToolError) and error.kind == "timeout" else "missing"
        else:
            self._client = client
            self.status, self.error, self.instructions = "connected", "", client.instructions
            keep(asyncio.create_task(self._watch(client)), self._tasks)
        finally:
            self._connecting = None
        if self.status == "failed":
            log.warning("the MCP server %s failed: %s", self.name, self.error)

    async def _started(self) -> McpClient:
        client = McpClient(root=self.around.home.directory, changed=self._changed)
        lists: dict[str, list[Json]] = {}
        try:
            async with time_limit(self.connect_seconds):
                await open_client(client, self)
                for kind in KINDS:
                    lists[kind] = await self._list(client, kind)
        except TimeoutError:
            words = _stderr_tail(client)
            await self._end(client)
            raise ToolError(f"it did not answer within {self.connect_seconds:g} seconds{words}", "timeout") from None
        except (RpcError, RpcClosed) as error:
            words = _stderr_tail(client)
            await self._end(client)
            problem = login_problem(self, error) if isinstance(error, RpcError) else None
            raise problem or ToolError(f"{str(error).rstrip('.')}{words}") from error
        except BaseException:
            await self._end(client)
            raise
        self._take(lists)
        self._known.write(lists)
        return client

    async def _list(self, client: McpClient, kind: str) -> list[Json]:
        """One list; that of the tools must come, the others may fail."""
        try:
            return await client.listed(kind)
        except RpcError:
            if kind == "tools":
                raise
            return []

    def _take(self, lists: Mapping[str, Sequence[Json]]) -> None:
        self.lists |= {kind: list(entries) for kind, entries in lists.items()}
        if "tools" in lists:
            wanted = [one for one in lists["tools"] if self._offers(one.get("name"))]
            changed = self.pins.changed(wanted) if self.said.pinned else []
            self.waiting = [one for one in wanted if one.get("name") in changed]
            offered = (one for one in wanted if one not in self.waiting)
            offers = [tool_of(self.name, one, self.call, trusted=self.said.trusted) for one in offered]
            self.tools = [one for one in offers if isinstance(one, Tool)]
            self.left_out = [one for one in offers if isinstance(one, BadTool)]
            self.left_out += [BadTool(name=name, reason=self._waits()) for name in changed]
        self._offered(self)

    def _waits(self) -> str:
        return f"it is not what it was when it was first seen; `tw mcp accept {self.name}` shows what has changed"

    def accept(self) -> None:
        """Offer the tools that wait, as they are now."""
        self.pins.accept(self.waiting)
        self._take({"tools": self.lists["tools"]})

    def _offers(self, name: object) -> bool:
        """Tell whether the settings want a tool of it, by the name that the server has for it."""
        only = self.said.enabled_tools
        return name not in self.said.disabled_tools and (only is None or name in only)

    # What happens to a connected server.

    async def _watch(self, client: McpClient) -> None:
        """Notice the end of a server that nobody asked to end, and start it again after a while."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        await client.link.peer.ended.wait()
        if self._client is not client or self._closed:
            return
        reason = client.link.stderr_tail()
        self.status, self.error = "failed", f"it ended by itself{f': {reason}' if reason else ''}"
        await self.drop()
        self._tries = 0 if loop.time() - since > STEADY else self._tries
        await self._revive()

    async def _revive(self) -> None:
        """Try to start it again, after longer and longer pauses; whoever calls one of its tools need not wait."""
        while self._tries < len(PAUSES) and self.status == "failed" and not self._closed:
            await asyncio.sleep(PAUSES[self._tries])
            self._tries += 1
            await self.settled()

    def _changed(self, kind: str) -> None:
        """A list is out of date: it is asked for again, once for many such words at a time."""
        fresh = not self._stale
        self._stale.add(kind)
        if fresh and not self._closed:
            keep(asyncio.create_task(self._refresh()), self._tasks)

    async def _refresh(self) -> None:
        await asyncio.sleep(SETTLE)
        stale, self._stale = self._stale, set()
        client = self._living()
        if client is None:
            return
        try:
            async with time_limit(self.connect_seconds):
                self._take({kind: await client.listed(kind) for kind in KINDS if kind in stale})
        except (RpcError, RpcClosed, TimeoutError) as error:
            log.warning("%s could not list its %s anew: %s", self.name, ", ".join(stale), error)
            return
        self._known.write(self.lists)


def _stderr_tail(client: McpClient) -> str:
    words = client.link.stderr_tail() if hasattr(client, "link") else ""
    return f"; it last wrote: {words}" if words else ""

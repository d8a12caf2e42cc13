"""A connected server: the handshake of either family, its lists, and calls with what a server asks in between."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import field
from itertools import count
from pathlib import Path
from typing import Any

from toolwright.errors import ToolError
from toolwright.mcp.client.link import Handlers, McpLink, keep
from toolwright.mcp.protocol import (
    HANDSHAKE,
    INPUT_REQUIRED,
    META_CAPABILITIES,
    META_INFO,
    META_VERSION,
    STATELESS,
    object_of,
    ourselves,
    text_of,
)
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import METHOD_NOT_FOUND, RpcClosed, RpcError
from toolwright.record import record

PAGES = 1000
"""Pages of a list that are asked for, before it counts as endless."""
ENTRIES = 10_000
"""Entries of a list that are taken in."""
ROUNDS = 10
"""Times that a server may ask for more in one call."""
WAIT = 0.2
"""Seconds before a call is repeated for a server that only wants time."""
CAPABILITIES: Json = {"elicitation": {"form": {}}, "roots": {}}

Elicit = Callable[[Json], Awaitable[Json]]
"""Puts what a server wants to know to a person; gives the answer as the protocol has it."""
Progress = Callable[[Json], None]


async def decline(_: Json) -> Json:
    return {"action": "decline"}


@record(frozen=True, slots=True, kw_only=True)
class Ongoing:
    """A call that is under way: takers of its progress, and of what the server asks meanwhile."""

    progress: Progress
    elicit: Elicit


@record(slots=True, kw_only=True)
class McpClient:
    """One side of a conversation with a server. `changed` is called with the list that is out of date."""

    root: Path
    changed: Callable[[str], None] = lambda _: None
    capabilities: Json = field(default_factory=dict[str, Any])
    instructions: str = ""
    link: McpLink = field(init=False)
    _ongoing: dict[str, Ongoing] = field(default_factory=dict[str, Ongoing])
    _tokens: "count[int]" = field(default_factory=lambda: count(1))
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)

    @property
    def handlers(self) -> Handlers:
        return Handlers(answer=self._answer, notified=self._notified)

    # The beginning.

    async def begin(self, link: McpLink, *, stateless: bool = False) -> None:
        """Agree with the server on a version. RpcError or RpcClosed if that is not possible.

        The handshake comes first: every server of the older family answers it, and so do those that speak both.
        """
        self.link = link
        if stateless:
            await self._discover()
            return
        try:
            await self._shake_hands()
        except RpcError as refusal:
            if object_of(refusal.data).get("status") == 401:
                raise
            try:
                await self._discover()
            except RpcError:
                raise refusal from None

    async def _shake_hands(self) -> None:
        answer = await self.link.peer.request(
            "initialize",
            {"protocolVersion": HANDSHAKE[0], "capabilities": CAPABILITIES, "clientInfo": ourselves()},
        )
        result = object_of(answer)
        version = text_of(result.get("protocolVersion"))
        if version not in HANDSHAKE:
            raise RpcError(f"It speaks version {version or 'none'} of the protocol, which is not known here.")
        self.link.version = version
        self._take(result)
        await self.link.peer.notify("notifications/initialized")
        await self.link.listen()

    async def _discover(self) -> None:
        self.link.stateless, self.link.version = True, STATELESS
        try:
            result = object_of(await self._request("server/discover", {}))
            if STATELESS not in (result.get("supportedVersions") or ()):
                raise RpcError("It speaks no version of the protocol that is known here.")
        except RpcError:
            self.link.stateless, self.link.version = False, ""
            raise
        self._take(result)
        kinds = ("tools", "prompts", "resources")
        wanted = {
            f"{kind}ListChanged": True for kind in kinds if object_of(self.capabilities.get(kind)).get("listChanged")
        }
        if wanted:
            keep(asyncio.create_task(self._subscribe(wanted)), self._tasks)

    def _take(self, result: Json) -> None:
        self.capabilities = object_of(result.get("capabilities"))
        self.instructions = text_of(result.get("instructions"))

    async def _subscribe(self, wanted: Json) -> None:
        """Hear of changes, as long as the server cares to tell; it may well not."""
        try:
            await self._request("subscriptions/listen", {"notifications": wanted})
        except (RpcError, RpcClosed):
            return

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.link.close()

    # What a server has.

    def offers(self, kind: str) -> bool:
        return isinstance(self.capabilities.get(kind), dict)

    async def listed(self, kind: str) -> list[Json]:
        """All `tools`, `prompts` or `resources`; none if the server has none of that kind."""
        if not self.offers(kind):
            return []
        entries_read: list[Json] = []
        cursor: Any = None
        seen: set[str] = set()
        for _ in range(PAGES):
            page = object_of(await self._request(f"{kind}/list", {} if cursor is None else {"cursor": cursor}))
            entries = page.get(kind)
            entries_read += [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or cursor in seen or len(entries_read) > ENTRIES:
                break
            seen.add(cursor)
        return entries_read[:ENTRIES]

    async def call(self, name: str, arguments: Json, ongoing: Ongoing) -> Json:
        """Call a tool and return its answer, as the protocol has it."""
        return await self._with_rounds("tools/call", {"name": name, "arguments": arguments}, ongoing)

    async def read(self, uri: str) -> Json:
        return await self._with_rounds("resources/read", {"uri": uri}, _SILENT)

    async def prompt(self, name: str, arguments: Json) -> Json:
        return await self._with_rounds("prompts/get", {"name": name, "arguments": arguments}, _SILENT)

    async def _with_rounds(self, method: str, params: Json, ongoing: Ongoing) -> Json:
        """Repeat the request with what the server wants to know, until it is content."""
        async with self._watched(ongoing) as token:
            more: Json = {}
            for _ in range(ROUNDS):
                answer = object_of(await self._request(method, params | more, token))
                if answer.get("resultType") != INPUT_REQUIRED:
                    return answer
                wanted = object_of(answer.get("inputRequests"))
                more = {"requestState": state} if (state := answer.get("requestState")) is not None else {}
                if wanted:
                    more["inputResponses"] = {
                        key: await self._input(object_of(one), ongoing.elicit) for key, one in wanted.items()
                    }
                else:
                    await asyncio.sleep(WAIT)
        raise ToolError(f"The server asked for more {ROUNDS} times and did not come to an end.")

    @asynccontextmanager
    async def _watched(self, ongoing: Ongoing) -> AsyncIterator[str]:
        token = f"call-{next(self._tokens)}"
        self._ongoing[token] = ongoing
        try:
            yield token
        finally:
            del self._ongoing[token]

    async def _request(self, method: str, params: Json, token: str = "") -> Any:
        meta: Json = {"progressToken": token} if token else {}
        if self.link.stateless:
            meta |= {META_VERSION: STATELESS, META_INFO: ourselves(), META_CAPABILITIES: CAPABILITIES}
        return await self.link.peer.request(method, params | {"_meta": meta} if meta else params)

    # What a server says by itself.

    async def _answer(self, method: str, params: Any) -> Json:
        if method == "ping":
            return {}
        return await self._input({"method": method, "params": params}, self._newest_elicit())

    async def _input(self, request: Json, elicit: Elicit) -> Json:
        match request.get("method"):
            case "elicitation/create":
                return await elicit(object_of(request.get("params")))
            case "roots/list":
                return {"roots": [{"uri": self.root.as_uri(), "name": self.root.name}]}
            case method:
                raise RpcError(f"There is no method {method!r} here.", METHOD_NOT_FOUND)

    def _newest_elicit(self) -> Elicit:
        """A question does not say which call it belongs to; the newest is the likeliest."""
        return next(reversed(self._ongoing.values())).elicit if self._ongoing else decline

    def _notified(self, method: str, params: Any) -> None:
        values = object_of(params)
        match method:
            case "notifications/progress":
                token = values.get("progressToken")
                if isinstance(token, str) and (ongoing := self._ongoing.get(token)):
                    ongoing.progress(values)
            case "notifications/tools/list_changed":
                self.changed("tools")
            case "notifications/prompts/list_changed":
                self.changed("prompts")
            case "notifications/resources/list_changed":
                self.changed("resources")


_SILENT = Ongoing(progress=lambda _: None, elicit=decline)

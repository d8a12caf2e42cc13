"""Logging in to a provider or an MCP server in two steps: where the person goes, and what came back."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from toolwright.config.auth import ACCOUNT, AuthFile
from toolwright.errors import ToolwrightError, UsageError
from toolwright.extensions.plugin_logins import Begun, PluginLogins, Way
from toolwright.models.logins import PROVIDERS, log_in

if TYPE_CHECKING:
    from toolwright.workspace import Workspace

KEY = Way(type="api", label="API key", authorizes=False)
OURS = Way(type="oauth", label="Log in", authorizes=True)
PATIENCE = 60.0
"""Seconds in which a login has to say where the person goes."""


class ProviderLogins:
    """The logins of a workspace that are under way."""

    def __init__(self, workspace: "Workspace") -> None:
        self._workspace = workspace
        self._under_way: dict[str, _Login] = {}

    async def ways(self) -> dict[str, list[Way]]:
        """Return how one logs in to each provider: what plugins bring, a login of ours, a key."""
        brought = await plugin_logins(self._workspace)
        ways = {one.id: [KEY] for one in self._workspace.connections.catalog.providers() if one.env}
        for provider in PROVIDERS:
            if provider in ways:
                ways[provider].insert(0, OURS)
        if brought is not None:
            for provider in brought.providers():
                ways[provider] = [*brought.ways(provider), *ways.get(provider, [KEY])]
        return ways

    async def ways_to(self, provider: str) -> list[Way]:
        """Return how one logs in to a provider, or to an account there, of which no plugin knows."""
        service, _, account = provider.partition(ACCOUNT)
        ways = (await self.ways()).get(service, [])
        return [one if one in (KEY, OURS) else replace(one, authorizes=False) for one in ways] if account else ways

    async def log_in(self, provider: str, show: Callable[[str], None]) -> None:
        """Log in to a provider by the first way there is; `show` tells what to do."""
        ways = await self.ways_to(provider)
        way = next((at for at, one in enumerate(ways) if one.authorizes), None)
        if way is None:
            raise UsageError(f"There is no login to {provider}; store a key instead.")
        begun = await self.begin(provider, way, {})
        if begun.method == "code":
            raise UsageError(f"This login asks for more than can be asked here. Run tw auth --login {provider}.")
        for line in dict.fromkeys((begun.instructions, begun.url)):
            if line and not (line == begun.url and begun.url in begun.instructions):
                show(line)
        if not begun.done:
            await self.finish(provider, way)

    async def begin(self, provider: str, way: int, inputs: Mapping[str, str]) -> Begun:
        """Begin to log in to a provider."""
        ways = await self.ways_to(provider)
        if not 0 <= way < len(ways) or not ways[way].authorizes:
            raise UsageError(f"There is no such way to log in to {provider[:80]!r}.")
        brought = await plugin_logins(self._workspace)
        if brought is not None and way < len(brought.ways(provider)):
            return await brought.begin(provider, way, inputs)

        async def with_ours(show: Callable[[str], Awaitable[None]], _code: Callable[[], Awaitable[str]]) -> None:
            tasks: list[asyncio.Task[None]] = []
            env = self._workspace.environment
            service = provider.partition(ACCOUNT)[0]
            record = await log_in(service, env, lambda text: tasks.append(asyncio.ensure_future(show(text))))
            AuthFile(self._workspace.folders.auth).store(provider, record)
            self._workspace.connections.use_stored(provider)

        return await self._begun(provider, with_ours)

    async def finish(self, provider: str, way: int, code: str = "") -> None:
        """Wait until the person has logged in; `code` is what they were given, where a code comes back."""
        brought = await plugin_logins(self._workspace)
        if brought is not None and way < len(brought.ways(provider)):
            await brought.finish(provider, way, code)
        else:
            await self._ended(provider, code)

    async def begin_mcp(self, name: str) -> Begun:
        """Begin to log in to an MCP server."""
        from toolwright.mcp.client.login import log_in as log_in_there

        server = self._workspace.mcp[name]
        if server.type != "remote":
            raise UsageError(f"The MCP server {name} is a program on this machine, where nobody logs in.")

        async def there(show: Callable[[str], Awaitable[None]], code: Callable[[], Awaitable[str]]) -> None:
            await log_in_there(server, _Guide(show, code))

        return await self._begun(f"mcp {name}", there)

    async def finish_mcp(self, name: str, code: str = "") -> None:
        """Wait for it; `code` is that of the address that the browser was sent back to, or the whole address."""
        login = self._under_way.get(f"mcp {name}")
        if code and "://" not in code and login is not None:
            state = parse_qs(urlsplit(login.address).query).get("state", [""])[0]
            code = f"http://localhost/?{urlencode({'code': code, 'state': state})}"
        await self._ended(f"mcp {name}", code)

    async def close(self) -> None:
        for login in self._under_way.values():
            login.task.cancel()
        await asyncio.gather(*(one.task for one in self._under_way.values()), return_exceptions=True)

    async def _begun(self, name: str, work: "Callable[..., Awaitable[None]]") -> Begun:
        if (earlier := self._under_way.pop(name, None)) is not None:
            earlier.task.cancel()
            await asyncio.gather(earlier.task, return_exceptions=True)
        login = self._under_way[name] = _Login(work)
        return await login.shown()

    async def _ended(self, name: str, code: str) -> None:
        login = self._under_way.get(name)
        if login is None:
            raise UsageError("No login was begun.")
        if code and not login.code.done():
            login.code.set_result(code)
        try:
            await asyncio.shield(login.task)
        finally:
            if login.task.done():
                self._under_way.pop(name, None)


async def plugin_logins(workspace: "Workspace") -> PluginLogins | None:
    """Return the logins that plugins bring, once it is known what each plugin does."""
    if workspace.plugins is None:
        return None
    await workspace.plugins.described()
    return workspace.plugins.logins


class _Login:
    """A login that waits for the person."""

    def __init__(self, work: "Callable[..., Awaitable[None]]") -> None:
        loop = asyncio.get_running_loop()
        self.code: asyncio.Future[str] = loop.create_future()
        self._text: asyncio.Future[str] = loop.create_future()
        self.task: asyncio.Task[Any] = asyncio.ensure_future(work(self._show, self._entered))
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def shown(self) -> Begun:
        await asyncio.wait([self.task, self._text], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if self.task.done():
            self.task.result()
            return Begun(done=True)
        if not self._text.done():
            self.task.cancel()
            raise ToolwrightError("The login did not say in time where to go. Try again.")
        text = self._text.result()
        return Begun(url=self.address, instructions=text, method="auto")

    @property
    def address(self) -> str:
        """Return the address that the person goes to."""
        match = re.search(r"https?://\S+", self._text.result()) if self._text.done() else None
        return match.group() if match else ""

    async def _show(self, text: str) -> None:
        if not self._text.done():
            self._text.set_result(text)

    async def _entered(self) -> str:
        return await asyncio.shield(self.code)


class _Guide:
    """Hands the address on, and what was brought back, once."""

    def __init__(self, show: Callable[[str], Awaitable[None]], code: Callable[[], Awaitable[str]]) -> None:
        self._show, self._code = show, code

    async def show(self, address: str) -> None:
        await self._show(address)

    async def entered(self, complaint: str) -> str:
        if complaint:
            raise UsageError(complaint)
        return await self._code()


def way_named(ways: Sequence[Way], label: str) -> int:
    """The place of a way by its label or its number from 1; UsageError if there is none."""
    for at, way in enumerate(ways):
        if label in (way.label, str(at + 1)):
            return at
    labels = "; ".join(f"{at + 1}: {way.label}" for at, way in enumerate(ways))
    raise UsageError(f"There is no way {label!r} to log in. There are {labels}.")

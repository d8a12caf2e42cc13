"""Plugins in files and packages: each in a host of its own, its hooks called in order, within a time."""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from toolwright.config.load import Config
from toolwright.deadline import time_limit
from toolwright.definition import Result, Tool, ToolContext
from toolwright.errors import ToolError
from toolwright.extension import STARTING
from toolwright.extensions.contributions import KINDS as KINDS_ADDED
from toolwright.extensions.contributions import added
from toolwright.extensions.host import Host
from toolwright.extensions.hosts import Hosts
from toolwright.extensions.memory import Memory
from toolwright.extensions.packages import Package, PackageStore, main_of, package_of
from toolwright.extensions.plugin_logins import PluginLogins, kept_by
from toolwright.extensions.tool_files import with_defaults
from toolwright.models.model import ToolSpec
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.registry import Registry, plain_name, ready

log = logging.getLogger(__name__)

KINDS = ("plugin", "plugins")
ENDINGS = (".py", ".js", ".ts", ".mjs", ".mts")
SLOW = 2.0
"""Seconds after which the user sees what is waited for."""
TO_ANSWER = 10.0
"""Seconds for one of its hooks."""
_REMEMBERED = ("hooks", "tools", "passedOver", "config", "logins", "providers")
HOOKS = frozenset(
    {
        "auth",
        "event",
        "provider",
        "tool",
        "tool.execute.before",
        "tool.execute.after",
        "permission.ask",
        "chat.message",
        "chat.params",
        "config",
        "shell.env",
        "tool.definition",
        "experimental.chat.system.transform",
        "experimental.chat.messages.transform",
        "experimental.session.compacting",
    }
)
"""The hooks that are called; others are told to be without effect."""


@record(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """Source of a plugin, before anything of it was run."""

    name: str
    path: Path
    options: Json = field(default_factory=dict[str, Any])
    package: Package | None = None
    """The package that has to be installed, if it is one."""


@record(slots=True, kw_only=True, eq=False)
class Plugin:
    """One plugin, and how it is getting on."""

    source: PluginSource
    status: Literal["inert", "active", "failed"] = "inert"
    hooks: tuple[str, ...] = ()
    tools: tuple[Json, ...] = ()
    providers: tuple[str, ...] = ()
    """The providers whose models it makes."""
    error: str = ""
    fired: set[str] = field(default_factory=set[str])
    joined: bool = False
    """True once its tools are among those of the workspace."""
    started: bool = False
    """True while it runs in its host now."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def to_json(self) -> Json:
        row: Json = {"name": self.source.name, "status": self.status, "hooks": list(self.hooks)}
        return row | ({"error": self.error} if self.error else {})


def plugin_sources(
    config: Config, folders: Sequence[Path], store: PackageStore | None = None
) -> tuple[list[PluginSource], list[tuple[str, str]]]:
    """The plugins that settings and folders name, in the order in which they count, and those that are not there.

    With a store, packages that are not beside the settings are those in it, to be installed when they are started.
    """
    sources: dict[Path, PluginSource] = {}
    missing: list[tuple[str, str]] = []
    for entry, base in _entries(config):
        name, options = named(entry)
        if not isinstance(name, str) or not name:
            missing.append((str(entry)[:80], "expected a path or the name of a package"))
            continue
        path, package = _resolved(name, base, folders), None
        if path is None and store is not None and (package := _package(name)) is not None:
            path = store.entry(package)
        if path is None:
            missing.append((name, "there is no such file, and no such package beside the settings"))
        elif path not in sources:
            chosen = options if isinstance(options, dict) else {}
            sources[path] = PluginSource(name=_short_name(name, path), path=path, options=chosen, package=package)
    for folder in folders:
        for kind in KINDS:
            for path in sorted((folder / kind).glob("*")) if (folder / kind).is_dir() else ():
                if path.suffix in ENDINGS and not path.name.endswith(".d.ts") and path not in sources:
                    sources[path] = PluginSource(name=path.name, path=path)
    return list(sources.values()), missing


def packages_of(config: Config, folders: Sequence[Path]) -> list[Package]:
    """The packages that the settings name and that do not lie beside them."""
    specs = [name for name, _ in plugin_sources(config, folders)[1]]
    return [package for spec in dict.fromkeys(specs) if (package := _package(spec)) is not None]


def named(entry: Any) -> tuple[Any, Any]:
    """Return what an entry names, and its options: `"x"`, `["x", {…}]` or `{"package": "x", "options": {…}}`."""
    if isinstance(entry, list) and len(entry) == 2:
        return entry[0], entry[1]
    if isinstance(entry, dict):
        return entry.get("package"), entry.get("options", {})
    return entry, {}


@record(slots=True, kw_only=True, eq=False)
class Plugins:
    """All plugins of a workspace. Each is started when one of its hooks is first wanted."""

    plugins: Sequence[Plugin]
    hosts: Hosts
    registry: Registry
    memory: Memory
    store: PackageStore
    logins: PluginLogins
    tell: Callable[[str], None] = lambda _words: None
    """Says something to the user."""
    settings: Callable[[], Json] = dict[str, Any]
    """Returns the settings for the hook `config`."""
    join: Callable[[str, Json], list[str]] = lambda _plugin, _added: []
    """Takes what that hook has added, and says what is left out."""
    redefined: dict[int, tuple[ToolSpec, ToolSpec]] = field(default_factory=dict[int, tuple[ToolSpec, ToolSpec]])
    """Tools as the hook `tool.definition` has them described, by the object that was offered."""
    _described: bool = False
    _describing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def described(self) -> None:
        """Know what each plugin brings; those that were not loaded before are started for it."""
        if not self._described:
            async with self._describing:
                await self._describe_all()

    async def _describe_all(self) -> None:
        if self._described:
            return  # while we waited
        await asyncio.gather(*(self._describe(plugin) for plugin in self.plugins if not self._is_known(plugin)))
        for plugin in self.plugins:
            if plugin.status == "active" and not plugin.joined:
                plugin.joined = True
                self._join_tools(plugin)
                await self._join_models(plugin)
        self._described = all(map(self._is_known, self.plugins))

    def _is_known(self, plugin: Plugin) -> bool:
        return plugin.status != "inert"

    def recall(self) -> None:
        """Know of each plugin what it brought when it was last started, as long as it is the same."""
        for plugin in self.plugins:
            known = self.memory.recall(str(plugin.source.path))
            if known is not None and "hooks" in known:
                self._take(plugin, known)

    async def start_all(self) -> None:
        """Start every plugin, for who wants to see whether they work."""
        await self.described()
        await asyncio.gather(*(self._start(plugin) for plugin in self.plugins if plugin.status != "failed"))

    async def fire(self, name: str, data: Json, output: Json | None = None, *, strict: bool = False) -> Json | None:
        """Call one hook of all plugins that have it, one after the other; what the last left is returned.

        A hook that fails or takes too long is told and passed over; where it guards something (`strict`) it raises.
        """
        await self.described()
        for plugin in self.plugins:
            if name not in plugin.hooks or plugin.status == "failed":
                continue
            try:
                answer = await self._ask(plugin, name, data, output)
            except ToolError as error:
                if strict:
                    raise
                plugin.error = f"{name}: {error}"
                log.warning("%s: %s", plugin.source.name, plugin.error)
                continue
            output = answer if isinstance(answer, dict) else output
        return output

    def has(self, name: str) -> bool:
        """Tell whether any plugin may want this hook; yes as long as not all are known."""
        return not self._described or any(name in one.hooks and one.status != "failed" for one in self.plugins)

    async def _ask(self, plugin: Plugin, name: str, data: Json, output: Json | None) -> Any:
        await self._require(plugin)
        host, path = self._host(plugin), str(plugin.source.path)
        try:
            async with time_limit(TO_ANSWER):
                answer = await host.request("hook", {"path": path, "name": name, "input": data, "output": output})
        except TimeoutError:
            host.retire()
            plugin.started = False
            text = f"{name} of the plugin {plugin.source.name} took longer than {TO_ANSWER:g} seconds"
            raise ToolError(f"{text}.", "timeout") from None
        plugin.fired.add(name)
        return answer.get("output") if isinstance(answer, dict) else None

    async def _require(self, plugin: Plugin) -> None:
        """Have a plugin run; ToolError if it does not."""
        await self._start(plugin)
        if plugin.status == "failed" or not plugin.started:
            raise ToolError(f"The plugin {plugin.source.name} could not be started: {plugin.error}")

    async def _describe(self, plugin: Plugin) -> None:
        if plugin.error and self._host(plugin).is_preparing:
            return
        plugin.error = ""
        path = str(plugin.source.path)
        known = self.memory.recall(path)
        if known is not None and "hooks" in known:
            self._take(plugin, known)
            return
        description = await self._start(plugin)
        if description is not None:
            self.memory.store(path, {**description, "files": [path]})

    async def _start(self, plugin: Plugin) -> Json | None:
        async with plugin.lock:
            host = self._host(plugin)
            if plugin.started and host.is_running:
                return None
            request = {
                "path": str(plugin.source.path),
                "directory": str(self.hosts.directory),
                "worktree": str(self.hosts.worktree),
                "options": plugin.source.options,
            }
            waiting = f"The plugin {plugin.source.name} takes its time to start; it is waited for {STARTING:g} seconds"
            slow = asyncio.get_running_loop().call_later(SLOW, self.tell, waiting)
            try:
                self.hosts.check(plugin.source.path)
                async with time_limit(STARTING):
                    description: Any = await host.request("plugin", request)
                    description["config"] = await self._added(plugin, host) if "config" in description["hooks"] else {}
            except (ToolError, TimeoutError, OSError, ValueError) as error:
                self._leave_out(plugin, str(error))
                return None
            finally:
                slow.cancel()
            self._take(plugin, description)
            plugin.started = True
            return {key: description[key] for key in _REMEMBERED if key in description}

    async def _added(self, plugin: Plugin, host: Host) -> Json:
        """Return what its hook `config` adds to the settings."""
        settings = {**{kind: {} for kind in KINDS_ADDED}, **self.settings()}
        request = {"path": str(plugin.source.path), "name": "config", "input": settings, "output": None}
        answer = await host.request("hook", request)
        plugin.fired.add("config")
        return added(settings, answer.get("input") if isinstance(answer, dict) else None)

    def _leave_out(self, plugin: Plugin, reason: str) -> None:
        """For good, unless it is only that what it needs is still being installed."""
        if self._host(plugin).is_preparing:
            plugin.error = "it is left out until its packages are installed"
        else:
            reason = reason or f"it did not start within {STARTING:g} seconds"
            plugin.status, plugin.error = "failed", reason.removeprefix(f"{plugin.source.path}:").strip()
        self.tell(f"The plugin {plugin.source.name} is left out: {plugin.error}")

    def _take(self, plugin: Plugin, description: Mapping[str, Any]) -> None:
        plugin.hooks, plugin.tools = tuple(map(str, description["hooks"])), tuple(description["tools"])
        plugin.status = "active"
        plugin.providers = tuple(map(str, description.get("providers") or ()))
        self.logins.take(partial(self._asked, plugin), description)
        unknown = [name for name in plugin.hooks if name not in HOOKS]
        notes = [f"without effect here: {', '.join(unknown)}"] if unknown else []
        left_out = self.join(plugin.source.name, description.get("config") or {})
        plugin.error = "; ".join([*map(str, description.get("passedOver", ())), *left_out, *notes])

    async def _join_models(self, plugin: Plugin) -> None:
        for provider in plugin.providers:
            try:
                await self.logins.take_models(partial(self._asked, plugin), provider)
            except ToolError as error:
                plugin.error = f"provider: {error}"

    async def _asked(self, plugin: Plugin, method: str, params: Json) -> Any:
        """Return what a plugin answers to something else than a hook."""
        await self._require(plugin)
        return await self._host(plugin).request(method, {"path": str(plugin.source.path), **params})

    def _join_tools(self, plugin: Plugin) -> None:
        for definition in plugin.tools:
            try:
                tool = self._tool(plugin, definition)
            except ValueError as error:
                plugin.error = f"one of its tools is left out: {error}"
                continue
            if tool.id in self.registry:
                plugin.error = f"its tool {tool.id} is left out: {self.registry.origin(tool.id)} already has that name"
            else:
                self.registry.add([ready(tool, plugin.source.name)])

    def _tool(self, plugin: Plugin, definition: Json) -> Tool:
        name, parameters = str(definition["name"]), definition["parameters"]

        async def run(ctx: ToolContext, arguments: Json) -> Result:
            await self._require(plugin)
            path = str(plugin.source.path)
            filled = with_defaults(arguments, parameters)
            return await self._host(plugin).call(path, name, filled, ctx, self.hosts.worktree)

        return Tool(
            id=plain_name(name),
            description=str(definition["description"]),
            parameters=parameters,
            run=run,
            asks=bool(definition.get("asks")),
            act=definition.get("act"),
        )

    def _host(self, plugin: Plugin) -> Host:
        digest = hashlib.sha256(str(plugin.source.path).encode()).hexdigest()[:8]
        package = plugin.source.package
        before = partial(self.store.ensure, package) if package else None
        host = self.hosts.of(plugin.source.path, f"plugin-{digest}", before=before)
        host.keep_login = partial(kept_by, self.logins)
        return host


def _entries(config: Config) -> Iterator[tuple[Any, Path]]:
    """Yield the plugins in the settings, each with the folder that its path starts from."""
    for source in config.sources:
        listed = source.value.get("plugin")
        file = Path(source.name)
        base = file.parent if file.is_absolute() else config.directory
        for entry in listed if isinstance(listed, list) else ():
            yield entry, base


def _package(spec: str) -> Package | None:
    """The package of this name, unless it is an extension that is installed beside us."""
    from toolwright.extensions.typed import entry_point

    return package_of(spec) if entry_point(spec) is None else None


def _resolved(name: str, base: Path, folders: Sequence[Path]) -> Path | None:
    plain = name.removeprefix("file://").removeprefix("file:")
    if plain.startswith((".", "/", "~")):
        path = (base / Path(plain).expanduser()).resolve()
        return path if path.is_file() else main_of(path)
    package = plain if plain.count("@") == plain.startswith("@") else plain.rpartition("@")[0]
    for folder in (*folders, base):
        if (main := main_of(folder / "node_modules" / package)) is not None:
            return main
    return None


def _short_name(name: str, path: Path) -> str:
    return path.name if name.startswith((".", "/", "~", "file:")) else name

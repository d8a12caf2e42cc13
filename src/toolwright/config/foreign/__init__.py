"""Set-ups of Claude Code, Codex and Gemini CLI, read where they lie: agents, MCP servers and permissions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from toolwright.config import jsonc
from toolwright.config.foreign.agents import claude_agent
from toolwright.config.foreign.converted import Converted
from toolwright.config.foreign.found import ForeignSetup, NotUnderstood
from toolwright.config.foreign.permissions import SETUPS, Files, PermissionSetup
from toolwright.config.foreign.plugins import ClaudePlugin, claude_plugins
from toolwright.config.foreign.servers import Server, Variables, claude_server, codex_server, gemini_server
from toolwright.config.jsonc import KeyPath
from toolwright.config.places import between
from toolwright.config.reading import read_text
from toolwright.config.schema import agent_schema, config_schema
from toolwright.config.source import AgentSource, Level, SettingsSource
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.schema.check import problems_with
from toolwright.settings.record import ForeignSection

CLAUDE, CODEX, GEMINI = "Claude Code", "Codex", "Gemini CLI"
MOST_BYTES = 32_000_000
"""Of a file that a program keeps its history in as well."""
MOST_AGENTS = 500


class Reading(Protocol):
    """The parts of a reader of sources that are needed here."""

    folders: Folders
    environment: Mapping[str, str]
    root: Path
    directory: Path
    trusted: bool
    secrets: set[str]

    def admits(self, path: Path, level: Level) -> bool: ...


@record(slots=True, kw_only=True)
class Foreign:
    """Reads what the settings want of other programs. Whatever is ours by the same name stays as it is."""

    reading: Reading
    wanted: ForeignSection
    servers: frozenset[str]
    """Names of servers that our own settings give."""
    agents: frozenset[str]
    setups: list[ForeignSetup] = field(default_factory=list[ForeignSetup])
    plugins: list[ClaudePlugin] = field(default_factory=list[ClaudePlugin])

    def __post_init__(self) -> None:
        self.plugins, left_out = claude_plugins(self.wanted.plugins, self.reading.folders.home, self.reading.root)
        self.setups += left_out

    def sources(self) -> list[SettingsSource]:
        """The files that name MCP servers, weakest first; of two servers with one name the later counts."""
        entries = (one for one in self._server_files() if one[1].is_dir() or self._is_read(one[1], one[2]))
        sources = [source for entry in entries if (source := self._source(*entry)) is not None]
        # What is left out later, because the project is not trusted, takes no place from anything.
        counting = [source for source in sources if self.reading.trusted or source.level != "project"]
        last = {name: source.name for source in counting for name in source.value["mcp"]}
        for source in counting:
            servers = source.value["mcp"]
            for name in [name for name in servers if last[name] != source.name]:
                del servers[name]
                self._leave_out(Path(source.name), name, f"{last[name]} names one too")
        return [source for source in sources if source.value["mcp"]]

    def _is_read(self, file: Path, level: Level) -> bool:
        return file.is_file() and self.reading.admits(file, level)

    def permission_sources(self, servers: Iterable[str]) -> list[SettingsSource]:
        """The permissions of each program as rules, weaker than any of ours; a project's loosen once it is trusted."""
        wanted = {"claude": self.wanted.claude, "codex": self.wanted.codex, "gemini": self.wanted.gemini}
        names = sorted({*self.servers, *servers})
        setups = (SETUPS[key] for key, words in wanted.items() if "permissions" in words)
        return [source for setup in setups for source in self._permissions(setup, names)]

    def _permissions(self, setup: PermissionSetup, servers: Sequence[str]) -> Iterator[SettingsSource]:
        home, *folders = [keeper for keeper, _ in self._keepers()]
        user = setup.files(home, home=True)
        brought = [file for folder in folders for file in setup.files(folder, home=False)]
        project = [file for file in brought if self.reading.admits(file, "project")]
        # What is meant to restrict is not passed over because it cannot be read.
        own = setup.convert(user, (), servers, True)
        try:
            both = setup.convert(user if self.reading.trusted else (), project, servers, self.reading.trusted)
        except ConfigError as error:
            if self.reading.trusted:
                raise
            file, both = project[0], Converted()
            self.setups.append(
                ForeignSetup(program=setup.program, kind="permissions", name="all", file=file, reason=str(error))
            )
        if not (user or project):
            return
        levels: tuple[tuple[Level, Files, Converted], ...] = (("user", user, own), ("project", project, both))
        for level, files, converted in levels:
            # What the program asks about where no rule fits holds as soon as anything of it is here.
            if files or level == "user":
                rules = converted.rules if level == "user" or self.reading.trusted else converted.restricting
                yield SettingsSource(str(files[-1]) if files else setup.program, level, {"permission": list(rules)})
            self.setups += (
                ForeignSetup(
                    program=setup.program, kind="permissions", name=one.piece, file=files[-1], reason=str(one.reason)
                )
                for one in converted.notes
                if files and one.change == "left out"
            )

    def agent_sources(self) -> list[AgentSource]:
        """The agents of Claude Code."""
        agents: dict[str, AgentSource] = {}
        keepers = self._keepers() if "agents" in self.wanted.claude else ()
        places: list[tuple[Path, Level, str]] = [
            (keeper / ".claude" / "agents", level, "") for keeper, level in keepers
        ]
        places += [(folder, "user", f"{one.name}:") for one in self.plugins for folder in one.agents]
        for folder, level, prefix in places:
            for file in sorted(folder.rglob("*.md"))[:MOST_AGENTS] if folder.is_dir() else ():
                if self.reading.admits(file, level):
                    self._agent(file, level, prefix, agents)
        return list(agents.values())

    def _agent(self, file: Path, level: Level, prefix: str, sources: dict[str, AgentSource]) -> None:
        from toolwright.config.markdown import read_document

        name = file.stem
        try:
            document = read_document(read_text(file), str(file))
            name = prefix + str(document.head.get("name") or name)
            if name in self.agents:
                raise NotUnderstood("there is an agent of that name")
            value = claude_agent(document.head, document.body)
            hooks = document.head.get("hooks")
            heeded = prefix or "hooks" in self.wanted.claude
            if hooks and not (heeded and (self.reading.trusted or level != "project")):
                raise NotUnderstood("its hooks guard it, and are read with `hooks` under foreign.claude and with trust")
            if problems := problems_with(value, agent_schema()):
                raise NotUnderstood(f"{problems[0]}")
        except (ConfigError, NotUnderstood) as error:
            self.setups.append(ForeignSetup(program=CLAUDE, kind="agents", name=name, file=file, reason=str(error)))
            return
        self.setups.append(ForeignSetup(program=CLAUDE, kind="agents", name=name, file=file, hooks=hooks))
        sources[name] = AgentSource(name, value, SettingsSource(str(file), level, value), narrows=True)

    # MCP servers.

    def _server_files(self) -> "Iterator[tuple[str, Path, Level, Callable[[], _Listed], Server]]":
        for keeper, level in self._keepers():
            if "mcp" in self.wanted.codex:
                file = keeper / ".codex" / "config.toml"
                yield CODEX, file, level, partial(_codex, file), codex_server
            if "mcp" in self.wanted.gemini:
                file = keeper / ".gemini" / "settings.json"
                yield GEMINI, file, level, partial(_gemini, file), gemini_server
            if "mcp" in self.wanted.claude:
                file = keeper / (".claude.json" if level == "user" else ".mcp.json")
                yield CLAUDE, file, level, partial(self._claude, file, level), claude_server

        for plugin in self.plugins:
            yield (
                CLAUDE,
                plugin.folder,
                "user",
                partial(_Listed, servers=plugin.servers, text="", path=()),
                claude_server,
            )

    def _keepers(self) -> Iterator[tuple[Path, Level]]:
        yield self.reading.folders.home, "user"
        for folder in between(self.reading.root, self.reading.directory):
            if folder != self.reading.folders.home:
                yield folder, "project"

    def _source(
        self, program: str, file: Path, level: Level, listed: "Callable[[], _Listed]", translate: Server
    ) -> SettingsSource | None:
        try:
            listing = listed()
        except ConfigError as error:
            self.setups.append(
                ForeignSetup(program=program, kind="MCP servers", name="all", file=file, reason=str(error))
            )
            return None
        # What a project names of our variables is its own to have once it is trusted, and not before.
        confined = level == "project" and not self.reading.trusted
        variables = Variables(environment={} if confined else self.reading.environment, secrets=self.reading.secrets)
        servers: Json = {}
        for name, entry in listing.servers.items():
            try:
                servers[name] = self._server(name, entry, listing, variables, translate)
                reason = ""
            except NotUnderstood as error:
                reason = str(error)
            self.setups.append(ForeignSetup(program=program, kind="MCP servers", name=name, file=file, reason=reason))
        renamed: dict[KeyPath, KeyPath] = {("mcp", name): (*listing.path, name) for name in servers}
        return SettingsSource(str(file), level, {"mcp": servers}, listing.text, renamed)

    def _server(self, name: str, entry: Any, listing: "_Listed", variables: Variables, translate: Server) -> Json:
        if name in self.servers:
            raise NotUnderstood("our own settings name one too")
        if reason := listing.refused(name):
            raise NotUnderstood(reason)
        if not isinstance(entry, dict):
            raise NotUnderstood("it is not an object")
        server = translate(entry, variables)
        if problems := problems_with({"mcp": {name: server}}, config_schema()):
            raise NotUnderstood(f"{problems[0]}")
        return server

    def _leave_out(self, file: Path, name: str, reason: str) -> None:
        for at, setup in enumerate(self.setups):
            if setup.file == file and setup.name == name and setup.kind == "MCP servers" and not setup.reason:
                self.setups[at] = replace(setup, reason=reason)

    def _claude(self, file: Path, level: Level) -> "_Listed":
        text, document = _json(file)
        if level == "project":
            return _Listed(
                servers=_object(document.get("mcpServers"), file), text=text, path=("mcpServers",), refused=self._off()
            )
        own = _mapping(_mapping(document.get("projects")).get(str(self.reading.root)))
        both = _object(document.get("mcpServers"), file) | _object(own.get("mcpServers"), file)
        return _Listed(servers=both, text=text, path=("mcpServers",), refused=_named_off(own, "disabledMcpServers"))

    def _off(self) -> Callable[[str], str]:
        """Return the servers of a project's `.mcp.json` that Claude Code's own settings switch off."""
        home = self.reading.folders.home
        files = [home / ".claude" / "settings.json"]
        for folder in between(self.reading.root, self.reading.directory):
            files += (folder / ".claude" / name for name in ("settings.json", "settings.local.json"))
        settings: list[Mapping[str, Any]] = [_json(file)[1] for file in dict.fromkeys(files) if file.is_file()]
        if (home / ".claude.json").is_file():
            projects = _mapping(_json(home / ".claude.json")[1].get("projects"))
            settings.append(_mapping(projects.get(str(self.reading.root))))
        checks = [_named_off(one, "disabledMcpjsonServers", "disabledMcpServers") for one in settings]
        checks += [_ruled_off(one) for one in settings]
        return lambda name: next((reason for check in checks if (reason := check(name))), "")


@record(frozen=True, slots=True, kw_only=True)
class _Listed:
    """The servers of one file."""

    servers: Mapping[str, Any]
    text: str
    path: tuple[str, ...]
    refused: Callable[[str], str] = lambda _: ""
    """Why a server is switched off there; empty if it is not."""


def _codex(file: Path) -> _Listed:
    import tomllib

    try:
        document = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is no TOML: {error}") from error
    return _Listed(servers=_object(document.get("mcp_servers"), file), text="", path=("mcp_servers",))


def _gemini(file: Path) -> _Listed:
    text, document = _json(file)
    rules = _mapping(document.get("mcp"))
    allowed = rules.get("allowed", document.get("allowMCPServers"))
    excluded = [*_names(rules.get("excluded")), *_names(document.get("excludeMCPServers"))]

    def refused(name: str) -> str:
        off = name in excluded or (allowed is not None and name not in _names(allowed))
        return "Gemini CLI's settings switch it off" if off else ""

    return _Listed(servers=_object(document.get("mcpServers"), file), text=text, path=("mcpServers",), refused=refused)


def _named_off(settings: Mapping[str, Any], *keys: str) -> Callable[[str], str]:
    off = {name for key in keys for name in _names(settings.get(key))}
    return lambda name: "Claude Code's settings switch it off" if name in off else ""


def _ruled_off(settings: Mapping[str, Any]) -> Callable[[str], str]:
    """`allowedMcpServers` and `deniedMcpServers`, as far as they go by name; by anything else none is used."""
    denied, allowed = settings.get("deniedMcpServers"), settings.get("allowedMcpServers")
    both = [one for one in (denied, allowed) if one is not None]
    entries = [entry for one in both for entry in (one if isinstance(one, list) else [one])]
    if any(not isinstance(entry, dict) or set(entry) != {"serverName"} for entry in entries):
        return lambda _: "Claude Code's settings name the servers that may be used in a way not understood here"
    named, only = ([entry["serverName"] for entry in one or ()] for one in (denied, allowed))
    off = "Claude Code's settings switch it off"
    return lambda name: off if name in named or (allowed is not None and name not in only) else ""


def _json(file: Path) -> tuple[str, Json]:
    text = read_text(file, MOST_BYTES)
    document = jsonc.parse(text, str(file))
    if not isinstance(document, dict):
        raise ConfigError(f"{file}:1: expected an object in braces")
    return text, document


def _object(value: Any, file: Path) -> Json:
    if value is not None and not isinstance(value, dict):
        raise ConfigError(f"{file}: expected servers by name")
    return dict(value or {})


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _names(value: Any) -> list[str]:
    """A list that switches servers on or off. One that is not understood must not be passed over."""
    if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise ConfigError(f"expected a list of servers, got {value!r:.60}")
    return list(value or ())

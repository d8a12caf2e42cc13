"""Find, read, check and merge the configuration that holds for a folder; trust is weighed here and nowhere else."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.config.admit import Admission, left_out_line
from toolwright.config.auth import ACCOUNT, AuthFile
from toolwright.config.content import content_of
from toolwright.config.merge import bounded, merged
from toolwright.config.native_agents import native_agents
from toolwright.config.places import config_folders, find_root
from toolwright.config.reader import SettingsReader
from toolwright.config.reading import READ
from toolwright.config.rules import layers_of, reading_rules
from toolwright.config.source import AgentSource, ConfigFolder, Level, SettingsSource
from toolwright.config.trust import Trust
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.permission.rules import Layer
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.settings import Settings
from toolwright.settings.derive import read as read_settings

if TYPE_CHECKING:
    from toolwright.config.foreign import Foreign
    from toolwright.config.foreign.found import ForeignSetup
    from toolwright.config.foreign.plugins import ClaudePlugin

__all__ = [
    "AgentSource",
    "Config",
    "ConfigFolder",
    "Level",
    "SettingsSource",
    "check_managed",
    "find_root",
    "load_config",
]


@record(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings for a folder: merged for use, and apart for rules, whose origin matters."""

    root: Path
    directory: Path
    settings: Settings = field(default_factory=Settings)
    managed: Settings = field(default_factory=Settings)
    """Settings of the administrator alone: the bounds for what a caller asks for later."""
    trusted: bool = False
    known: Mapping[str, str] | None = None
    """If it is trusted for what is on record: the hashes of that, by path from the root. Nothing else takes effect."""
    sources: tuple[SettingsSource, ...] = ()
    """Settings of each file or text, as far as they take effect, weakest first."""
    agents: tuple[AgentSource, ...] = ()
    folders: tuple[ConfigFolder, ...] = ()
    layers: tuple[Layer, ...] = ()
    """The permission rules for every agent."""
    may_read: Callable[[Path], bool] = lambda _: True
    """Tells whether these rules let every agent read a file."""
    warnings: tuple[str, ...] = ()
    secrets: frozenset[str] = field(default_factory=frozenset[str], repr=False)
    """Values that variables filled in; not to be shown."""
    data: Json = field(default_factory=dict[str, Any])
    """The merged settings as JSON, to be shown."""
    foreign: "tuple[ForeignSetup, ...]" = ()
    claude_plugins: "tuple[ClaudePlugin, ...]" = ()
    """Setups of other programs that the settings want read, in use or not."""


def load_config(
    directory: Path,
    folders: Folders,
    environment: Mapping[str, str],
    *,
    trusted: bool = True,
    as_recorded: bool = False,
    given: Mapping[str, Any] | None = None,
) -> Config:
    """The configuration for a folder. A mistake in any file is a ConfigError; an unknown key only a warning.

    `given` is what a caller says for this one time. A project that is not trusted can tighten but not loosen.
    `as_recorded` says that what it is trusted for is on record: nothing else takes effect, not even what has come in
    the moment since the record was compared with what is there.
    """
    read = dict[Path, str]() if trusted and as_recorded else None
    before = READ.set(read)
    try:
        return _load(directory, folders, environment, trusted=trusted, given=given, read=read)
    finally:
        READ.reset(before)


def _load(
    directory: Path,
    folders: Folders,
    environment: Mapping[str, str],
    *,
    trusted: bool,
    given: Mapping[str, Any] | None,
    read: Mapping[Path, str] | None,
) -> Config:
    directory = directory.resolve()
    root = find_root(directory)
    reader = SettingsReader(folders=folders, environment=environment, root=root, directory=directory, trusted=trusted)
    managed = list(reader.managed())
    user, override = list(reader.files("user")), list(reader.override(given))
    own = layers_of([*user, *override, *managed], folders.home, trusted=True)
    reader.may_read = reading_rules(own, folders, root)
    places = list(config_folders(root, directory, folders, environment))
    sources = [*user, *reader.files("project"), *override, *managed]
    agents = [*_agents(sources), *reader.markdown_agents(places)]
    others = _foreign(reader, sources, agents)
    if others is not None:
        reached = others.sources()
        rules = others.permission_sources(name for source in reached for name in source.value["mcp"])
        sources, agents = [*rules, *reached, *sources], [*others.agent_sources(), *agents]
    known = Trust(folders.trust).hashes(root) if read is not None and trusted else None
    if read and known is not None:
        _require_known(reader, known, read)
    if not trusted:
        reader.warnings += _changed_since_trusted(directory, folders)
        sources, agents = _admitted(reader, sources, agents)
    layers = layers_of(sources, folders.home, trusted=trusted)
    bounds = merged(source.value for source in managed)
    data = bounded(merged(source.value for source in sources if source.level != "managed"), bounds)
    return Config(
        root=root,
        directory=directory,
        settings=read_settings(Settings, data),
        managed=read_settings(Settings, bounds),
        trusted=trusted,
        known=known,
        sources=tuple(sources),
        agents=tuple(agents),
        folders=tuple(places),
        layers=layers,
        may_read=reading_rules(layers, folders, root),
        warnings=tuple(reader.warnings),
        secrets=frozenset(reader.secrets),
        data=data,
        foreign=tuple(others.setups) if others is not None else (),
        claude_plugins=tuple(others.plugins) if others is not None else (),
    )


def _foreign(
    reader: SettingsReader, sources: Sequence[SettingsSource], agents: Sequence[AgentSource]
) -> "Foreign | None":
    """The reader of other programs' set-ups, if the settings want it. An untrusted project has no say in that."""
    ours = [source for source in sources if reader.trusted or source.level != "project"]
    if not any("foreign" in source.value for source in ours):
        return None
    managed = merged(source.value for source in ours if source.level == "managed")
    data = bounded(merged(source.value for source in ours if source.level != "managed"), managed)
    wanted = read_settings(Settings, {"foreign": data.get("foreign", {})}).foreign
    if not (wanted.claude or wanted.codex or wanted.gemini or wanted.plugins):
        return None
    from toolwright.config.foreign import Foreign

    servers = {name for source in ours for name, one in source.value.get("mcp", {}).items() if _is_whole(one)}
    names = _native_names(reader) | {one.name for one in agents if reader.trusted or one.source.level != "project"}
    return Foreign(reading=reader, wanted=wanted, servers=frozenset(servers), agents=frozenset(names))


def _native_names(reader: SettingsReader) -> frozenset[str]:
    return frozenset(agent.name for agent in native_agents(reader.folders))


def _is_whole(server: Mapping[str, Any]) -> bool:
    """Return whether it says how a server is reached, and not only, say, that another's is switched off."""
    return "command" in server or "url" in server


def check_managed(environment: Mapping[str, str]) -> None:
    """Stop a command that needs no configuration where the administrator's is broken."""
    here = Path.cwd()
    reader = SettingsReader(
        folders=Folders.of(environment), environment=environment, root=here, directory=here, trusted=False
    )
    list(reader.managed())


def _require_known(reader: SettingsReader, known: Mapping[str, str], read: Mapping[Path, str]) -> None:
    """Refuse a file that the user has not trusted: it could have come since the project was looked at.

    A command that runs in the project just now can make settings where there are none, until it is over.
    """
    for path, content in read.items():
        by_name = path in reader.brought and known.get(os.path.relpath(path, reader.root)) != content
        if by_name or (path in reader.included and content not in known.values()):
            raise ConfigError(
                f"{path} has changed since the project was trusted, just while its settings were read."
                " Start again; if it is there then, tw trust shows what it says."
            )


def _agents(sources: Sequence[SettingsSource]) -> Iterator[AgentSource]:
    for source in sources:
        for name, value in source.value.get("agent", {}).items():
            yield AgentSource(name, value, source, ("agent", name))


def _changed_since_trusted(directory: Path, folders: Folders) -> Iterator[str]:
    """The line for a project that was trusted once, but not as it is now."""
    trust = Trust(folders.trust)
    if trust.knows(find_root(directory)):
        names = [change.name for change in trust.changes(content_of(directory, folders))] or ["its origin"]
        listed = ", ".join(name if name.isprintable() else ascii(name) for name in names[:5])
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        yield f"changed since you trusted the project: {listed}{more}; tw trust shows how and asks anew"


def _admitted(
    reader: SettingsReader, sources: Sequence[SettingsSource], agents: Sequence[AgentSource]
) -> tuple[list[SettingsSource], list[AgentSource]]:
    """Return the settings that take effect while the project is not trusted; the others are told in one line."""
    own = merged(source.value for source in sources if source.level != "project")
    with_a_key = {*own.get("provider", {}), *AuthFile(reader.folders.auth).records()}
    admission = Admission(
        agents=_native_names(reader) | {agent.name for agent in agents if agent.source.level != "project"},
        providers=frozenset(name for one in with_a_key for name in (one, one.partition(ACCOUNT)[0])),
        left_out=reader.left_out,
    )
    current = merged(source.value for source in sources if source.level == "user")
    kept: list[SettingsSource] = []
    for source in sources:
        value = source.value
        if source.level == "project":
            value = admission.admitted(value, current)
            current = merged([current, value])
        kept.append(replace(source, value=value))
    files = [agent for agent in agents if not agent.path]
    from_files = [
        replace(agent, value=admission.agent(agent.name, agent.value)) if agent.source.level == "project" else agent
        for agent in files
    ]
    if admission.left_out:
        reader.warnings.append(left_out_line(admission.left_out))
    return kept, [*_agents(kept), *from_files]

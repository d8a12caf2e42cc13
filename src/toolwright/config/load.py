"""Find, read, check and merge the configuration that holds for a folder; trust is weighed here and nowhere else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolwright.auth import AuthFile
from toolwright.config import jsonc
from toolwright.config.admit import (
    NATIVE_AGENTS,
    SHIPPED_PROVIDERS,
    Admission,
    left_out_line,
    without_scripts,
)
from toolwright.config.merge import bounded, merged
from toolwright.config.places import config_files, config_folders, find_root, managed_files, variable
from toolwright.config.reading import read_text
from toolwright.config.schema import agent_schema, config_schema
from toolwright.config.source import AgentSource, ConfigFolder, Level, Source
from toolwright.config.substitute import Substitution
from toolwright.config.warn import unknown_keys
from toolwright.errors import ConfigError
from toolwright.folders import Folders
from toolwright.schema import Problem, problems_with, shown_path
from toolwright.settings import Settings
from toolwright.settings.derive import read

__all__ = ["AgentSource", "Config", "ConfigFolder", "Level", "Source", "find_root", "load_config"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings for a folder: merged for use, and apart for rules, whose origin matters."""

    root: Path
    directory: Path
    settings: Settings = field(default_factory=Settings)
    trusted: bool = False
    sources: tuple[Source, ...] = ()
    """What each file or text says, as far as it takes effect, weakest first."""
    agents: tuple[AgentSource, ...] = ()
    folders: tuple[ConfigFolder, ...] = ()
    warnings: tuple[str, ...] = ()
    data: Json = field(default_factory=dict[str, Any])

    def said_by(self, *levels: Level) -> Json:
        """The settings of some levels alone, merged."""
        return merged(source.value for source in self.sources if source.level in levels)

    def get(self, *path: str, default: Any = None) -> Any:
        """A setting by its path of keys."""
        value: Any = self.data
        for key in path:
            if not isinstance(value, Mapping) or key not in value:
                return default
            value = value[key]
        return value


def load_config(
    directory: Path,
    folders: Folders,
    environment: Mapping[str, str],
    *,
    trusted: bool = True,
    given: Mapping[str, Any] | None = None,
) -> Config:
    """The configuration for a folder. A mistake in any file is a ConfigError; an unknown key only a warning.

    `given` is what a caller says for this one time. A project that is not trusted can tighten but not loosen.
    """
    directory = directory.resolve()
    root = find_root(directory)
    reader = _Reader(folders, environment, None if trusted else root)
    places = list(config_folders(root, directory, folders, environment))
    sources = list(reader.sources(root, directory, given))
    agents = [*_agents(sources), *reader.markdown_agents(places)]
    if not trusted:
        sources, agents = reader.admitted(sources, agents)
    data = bounded(
        merged(source.value for source in sources if source.level != "managed"),
        merged(source.value for source in sources if source.level == "managed"),
    )
    return Config(
        root=root,
        directory=directory,
        settings=read(Settings, data),
        trusted=trusted,
        sources=tuple(sources),
        agents=tuple(agents),
        folders=tuple(places),
        warnings=tuple(reader.warnings),
        data=data,
    )


@dataclass(slots=True)
class _Reader:
    """Reads files and keeps the warnings they give."""

    folders: Folders
    environment: Mapping[str, str]
    untrusted: Path | None = None
    left_out: list[str] = field(default_factory=list[str])
    """What does not take effect because the project is not trusted."""
    warnings: list[str] = field(default_factory=list[str])

    def sources(self, root: Path, directory: Path, given: Mapping[str, Any] | None) -> Iterator[Source]:
        """Every file that exists, weakest first."""
        for path, level in config_files(root, directory, self.folders, self.environment):
            if path.is_file():
                yield self.read_file(path, level)
        for name, text in variable(self.environment, "CONFIG_CONTENT"):
            yield self.read_text(text, name, "override", directory)
        for name, text in variable(self.environment, "PERMISSION"):
            yield self.read_text(f'{{"permission": {text}}}', name, "override", directory)
        if given:
            yield self.read_text(_as_text(given), "config=", "override", directory)
        for path, required in managed_files(self.environment):
            if required or path.exists():
                yield self.read_file(path, "managed")

    def read_file(self, path: Path, level: Level) -> Source:
        return self.read_text(read_text(path), str(path), level, path.parent)

    def read_text(self, text: str, name: str, level: Level, folder: Path) -> Source:
        raw = jsonc.parse(text, name)
        if not isinstance(raw, dict):
            raise ConfigError(f"{name}:1: expected an object in braces, got {type(raw).__name__}.")
        source = self._filled(Source(name, level, raw, text), folder)
        self._check(source, config_schema())
        self.warnings += unknown_keys(source, Settings)
        return replace(source, value=_older_names(self._without_scripts(source)))

    def _filled(self, source: Source, folder: Path) -> Source:
        root = self.untrusted if source.level == "project" else None
        substitution = Substitution(
            folder=folder,
            home=self.folders.home,
            environment=self.environment if root is None else {},
            where=source.where,
            may_read=lambda file: root is None or file.is_relative_to(root),
        )
        filled = replace(source, value=substitution.apply(source.value))
        self.left_out += (shown_path(path) for path in substitution.left_out)
        return filled

    def markdown_agents(self, places: Sequence[ConfigFolder]) -> Iterator[AgentSource]:
        for place in places:
            for kind, mode in (("agent", None), ("agents", None), ("mode", "primary"), ("modes", "primary")):
                folder = place.path / kind
                for file in sorted(folder.rglob("*.md")) if folder.is_dir() else ():
                    yield self._markdown_agent(file, folder, place.level, mode)

    def admitted(
        self, sources: Sequence[Source], agents: Sequence[AgentSource]
    ) -> tuple[list[Source], list[AgentSource]]:
        """What takes effect while the project is not trusted; what does not is told in one line."""
        own = merged(source.value for source in sources if source.level != "project")
        admission = Admission(
            agents=NATIVE_AGENTS | {agent.name for agent in agents if agent.source.level != "project"},
            providers=SHIPPED_PROVIDERS | set(own.get("provider", {})) | set(AuthFile(self.folders.auth).records()),
        )
        standing = merged(source.value for source in sources if source.level == "user")
        kept: list[Source] = []
        for source in sources:
            if source.level == "project":
                source = replace(source, value=admission.admitted(source.value, standing))
                standing = merged([standing, source.value])
            kept.append(source)
        kept_agents = [*_agents(kept)]
        for agent in agents:
            if not agent.path:
                project = agent.source.level == "project"
                value = admission.agent(agent.name, agent.value) if project else agent.value
                kept_agents.append(replace(agent, value=value))
        if left_out := [*self.left_out, *admission.left_out]:
            self.warnings.append(left_out_line(left_out))
        return kept, kept_agents

    def _without_scripts(self, source: Source) -> Json:
        if source.level != "project":
            return source.value
        left_out: list[str] = []
        value = without_scripts(source.value, left_out)
        self.warnings += [
            f"{source.where(tuple(path.split('.')))}: a script as the model is for you to name with --model; left out"
            for path in left_out
        ]
        return value

    def _markdown_agent(self, file: Path, folder: Path, level: Level, mode: str | None) -> AgentSource:
        from toolwright.config.markdown import read_document

        document = read_document(read_text(file), str(file))
        value = document.head | ({"prompt": document.body} if document.body else {})
        value |= {"mode": mode} if mode else {}
        source = Source(str(file), level, value)
        self._check(source, agent_schema())
        source = replace(source, value=self._without_scripts(source))
        return AgentSource(file.relative_to(folder).with_suffix("").as_posix(), source.value, source)

    def _check(self, source: Source, schema: Json) -> None:
        problems = problems_with(source.value, schema)
        if problems:
            lines = "\n".join(_located(source, problem) for problem in problems)
            raise ConfigError(f"The configuration has mistakes:\n{lines}")


def _as_text(given: Mapping[str, Any]) -> str:
    try:
        return json.dumps(given)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"config= takes what a configuration file may hold, but: {error}.") from error


def _located(source: Source, problem: Problem) -> str:
    return f"{source.where(problem.path)}: {problem}"


def _older_names(value: Json) -> Json:
    """Settings under the name that the record has for them."""
    limits = value.get("tool_output")
    modes = value.get("mode")
    found = {key: entry for key, entry in value.items() if key not in ("tool_output", "mode")}
    if limits:
        found["truncate"] = limits | value.get("truncate", {})
    if modes:
        primary = {name: entry | {"mode": "primary"} for name, entry in modes.items()}
        found["agent"] = merged([primary, value.get("agent", {})])
    return found


def _agents(sources: Sequence[Source]) -> Iterator[AgentSource]:
    for source in sources:
        for name, value in source.value.get("agent", {}).items():
            yield AgentSource(name, value, source, ("agent", name))

"""Find, read, check and merge the configuration files that hold for a folder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from toolwright.config import jsonc
from toolwright.config.jsonc import KeyPath, Position
from toolwright.config.schema import AGENT, CONFIG
from toolwright.config.substitute import Substitution
from toolwright.errors import ConfigError
from toolwright.folders import Folders
from toolwright.schema import Problem, problems_with, shown_path

Json = dict[str, Any]
Level = Literal["user", "project", "override"]
"""Who a setting comes from: the user, the project, or the user for this one run."""

# Files of the reference come first, so that ours win.
_FAMILIES = ("opencode", "toolwright")
_JOINED_LISTS = ("plugin", "instructions")


@dataclass(frozen=True)
class Source:
    """One file of settings, or a text given in its place."""

    name: str
    level: Level
    value: Json
    text: str = ""
    offset: int = 0
    """Lines above the text, for settings at the head of a Markdown file."""

    @cached_property
    def _positions(self) -> dict[KeyPath, Position]:
        return jsonc.positions(self.text)

    def where(self, path: KeyPath = ()) -> str:
        """`toolwright.json:12`, as near to the setting as the file tells."""
        while path:
            if (position := self._positions.get(path)) is not None:
                return f"{self.name}:{position.line + self.offset}"
            path = path[:-1]
        return self.name


@dataclass(frozen=True, slots=True)
class AgentSource:
    """Settings of one agent, and where they come from."""

    name: str
    value: Json
    source: Source
    path: KeyPath = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFolder:
    """A folder that may hold agents, commands, skills, tools and plugins."""

    path: Path
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings for a folder: merged for use, and apart for rules, whose origin matters."""

    root: Path
    directory: Path
    sources: tuple[Source, ...] = ()
    agents: tuple[AgentSource, ...] = ()
    folders: tuple[ConfigFolder, ...] = ()
    warnings: tuple[str, ...] = ()
    data: Json = field(default_factory=dict[str, Any])

    def said_by(self, *levels: Level) -> Json:
        """The settings of some levels alone, merged."""
        return _merged([source.value for source in self.sources if source.level in levels])

    def get(self, *path: str, default: Any = None) -> Any:
        """A setting by its path of keys."""
        value: Any = self.data
        for key in path:
            if not isinstance(value, Mapping) or key not in value:
                return default
            value = value[key]
        return value


def load_config(directory: Path, folders: Folders, environment: Mapping[str, str], *, trusted: bool = True) -> Config:
    """The configuration for a folder. A mistake in any file is a ConfigError; an unknown key only a warning.

    A project that is not trusted cannot fill in variables of the environment, or files that lie outside of it.
    """
    directory = directory.resolve()
    root = find_root(directory)
    reader = _Reader(folders, environment, None if trusted else root)
    places = list(_config_folders(root, directory, folders, environment))
    sources = tuple(reader.sources(root, directory))
    agents = tuple(_agents(sources)) + tuple(reader.markdown_agents(places))
    return Config(
        root=root,
        directory=directory,
        sources=sources,
        agents=agents,
        folders=tuple(places),
        warnings=tuple(reader.warnings),
        data=_merged([source.value for source in sources]),
    )


def find_root(directory: Path) -> Path:
    """The top of the git work tree that holds the folder, or the folder itself."""
    for folder in (directory, *directory.parents):
        if (folder / ".git").exists():
            return folder
    return directory


def _between(root: Path, directory: Path) -> list[Path]:
    """The folders from the root down to the one opened."""
    parents = [folder for folder in (directory, *directory.parents) if folder.is_relative_to(root)]
    return parents[::-1]


def _variable(environment: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """A variable of the reference and ours, the stronger last."""
    for family in _FAMILIES:
        key = f"{family.upper()}_{name}"
        if environment.get(key):
            yield key, environment[key]


def _config_folders(
    root: Path, directory: Path, folders: Folders, environment: Mapping[str, str]
) -> Iterator[ConfigFolder]:
    for path in (folders.reference_config, folders.config, *(folders.home / f".{name}" for name in _FAMILIES)):
        yield ConfigFolder(path=path, level="user")
    for folder in _between(root, directory):
        if folder != folders.home:
            for name in _FAMILIES:
                yield ConfigFolder(path=folder / f".{name}", level="project")
    for _, given in _variable(environment, "CONFIG_DIR"):
        yield ConfigFolder(path=Path(given), level="override")


@dataclass(slots=True)
class _Reader:
    """Reads files and keeps the warnings they give."""

    folders: Folders
    environment: Mapping[str, str]
    untrusted: Path | None = None
    warnings: list[str] = field(default_factory=list[str])

    def sources(self, root: Path, directory: Path) -> Iterator[Source]:
        """Every file that exists, weakest first."""
        for path, level in self._files(root, directory):
            if path.is_file():
                yield self.read_file(path, level)
        for name, text in _variable(self.environment, "CONFIG_CONTENT"):
            yield self.read_text(text, name, "override", directory)
        for name, text in _variable(self.environment, "PERMISSION"):
            yield self.read_text(f'{{"permission": {text}}}', name, "override", directory)

    def _files(self, root: Path, directory: Path) -> Iterator[tuple[Path, Level]]:
        yield self.folders.reference_config / "config.json", "user"
        user = [self.folders.reference_config, self.folders.config]
        for folder, family in zip(user, _FAMILIES, strict=True):
            yield from _both(folder, family, "user")
        for family in _FAMILIES:
            yield from _both(self.folders.home / f".{family}", family, "user")
        for _, path in _variable(self.environment, "CONFIG"):
            yield Path(path), "user"
        for folder in _between(root, directory):
            for family in _FAMILIES:
                yield from _both(folder, family, "project")
            for family in _FAMILIES if folder != self.folders.home else ():
                yield from _both(folder / f".{family}", family, "project")
        for key, path in _variable(self.environment, "CONFIG_DIR"):
            yield from _both(Path(path), key.partition("_")[0].lower(), "override")

    def read_file(self, path: Path, level: Level) -> Source:
        return self.read_text(_text_of(path), str(path), level, path.parent)

    def read_text(self, text: str, name: str, level: Level, folder: Path) -> Source:
        raw = jsonc.parse(text, name)
        if not isinstance(raw, dict):
            raise ConfigError(f"{name}:1: expected an object in braces, got {type(raw).__name__}.")
        unfilled = Source(name, level, raw, text)
        confined = self.untrusted if level == "project" else None
        substitution = Substitution(
            folder=folder,
            home=self.folders.home,
            environment={} if confined else self.environment,
            where=unfilled.where,
            confined_to=confined,
        )
        source = Source(name, level, substitution.apply(raw), text)
        self._check(source, CONFIG)
        return source

    def markdown_agents(self, places: Sequence[ConfigFolder]) -> Iterator[AgentSource]:
        for place in places:
            for kind, mode in (("agent", None), ("agents", None), ("mode", "primary"), ("modes", "primary")):
                folder = place.path / kind
                for file in sorted(folder.rglob("*.md")) if folder.is_dir() else ():
                    yield self._markdown_agent(file, folder, place.level, mode)

    def _markdown_agent(self, file: Path, folder: Path, level: Level, mode: str | None) -> AgentSource:
        from toolwright.config.markdown import read_document

        document = read_document(_text_of(file), str(file))
        value = document.head | ({"prompt": document.body} if document.body else {})
        value |= {"mode": mode} if mode else {}
        source = Source(str(file), level, value)
        self._check(source, AGENT)
        name = value.get("name") or file.relative_to(folder).with_suffix("").as_posix()
        return AgentSource(name, value, source)

    def _check(self, source: Source, schema: Json) -> None:
        problems = problems_with(source.value, schema)
        if problems:
            lines = "\n".join(_located(source, problem) for problem in problems)
            raise ConfigError(f"The configuration has mistakes:\n{lines}")
        if schema is CONFIG:
            self.warnings += _unknown_keys(source, source.value, schema, ())


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error


def _both(folder: Path, family: str, level: Level) -> Iterator[tuple[Path, Level]]:
    yield folder / f"{family}.json", level
    yield folder / f"{family}.jsonc", level


def _located(source: Source, problem: Problem) -> str:
    return f"{source.where(problem.path)}: {problem}"


def _unknown_keys(source: Source, value: Json, schema: Json, path: KeyPath) -> Iterator[str]:
    known = schema.get("properties")
    if known is None or "additionalProperties" in schema:
        return
    for key, entry in value.items():
        if key not in known:
            yield f"{source.where((*path, key))}: unknown key {shown_path((*path, key))!r}{_nearest(key, known)}"
        elif isinstance(entry, dict):
            yield from _unknown_keys(source, entry, known[key], (*path, key))


def _nearest(key: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else "; it is ignored"


def _agents(sources: Sequence[Source]) -> Iterator[AgentSource]:
    for source in sources:
        for name, value in source.value.get("mode", {}).items():
            yield AgentSource(name, value | {"mode": "primary"}, source, ("mode", name))
        for name, value in source.value.get("agent", {}).items():
            yield AgentSource(name, value, source, ("agent", name))


def _merged(values: Sequence[Json]) -> Json:
    merged: Json = {}
    for value in values:
        merged = _merge(merged, value, ())
    return merged


def _merge(lower: Json, higher: Json, path: tuple[str, ...]) -> Json:
    """The higher wins; objects are merged key by key, two kinds of list are joined."""
    merged = dict(lower)
    for key, value in higher.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[key] = _merge(before, value, (*path, key))
        elif not path and key in _JOINED_LISTS and isinstance(before, list):
            merged[key] = [*before, *(entry for entry in value if entry not in before)]
        else:
            merged[key] = value
    return merged

"""Reads one source after the other: parsed, filled in, brought into our shape and checked, at a bounded cost."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from toolwright.config import jsonc
from toolwright.config.admit import without_scripts
from toolwright.config.places import config_files, managed_files, misspelt_variables, variable
from toolwright.config.reading import read_text
from toolwright.config.schema import agent_schema, config_schema
from toolwright.config.shapes import Shapes
from toolwright.config.source import AgentSource, ConfigFolder, Level, SettingsSource
from toolwright.config.substitute import Substituter
from toolwright.config.warn import Warnings
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.machine.own_files import MANAGED_VARIABLE
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.schema.basics import shown_path
from toolwright.schema.check import problems_with
from toolwright.settings.record import RESERVED_OPTIONS

MOST_ENTRIES = 20_000
"""Keys and list entries in one source; beyond that nobody wrote it by hand."""
MOST_AGENT_FILES = 500
MOST_PROBLEMS = 20
GIVEN = "config="
"""Name of the settings that a program gives."""
_AGENT_FOLDERS = (("agent", None), ("agents", None), ("mode", "primary"), ("modes", "primary"))


@record(slots=True, kw_only=True)
class SettingsReader:
    """Reads the sources for one folder and keeps what there is to say about them."""

    folders: Folders
    environment: Mapping[str, str]
    root: Path
    directory: Path
    trusted: bool
    may_read: Callable[[Path], bool] = lambda _: True
    """Tells which files of the project the rules let be read."""
    left_out: list[str] = field(default_factory=list[str])
    """Settings without effect because the project is not trusted."""
    warnings: list[str] = field(default_factory=list[str])
    secrets: set[str] = field(default_factory=set[str])
    """Values that variables filled in."""
    brought: set[Path] = field(default_factory=set[Path])
    """Files of the project that took effect because it is trusted."""
    included: set[Path] = field(default_factory=set[Path])
    """Files of the project that were filled in for the same reason."""

    def files(self, *levels: Level) -> Iterator[SettingsSource]:
        """The files of some levels that are there, weakest first. One that is named and missing stops everything."""
        named = {Path(path): name for name, path in variable(self.environment, "CONFIG")}
        for path, level in config_files(self.root, self.directory, self.folders, self.environment):
            if level not in levels:
                continue
            if path in named and not _is_there(path):
                raise ConfigError(
                    f"There is no file {path}, but {named[path]} names it. Write it, or unset {named[path]}."
                )
            if _is_there(path) and self.admits(path, level):
                yield self.file(path, level)

    def override(self, overrides: Mapping[str, Any] | None) -> Iterator[SettingsSource]:
        """Yield what is said for this one run."""
        self.warnings += misspelt_variables(self.environment)
        for name, path in variable(self.environment, "CONFIG_DIR"):
            if not Path(path).is_dir():
                self.warnings.append(f"there is no folder {path}, but {name} names it")
        yield from self.files("override")
        for name, text in variable(self.environment, "CONFIG_CONTENT"):
            yield self._text_source(text, name, "override", self.directory)
        for name, text in variable(self.environment, "PERMISSION"):
            yield self._text_source(f'{{"permission": {text}}}', name, "override", self.directory)
        if overrides:
            yield self._of_program(overrides)

    def _of_program(self, overrides: Mapping[str, Any]) -> SettingsSource:
        """Return a program's settings. Its slips are errors, raised where it makes them."""
        source = self._read(_as_text(overrides), GIVEN, "override", self.directory)
        warnings = Warnings(source).of_settings()
        if warnings.unknown:
            raise ConfigError("\n".join(f"{GIVEN}: {one}" for one in warnings.unknown[:MOST_PROBLEMS]))
        return self._cleaned(source, warnings)

    def managed(self) -> Iterator[SettingsSource]:
        """Yield what the administrator says. A file that is named and missing stops everything."""
        for path, named in managed_files(self.environment):
            try:
                there = named or path.exists()
            except OSError:
                there = True
            if there:
                try:
                    yield self.file(path, "managed")
                except ConfigError as error:
                    whose = f"{MANAGED_VARIABLE} names it. " if named else ""
                    raise ConfigError(
                        f"{error} This file is the administrator's. {whose}Nothing runs without it."
                    ) from error

    def markdown_agents(self, places: Sequence[ConfigFolder]) -> Iterator[AgentSource]:
        """Agents in files of their own."""
        count = 0
        for place in places:
            files: dict[str, Path] = {}
            for kind, mode in _AGENT_FOLDERS:
                folder = place.path / kind
                for file in sorted(folder.rglob("*.md")) if folder.is_dir() else ():
                    count += 1
                    if count > MOST_AGENT_FILES:
                        raise ConfigError(f"{folder}: there are more than {MOST_AGENT_FILES} files of agents.")
                    if self.admits(file, place.level) and (
                        agent := self._markdown_agent(file, folder, place.level, mode)
                    ):
                        yield self._unlike(agent, files, file)

    def admits(self, path: Path, level: Level) -> bool:
        """Return whether a file may be read at all: not if an untrusted project links to what is not its own."""
        if level != "project":
            return True
        if self.trusted:
            self.brought.add(path)
            return True
        try:
            file = path.resolve()
        except (OSError, RuntimeError):
            return False
        if file.is_relative_to(self.root) and self.may_read(file):
            return True
        self.left_out.append(path.name)
        return False

    def file(self, path: Path, level: Level) -> SettingsSource:
        """One file of settings, as if it stood at this level."""
        return self._text_source(read_text(path), str(path), level, path.parent)

    def _text_source(self, text: str, name: str, level: Level, folder: Path) -> SettingsSource:
        source = self._read(text, name, level, folder)
        return self._cleaned(source, Warnings(source).of_settings())

    def _read(self, text: str, name: str, level: Level, folder: Path) -> SettingsSource:
        raw = jsonc.parse(text, name)
        if not isinstance(raw, dict):
            raise ConfigError(f"{name}:1: expected an object in braces, got {type(raw).__name__}.")
        _require_modest(raw, name)
        source = SettingsSource(name, level, raw, text)
        shapes = Shapes(source.where)
        source = replace(source, value=shapes.apply(raw), renamed=shapes.renamed)
        source = self._filled(source, folder)
        _check(source, config_schema())
        return source

    def _markdown_agent(self, file: Path, folder: Path, level: Level, mode: str | None) -> AgentSource | None:
        from toolwright.config.markdown import Document, read_document

        path = file.relative_to(folder).with_suffix("").as_posix()
        text = read_text(file)
        try:
            document = read_document(text, str(file))
        except ConfigError as error:
            # The others go on. What this one forbids is not known, so that nobody works as it.
            self.warnings.append(f"{error} Until then there is no agent {path!r}.")
            if level == "project" and not self.trusted:
                return None
            document = Document({"disable": True}, "")
        value = document.head | ({"prompt": document.body} if document.body else {})
        value |= {"mode": mode} if mode else {}
        _require_modest(value, str(file))
        source = SettingsSource(str(file), level, value)
        source = checked_agent(source)
        source = self._cleaned(source, Warnings(source).of_agent())
        name = source.value.get("name", "").strip()
        if not name or name == path or not name.isprintable():
            return AgentSource(path, source.value, source)
        return AgentSource(name, source.value, source, other_name=path)

    def _unlike(self, agent: AgentSource, files: dict[str, Path], file: Path) -> AgentSource:
        """The agent by its path where another file of the folder has the name: a copy may have kept its head."""
        if agent.other_name and agent.name in files:
            self.warnings.append(
                f"{file}: {files[agent.name]} has the name {agent.name!r} already; this agent is {agent.other_name}"
            )
            agent = replace(agent, name=agent.other_name, other_name="")
        files.setdefault(agent.name, file)
        return agent

    def _filled(self, source: SettingsSource, folder: Path) -> SettingsSource:
        confined = source.level == "project" and not self.trusted

        def may_read(file: Path) -> bool:
            inside = file.is_relative_to(self.root)
            if source.level == "project" and self.trusted and inside:
                self.included.add(file)
            return not confined or (inside and self.may_read(file))

        substitution = Substituter(
            folder=folder,
            home=self.folders.home,
            environment={} if confined else self.environment,
            where=source.where,
            may_read=may_read,
        )
        filled = replace(source, value=substitution.apply(source.value))
        self.left_out += (shown_path(path) for path in substitution.left_out)
        self.secrets |= substitution.secrets
        return filled

    def _cleaned(self, source: SettingsSource, warnings: Warnings) -> SettingsSource:
        """The source without what must not take effect whoever trusts it."""
        self.warnings += warnings.lines
        value = _without(source.value, warnings.slips)
        if source.level == "project" and self.trusted:
            scripts: list[tuple[str, ...]] = []
            value = without_scripts(value, scripts)
            self.warnings += (
                f"{source.where(path)}: a script in the place of a model is for you to name, with --model; left out"
                for path in scripts
            )
        return replace(source, value=_without_reserved(value))


def _is_there(path: Path) -> bool:
    """Also if it is a folder or leads nowhere: whoever reads it says so, and nothing is passed over in silence."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _as_text(settings: Mapping[str, Any]) -> str:
    try:
        return json.dumps(settings, default=_plain)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"config= takes what a configuration file may hold, but: {error}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _require_modest(value: Any, name: str) -> None:
    level, count = [value], 0
    while level:
        level = [entry for one in level for entry in (one.values() if isinstance(one, dict) else one)]
        count += len(level)
        if count > MOST_ENTRIES:
            raise ConfigError(f"{name}: it has more than {MOST_ENTRIES} entries. Nothing of it is used.")
        level = [entry for entry in level if isinstance(entry, dict | list)]


def checked_agent(source: SettingsSource) -> SettingsSource:
    """The settings of one agent in today's form. ConfigError if they say what none can say."""
    source = replace(source, value=Shapes(source.where).agent(source.value))
    _check(source, agent_schema())
    return source


def _check(source: SettingsSource, schema: Json) -> None:
    problems = problems_with(source.value, schema)
    if problems:
        lines = [
            f"{source.where(one.path)}: {replace(one, path=source.written(one.path))}"
            for one in problems[:MOST_PROBLEMS]
        ]
        raise ConfigError("\n".join(["The configuration has mistakes:", *lines]))


def _without(value: Json, paths: Sequence[tuple[str | int, ...]]) -> Json:
    for path in paths:
        value = _dropped(value, path)
    return value


def _dropped(value: Json, path: tuple[Any, ...]) -> Json:
    if len(path) == 1:
        return {key: entry for key, entry in value.items() if key != path[0]}
    return value | {path[0]: _dropped(value[path[0]], path[1:])}


def _without_reserved(value: Json) -> Json:
    """Options of models that would replace parts of the request are not options."""
    providers = value.get("provider")
    if not providers:
        return value
    return value | {"provider": {name: _plain_provider(record) for name, record in providers.items()}}


def _plain_provider(record: Json) -> Json:
    if not isinstance(record.get("models"), Mapping):
        return record
    return record | {"models": {name: _plain_model(model) for name, model in record["models"].items()}}


def _plain_model(model: Json) -> Json:
    result = dict(model)
    if isinstance(options := result.get("options"), Mapping):
        result["options"] = _allowed(options)
    if isinstance(variants := result.get("variants"), Mapping):
        result["variants"] = {
            name: _allowed(entry) if isinstance(entry, Mapping) else entry for name, entry in variants.items()
        }
    return result


def _allowed(options: Mapping[str, Any]) -> Json:
    return {key: entry for key, entry in options.items() if key not in RESERVED_OPTIONS}

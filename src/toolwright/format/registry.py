"""The formatters there are, for which files, and which of them a project wants."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any

from toolwright.machine.plain_files import read_start
from toolwright.process.programs.lookup import Lookup
from toolwright.record import record

TIMEOUT = 10_000
"""Milliseconds a formatter may take, unless the settings say otherwise."""
_LONGEST = 1024 * 1024
"""Bytes of a project's file that are looked at to see what it mentions."""


@record(frozen=True, slots=True, kw_only=True)
class Formatter:
    """A program that formats a file in place."""

    name: str
    command: tuple[str, ...] = ()
    """`$FILE` in it is the file."""
    extensions: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: int = TIMEOUT
    marks: tuple[str, ...] = ()
    """Files above the one to format that show that the project wants it."""
    mentions: tuple[tuple[str, str], ...] = ()
    """Files above and a text in them that show the same. Without either it is always wanted."""
    unless: tuple[tuple[str, str], ...] = ()
    """Mentions that show that the project is formatted by another."""
    insists: tuple[tuple[str, str], ...] = ()
    """Mentions that show that it is wanted all the same."""
    after: tuple[str, ...] = ()
    """Formatters that are taken instead where they are wanted."""
    harmless: bool = False
    """Whether it runs nothing that is the project's."""
    own: bool = False
    """Whether its command is the user's, so that it is always wanted."""
    stdin: bool = False
    """Whether it takes the text on its input and prints it formatted, instead of changing the file."""
    beside: bool = False
    """Whether it is started in the folder of the file, where it looks for its settings, and not in the project's."""

    def fits(self, path: Path) -> bool:
        return path.name.endswith(self.extensions)

    def argv(self, program: str, path: Path) -> tuple[str, ...]:
        words = list[str]()
        for word in self.command[1:]:
            words += edition_of(path) if word == "$EDITION" else [word.replace("$FILE", str(path), 1)]
        return (program, *words)


@record(frozen=True, slots=True, kw_only=True)
class FormatterChoice:
    """The user's word on one formatter."""

    disabled: bool = False
    command: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: int | None = None


@cache
def known_formatters() -> tuple[Formatter, ...]:
    entries = json.loads((Path(__file__).parent / "formatters.json").read_text("utf-8"))
    return tuple(_formatter(entry) for entry in entries)


def chosen_formatters(choices: Mapping[str, FormatterChoice]) -> list[Formatter]:
    """The known ones in their order, as the user wants them, then the user's own in theirs."""
    known = {one.name: one for one in known_formatters()}
    names = [*known, *(name for name in choices if name not in known)]
    formatters = [_changed(known.get(name, Formatter(name=name)), choices.get(name)) for name in names]
    return [one for one in formatters if one is not None and one.command]


def _changed(formatter: Formatter, choice: FormatterChoice | None) -> Formatter | None:
    if choice is None:
        return formatter
    if choice.disabled:
        return None
    return replace(
        formatter,
        command=choice.command or formatter.command,
        extensions=choice.extensions or formatter.extensions,
        environment={**formatter.environment, **choice.environment},
        timeout=choice.timeout or formatter.timeout,
        own=bool(choice.command),
        stdin=formatter.stdin and not choice.command,
    )


@record(frozen=True, slots=True, kw_only=True)
class WantedFormatter:
    """A formatter, and the program it is here."""

    formatter: Formatter
    program: str
    missing: str = ""
    """Why the program is not there, for one that the user wants all the same."""


@record(frozen=True, slots=True, kw_only=True)
class Chooser:
    """Tells which formatters a file of one project gets."""

    formatters: Sequence[Formatter]
    directory: Path
    top: Path
    lookup: Lookup
    trusted: bool
    """Whether programs of the project itself may be run."""

    def for_file(self, path: Path) -> list[WantedFormatter]:
        wanted = list[WantedFormatter]()
        for formatter in self.formatters:
            taken = {one.formatter.name for one in wanted}
            if formatter.fits(path) and not taken & set(formatter.after) and self._wants(formatter, path):
                name = formatter.command[0]
                program = self._program(name, path)
                # One that the user names and that is not here has failed, and so is told of.
                missing = "" if program else self.lookup.missing(name)
                if program or formatter.own:
                    wanted.append(WantedFormatter(formatter=formatter, program=program, missing=missing))
        return wanted

    def uses(self, formatter: Formatter) -> bool:
        """Return whether some file of the project's own folder would be formatted with it."""
        samples = (self.directory / f"any{extension}" for extension in formatter.extensions)
        return any(one.formatter.name == formatter.name for sample in samples for one in self.for_file(sample))

    def _wants(self, formatter: Formatter, path: Path) -> bool:
        if formatter.own:
            return True
        if not (self.trusted or formatter.harmless):
            return False
        folders = self._above(path)
        if _mentioned(formatter.unless, folders) and not _mentioned(formatter.insists, folders):
            return False
        if not formatter.marks and not formatter.mentions:
            return True
        marked = any((folder / mark).exists() for folder in folders for mark in formatter.marks)
        return marked or _mentioned(formatter.mentions, folders)

    def _above(self, path: Path) -> list[Path]:
        return [folder for folder in path.parents if folder.is_relative_to(self.top)]

    def _program(self, name: str, path: Path) -> str:
        if "/" in name:
            return self.lookup.find_theirs(str(self.directory / name)) or ""
        for place in self._of_project(path) if self.trusted else ():
            if os.access(place / name, os.X_OK) and (place / name).is_file():
                return str(place / name)
        return self.lookup.find(name) or ""

    def _of_project(self, path: Path) -> Iterator[Path]:
        for folder in self._above(path):
            yield from (folder / "node_modules" / ".bin", folder / ".venv" / "bin", folder / "venv" / "bin")
            yield folder / "vendor" / "bin"


def _mentioned(mentions: Sequence[tuple[str, str]], folders: Sequence[Path]) -> bool:
    return any(text in _text(folder / name) for folder in folders for name, text in mentions)


def edition_of(path: Path) -> list[str]:
    """Return the option by which rustfmt knows the edition of a file's crate, as cargo hands it on."""
    crate = next((manifest for folder in path.parents if (manifest := folder / "Cargo.toml").is_file()), None)
    if crate is None:
        return []
    edition = _table(crate, "package").get("edition")
    if isinstance(edition, Mapping):
        above = (_table(folder / "Cargo.toml", "workspace", "package") for folder in crate.parents)
        edition = next((manifest["edition"] for manifest in above if "edition" in manifest), None)
    return ["--edition", edition] if isinstance(edition, str) else []


def _table(file: Path, *names: str) -> Mapping[str, Any]:
    """Return a table in a file of TOML; empty if it is not there."""
    import tomllib

    try:
        value: Any = tomllib.loads(_text(file))
    except tomllib.TOMLDecodeError:
        return {}
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _formatter(entry: Mapping[str, Any]) -> Formatter:
    frozen: dict[str, Any] = {}
    for name, value in entry.items():
        frozen[name] = _tuples(value) if isinstance(value, list) else value
    return Formatter(**frozen)


def _tuples(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(value) if isinstance(value, list) else value for value in values)


def _text(path: Path) -> str:
    return read_start(path, _LONGEST).decode("utf-8", "replace")

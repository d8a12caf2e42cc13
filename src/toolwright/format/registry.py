"""Which formatters there are, for which files, and which of them a project wants."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from typing import Any

from toolwright.plainfile import read_start
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
    after: tuple[str, ...] = ()
    """Formatters that are taken instead where they are wanted."""
    harmless: bool = False
    """Whether it runs nothing that is the project's."""
    own: bool = False
    """Whether its command is the user's, so that it is always wanted."""

    def fits(self, path: Path) -> bool:
        return path.name.endswith(self.extensions)

    def argv(self, program: str, path: Path) -> tuple[str, ...]:
        return (program, *(word.replace("$FILE", str(path), 1) for word in self.command[1:]))


@record(frozen=True, slots=True, kw_only=True)
class Choice:
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


def chosen_formatters(choices: Mapping[str, Choice]) -> list[Formatter]:
    """The known ones in their order, as the user wants them, then the user's own in theirs."""
    known = {one.name: one for one in known_formatters()}
    names = [*known, *(name for name in choices if name not in known)]
    made = [_changed(known.get(name, Formatter(name=name)), choices.get(name)) for name in names]
    return [one for one in made if one is not None and one.command]


def _changed(formatter: Formatter, choice: Choice | None) -> Formatter | None:
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
    )


@record(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A formatter, and the program it is here."""

    formatter: Formatter
    program: str


@record(frozen=True, slots=True, kw_only=True)
class Chooser:
    """Tells which formatters a file of one project gets."""

    formatters: Sequence[Formatter]
    directory: Path
    top: Path
    environment: Mapping[str, str]
    trusted: bool
    """Whether programs of the project itself may be run."""

    def for_file(self, path: Path) -> list[Wanted]:
        wanted = list[Wanted]()
        for formatter in self.formatters:
            taken = {one.formatter.name for one in wanted}
            if formatter.fits(path) and not taken & set(formatter.after) and self._wants(formatter, path):
                name = formatter.command[0]
                # One that the user names and that is not here fails when it is started, and so is told of.
                program = self._program(name, path) or (name if formatter.own else "")
                wanted += [Wanted(formatter=formatter, program=program)] if program else []
        return wanted

    def uses(self, formatter: Formatter) -> bool:
        """Whether some file of the project's own folder would be formatted with it."""
        samples = (self.directory / f"any{extension}" for extension in formatter.extensions)
        return any(one.formatter.name == formatter.name for sample in samples for one in self.for_file(sample))

    def _wants(self, formatter: Formatter, path: Path) -> bool:
        if formatter.own:
            return True
        if not (self.trusted or formatter.harmless):
            return False
        if not formatter.marks and not formatter.mentions:
            return True
        return any(
            any((folder / mark).exists() for mark in formatter.marks)
            or any(text in _text(folder / name) for name, text in formatter.mentions)
            for folder in self._above(path)
        )

    def _above(self, path: Path) -> list[Path]:
        return [folder for folder in path.parents if folder.is_relative_to(self.top)]

    def _program(self, name: str, path: Path) -> str:
        if "/" in name:
            return str(self.directory / name) if os.access(self.directory / name, os.X_OK) else ""
        for place in self._of_project(path) if self.trusted else ():
            if os.access(place / name, os.X_OK) and (place / name).is_file():
                return str(place / name)
        return shutil.which(name, path=self.environment.get("PATH")) or ""

    def _of_project(self, path: Path) -> Iterator[Path]:
        for folder in self._above(path):
            yield from (folder / "node_modules" / ".bin", folder / ".venv" / "bin", folder / "venv" / "bin")
            yield folder / "vendor" / "bin"


def _formatter(entry: Mapping[str, Any]) -> Formatter:
    frozen: dict[str, Any] = {}
    for name, value in entry.items():
        frozen[name] = _tuples(value) if isinstance(value, list) else value
    return Formatter(**frozen)


def _tuples(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(value) if isinstance(value, list) else value for value in values)


def _text(path: Path) -> str:
    return read_start(path, _LONGEST).decode("utf-8", "replace")

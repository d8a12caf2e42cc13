"""The language servers there are: for which files, where their projects begin, how each is found and started."""

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from toolwright.lsp.virtual import empty_environment, is_environment, is_in_environment
from toolwright.machine.plain_files import read_start
from toolwright.process.programs.lookup import Lookup
from toolwright.protocols.json_text import read_json
from toolwright.record import record

_LONGEST = 1024 * 1024
"""Bytes of a project's file that are looked at to recognise it."""


@record(frozen=True, slots=True, kw_only=True)
class LanguageServer:
    """A language server as the data or the settings describe it."""

    id: str
    extensions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Whole file names it is for."""
    roots: tuple[tuple[str, ...], ...] = ()
    """Names that mark the root of a project; those of an earlier group win, however far up they are."""
    required: bool = False
    """Whether it is for nothing without such a mark."""
    exclude: tuple[str, ...] = ()
    """Names that show the project to be another server's."""
    outermost: tuple[str, ...] = ()
    """A name and a text in it that mark the folder above the root that is the root instead."""
    commands: tuple[tuple[str, ...], ...] = ()
    """Ways to start it; the first whose program is there is taken."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    init: Mapping[str, Any] = field(default_factory=dict[str, Any])
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it gets when it asks for its configuration."""
    needs: str = ""
    """What of the project itself it needs: `tsserver`, `typescript7` or `eslint`."""
    python: bool = False
    """Whether it wants to know the project's Python."""
    virtual: bool = False
    """Whether it finds the project's packages by the variable `VIRTUAL_ENV`, and otherwise takes its own."""
    progress: bool = True
    """Whether it tells how far it is with anything but the answers that are waited for."""
    after: tuple[str, ...] = ()
    """Servers for the same files that are taken instead where they are there."""
    npm: tuple[str, ...] = ()
    pypi: str = ""
    """The packages it can be installed from."""
    harmless: bool = False
    """Whether it runs nothing that is the project's, so that it may look at one that is not trusted."""
    own: bool = False
    """Whether its command is from the user's settings."""

    @property
    def how_to_get(self) -> str:
        """The command that installs it; empty where there is none."""
        return f"tw lsp install {shlex.quote(self.id)}" if self.npm or self.pypi else ""

    def fits(self, name: str) -> bool:
        """Return whether it is for files of this name."""
        return name.endswith(self.extensions) or name in self.names


@record(frozen=True, slots=True, kw_only=True)
class ServerChoice:
    """The user's word on one server."""

    disabled: bool = False
    command: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    initialization: Mapping[str, Any] = field(default_factory=dict[str, Any])


@record(frozen=True, slots=True, kw_only=True)
class ServerMatch:
    """A server, the root of its project, and how to start it there."""

    server: LanguageServer
    root: Path
    argv: tuple[str, ...]
    init: Mapping[str, Any]
    settings: Mapping[str, Any]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables for this project, beside those of the server."""
    missing: str = ""
    """Why its program is not there. One that only the user knows of is wanted all the same, and fails aloud."""

    @property
    def there(self) -> bool:
        return not self.missing

    @property
    def key(self) -> tuple[str, str]:
        return self.server.id, str(self.root)


Known = Callable[[tuple[str, str]], ServerMatch | None]
"""Gives a server that was found before, by its key."""


def _nothing(_key: tuple[str, str]) -> None:
    return None


@cache
def known_servers() -> tuple[LanguageServer, ...]:
    """The servers of the data file, in their order."""
    entries = json.loads((Path(__file__).parent / "servers.json").read_text("utf-8"))
    return tuple(_server(entry) for entry in entries)


@cache
def _language_ids() -> dict[str, str]:
    ids: dict[str, str] = json.loads((Path(__file__).parent / "language_ids.json").read_text("utf-8"))
    return ids


def language_id(path: Path) -> str:
    """Return the language of a file by the id that servers know."""
    ids = _language_ids()
    lowered = path.name.lower()
    if lowered in ("dockerfile", "containerfile"):
        return "dockerfile"
    suffixes = path.suffixes
    endings = ("".join(suffixes[start:]) for start in range(len(suffixes)))
    return next((ids[ending] for ending in endings if ending in ids), ids.get(lowered, "plaintext"))


def chosen_servers(choices: Mapping[str, ServerChoice]) -> list[LanguageServer]:
    """The servers there are once the user has had a word: theirs first, those they disabled left out."""
    known = {server.id: server for server in known_servers()}
    custom = [_changed(known.get(name, LanguageServer(id=name)), choice) for name, choice in choices.items()]
    named = [server for server in custom if server is not None]
    return [*named, *(server for name, server in known.items() if name not in choices)]


def _changed(server: LanguageServer, choice: ServerChoice) -> LanguageServer | None:
    if choice.disabled:
        return None
    return replace(
        server,
        commands=(choice.command,) if choice.command else server.commands,
        extensions=choice.extensions or server.extensions,
        environment={**server.environment, **choice.environment},
        init={**server.init, **choice.initialization},
        needs="" if choice.command else server.needs,
        own=bool(choice.command),
        after=(),
    )


@record(frozen=True, slots=True, kw_only=True)
class Finder:
    """Finds the servers for a file in one project."""

    servers: Sequence[LanguageServer]
    directory: Path
    """The folder that was opened."""
    top: Path
    """How far up a root may be."""
    environment: Mapping[str, str]
    lookup: Lookup
    installed: Path
    """Our own folder of installed servers."""
    trusted: bool
    """Whether programs of the project itself may be run."""

    def for_file(self, path: Path, known: Known = _nothing) -> list[ServerMatch]:
        """The servers for a file that are there, in order; those that are `known` are not looked for on disk."""
        matches = list[ServerMatch]()
        for server in self.fitting(path.name):
            if not any(one.server.id in server.after for one in matches):
                match = self.locate(server, path, known)
                matches += [match] if match is not None else []
        return matches

    def fitting(self, name: str) -> list[LanguageServer]:
        """The servers for files of this name, whether they are there or not."""
        return [server for server in self.servers if server.fits(name)]

    def here(self) -> list[ServerMatch]:
        """The servers that would be started for some file of the project's own folder."""
        here = list[ServerMatch]()
        for server in self.servers:
            match = self.locate(server, self.sample(server))
            if match is not None and match.there and not any(one.server.id in server.after for one in here):
                here.append(match)
        return here

    def sample(self, server: LanguageServer) -> Path:
        """A file that a server would be for, whether there is one or not."""
        return self.directory / f"any{next(iter(server.extensions), '')}"

    def locate(self, server: LanguageServer, path: Path, known: Known = _nothing) -> ServerMatch | None:
        """Return the command that starts a server for a file; None if it is not there, or not for this project."""
        root = self.root(server, path)
        if root is None or not (self.trusted or server.harmless or server.own):
            return None
        if already := known((server.id, str(root))):
            return already
        values = self._values(server, root)
        if values is None:
            return None
        for command in server.commands:
            program = self._program(command[0], root)
            if program or server.own:
                return ServerMatch(
                    server=server,
                    root=root,
                    argv=(program or command[0], *command[1:]),
                    init={**_filled(server.init, values), **_python_init(server, values)},
                    settings=_filled(server.settings, values),
                    environment=self._own_environment(server, root, program),
                    missing="" if program else self.lookup.missing(command[0]),
                )
        return None

    def waits_for_trust(self, server: LanguageServer, path: Path) -> bool:
        """Return whether a server would be here for a file if the project were trusted."""
        if self.trusted or self.locate(server, path) is not None:
            return False
        return replace(self, trusted=True).locate(server, path) is not None

    def root(self, server: LanguageServer, path: Path) -> Path | None:
        """The root of a file's project as a server sees it; None if the server is not for it."""
        above = self._above(path)
        if any(_holds(folder, server.exclude) for folder in above):
            return None
        for group in server.roots:
            for folder in above:
                if _holds(folder, group):
                    return self._outermost(server, folder)
        return None if server.required else self.directory

    def _above(self, path: Path) -> Sequence[Path]:
        return _folders(path.parent, self.top) or [self.directory]

    def _outermost(self, server: LanguageServer, folder: Path) -> Path:
        if not server.outermost:
            return folder
        name, text = server.outermost
        return next((one for one in reversed(self._above(folder / name)) if text in _text(one / name)), folder)

    def _program(self, name: str, root: Path) -> str:
        if "/" in name:
            return self.lookup.find_theirs(str(root / name)) or ""
        own = [self.installed / "node_modules" / ".bin", self.installed / "python" / "bin"]
        places = [*(self._of_project(root) if self.trusted else ()), *own]
        for place in places:
            if os.access(place / name, os.X_OK) and (place / name).is_file():
                return str(place / name)
        return self.lookup.find(name) or ""

    def _of_project(self, root: Path) -> Iterator[Path]:
        """Where the project keeps programs of its own."""
        for folder in self._above(root / "any"):
            yield folder / "node_modules" / ".bin"
        yield from (environment / "bin" for environment in self._virtual(root))

    def _virtual(self, root: Path) -> Iterator[Path]:
        for folder in self._above(root / "any"):
            yield folder / ".venv"
            yield folder / "venv"
        if active := self.environment.get("VIRTUAL_ENV"):
            yield Path(active)

    def _own_environment(self, server: LanguageServer, root: Path, program: str) -> dict[str, str]:
        """The variable by which a server for Python finds the project's packages, and never those of its own."""
        if not server.virtual:
            return {}
        folder = next(filter(is_environment, self._virtual(root)), None)
        if folder is None and not self.environment.get("CONDA_PREFIX") and is_in_environment(program):
            folder = empty_environment(self.installed / "no-python")
        return {"VIRTUAL_ENV": str(folder)} if folder else {}

    def _values(self, server: LanguageServer, root: Path) -> dict[str, str] | None:
        """Return the values of `${name}` in its options; None if it needs what the project does not have."""
        values = dict[str, str]()
        if server.python and self.trusted:
            pythons = (environment / "bin" / "python" for environment in self._virtual(root))
            python = next((python for python in pythons if python.is_file()), None)
            values |= {"python": str(python)} if python else {}
        if not server.needs:
            return values
        package = self._package(server, root)
        if package is None or _unfit(server, package):
            return None
        tsserver = package / "lib" / "tsserver.js"
        return values | {"tsserver": str(tsserver), "tsdk": str(tsserver.parent)}

    def lacks(self, server: LanguageServer, path: Path) -> str:
        """Say what keeps a server for a file from being here, and what to do about it; empty if it is here."""
        root = self.root(server, path)
        if root is None or self.locate(server, path) is not None:
            return ""
        name, how = server.commands[0][0], server.how_to_get
        if not any(self._program(command[0], root) for command in server.commands):
            return self.lookup.why_not(name) or how or f"needs {name} on PATH"
        package = self._package(server, root)
        if package is not None:
            return _unfit(server, package)
        wanted = "eslint" if server.needs == "eslint" else "typescript"
        here = f"{name} is here, but no {wanted}: install that in the project"
        return f"{here}, or both by {how}" if how and wanted == "typescript" else here

    def _package(self, server: LanguageServer, root: Path) -> Path | None:
        """Return the nearest package of npm that a server needs: the project's, ours, or one that a program is in."""
        name = "eslint" if server.needs == "eslint" else "typescript"
        folders = [*(folder / "node_modules" for folder in self._above(root / "any")), self.installed / "node_modules"]
        if name == "typescript":
            programs = (self._program(one, root) for one in (server.commands[0][0], "tsc"))
            real = (Path(os.path.realpath(program)) for program in programs if program)
            folders += [folder for program in real for folder in program.parents if folder.name == "node_modules"]
        return next((folder / name for folder in folders if (folder / name).is_dir()), None)


@lru_cache(1000)
def _folders(folder: Path, top: Path) -> tuple[Path, ...]:
    """A folder and those above it, up to the top; none if it is not below that."""
    return (folder, *folder.parents)[: len(folder.parts) - len(top.parts) + 1] if folder.is_relative_to(top) else ()


def _unfit(server: LanguageServer, package: Path) -> str:
    """Say why a package is not what a server needs; empty if it is."""
    if server.needs == "typescript7" and (major := _major(package / "package.json")) < 7:
        return f"needs TypeScript 7, and {package} is version {major or 'unknown'}"
    if server.needs == "tsserver" and not (package / "lib" / "tsserver.js").is_file():
        return f"needs TypeScript 5 or 6, and {package} has no tsserver"
    return ""


def _server(entry: Mapping[str, Any]) -> LanguageServer:
    frozen: dict[str, Any] = {}
    for name, value in entry.items():
        frozen[name] = _tuples(value) if isinstance(value, list) else value
    return LanguageServer(**frozen)


def _tuples(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_tuples(value) if isinstance(value, list) else value for value in values)


def _holds(folder: Path, names: Sequence[str]) -> bool:
    plain = [name for name in names if "*" not in name]
    if any(os.path.exists(os.path.join(folder, name)) for name in plain):  # noqa: PTH110, PTH118 - with every change
        return True
    if len(plain) == len(names):
        return False
    try:
        entries = [entry.name for entry in folder.iterdir()]
    except OSError:
        return False
    return any(fnmatchcase(entry, name) for name in names for entry in entries)


def _text(path: Path) -> str:
    return read_start(path, _LONGEST).decode("utf-8", "replace")


def _major(package: Path) -> int:
    try:
        return int(str(read_json(_text(package))["version"]).partition(".")[0])
    except (ValueError, KeyError, TypeError):
        return 0


def _python_init(server: LanguageServer, values: Mapping[str, str]) -> dict[str, Any]:
    return {"pythonPath": values["python"]} if server.python and "python" in values else {}


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {name: _filled(entry, values) for name, entry in value.items()}
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return values.get(value[2:-1], value)
    return value

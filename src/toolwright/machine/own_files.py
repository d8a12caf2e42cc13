"""Everything of ours outside a project: folders, the installation, ports, programs.

The box, the servers and the lookup of programs all take their lists from here.
"""

import os
import site
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from toolwright.machine.folders import MEMORY, NAME, Folders
from toolwright.record import record

PORTS: Final = {
    "serve": "the HTTP server and its page",
    "mcp": "our tools for MCP clients over HTTP",
    "login": "where a browser brings the answer of a login",
    "job": "the server of a session's job",
}
"""Each port that we listen on, by the name under which `peers.listen` opens it."""

PROGRAMS: Final = ("bun", "bwrap", "git", "node", "npm", "rg", "sh", "shfmt", "ty", "uv")
"""The programs that we start for ourselves, besides formatters and language servers."""

Port = Literal["serve", "mcp", "login", "job"]

FAMILIES: Final = ("opencode", NAME)
"""Whose settings are read: those of the reference come first, so that ours win."""
MANAGED_VARIABLE: Final = "TOOLWRIGHT_MANAGED_CONFIG"
"""Names a file with the administrator's settings."""
TEMPORARY: Final = (f"{NAME}-", "tw-ray-")
"""Beginnings of all names that we make in the system's temporary folder."""
PROBE: Final = f".{NAME}-"
"""The beginning of names of folders made for a moment above ours, to see whether anything can be made there."""
STORES: Final = (
    *(".cache", ".npm", ".yarn", ".local/share/pnpm/store", ".bun/install/cache", ".local/share/uv", ".cargo"),
    *("go/pkg", ".m2/repository", ".gradle/caches", ".nuget/packages", ".bundle/cache"),
)
"""Folders of the home folder that package managers fill: made for a box where they are missing, and gone after it."""
TOKENS: Final = (".ray",)
"""Folders of the home folder with what lets anybody run code on the machines of a fleet."""
_PACKAGES = ("site-packages", "dist-packages")
_STARTERS = ("tw", NAME)


@record(frozen=True, slots=True, kw_only=True)
class Ours:
    """Everything that belongs to one user's toolwright. All paths but those of `folders` are canonical."""

    folders: Folders
    installation: tuple[Path, ...] = ()
    """The package, the interpreter and where both are installed: read by everybody, written by no command."""
    imported: tuple[Path, ...] = ()
    """Other folders where our interpreter looks first for what it imports: those of PYTHONPATH, or the current one."""
    closed: tuple[Path, ...] = ()
    """The folders that no command reads or writes, there or not: ours and those of OpenCode."""
    secrets: tuple[Path, ...] = ()
    """Files that no command reads or writes."""
    settings: tuple[Path, ...] = ()
    """Settings that variables name: written by no command, and read by none unless they lie in its project."""
    links: tuple[Path, ...] = ()
    """Links by which all of this is found: exchanged for others, they would lead elsewhere."""

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ, folders: Folders | None = None) -> "Ours":
        """Return what is ours by these variables. `folders` are those in use, if they are others than the variables
        name: what cannot be written is replaced, and holds keys all the same."""
        named = Folders.of(environment)
        folders = folders or named
        token = environment.get("RAY_AUTH_TOKEN_PATH", "")
        closed, settings = list(_closed(folders, named, _unnamed(named.home))), list(_named_settings(environment))
        return cls(
            folders=folders,
            installation=installation(),
            imported=tuple(_canonical(map(Path, _imported()))),
            closed=tuple(_canonical(closed)),
            secrets=tuple(_canonical([Path(token)] if os.path.isabs(token) else [])),  # noqa: PTH117 - on text
            settings=tuple(_canonical(settings)),
            links=tuple(dict.fromkeys(_links([*closed, *settings, Path(sys.prefix), *_starter()]))),
        )

    @property
    def shown(self) -> tuple[Path, ...]:
        """Return what skills speak of among the settings: the parts of our folders that commands read."""
        mine = self.folders
        named = (mine.config, mine.reference_config, *(mine.home / f".{family}" for family in FAMILIES))
        folders = _canonical([*named, *self.settings])
        return tuple(folder / name for folder in folders for name in ("skill", "skills"))

    def owns(self, place: Path) -> bool:
        """Tell whether a canonical path is on this list, as something that we write outside of projects."""
        stores = (self.folders.home.resolve() / name for name in STORES)
        written = (*self.closed, *self.installation, *stores)
        if place in self.secrets or any(place.is_relative_to(one) or one.is_relative_to(place) for one in written):
            return True
        above = [folder for closed in self.closed for folder in closed.parents]
        if place.name.startswith(PROBE) and place.parent in above:
            return True
        inside = [folder for folder in temporary_folders() if place.is_relative_to(folder) and place != folder]
        return any(place.relative_to(folder).parts[0].startswith(TEMPORARY) for folder in inside)


@cache
def installation() -> tuple[Path, ...]:
    """Return the places of a start, canonical, without those that lie in another of them."""
    package = Path(__file__).parents[1]
    # What is beside a package in a folder of sources is imported as well; a whole project is not ours.
    above = [package.parent] if package.parent.name in (*_PACKAGES, "src") else []
    named = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, sys.executable, *_package_folders()]
    places = list(_canonical([package, *above, *map(Path, filter(None, named)), *_starter()]))
    return tuple(place for place in places if not any(place != one and place.is_relative_to(one) for one in places))


def _package_folders() -> Iterator[str]:
    """Folders in which files run code when an interpreter starts, the user's own among them, there or not."""
    yield from (entry for entry in sys.path if Path(entry).name in _PACKAGES)
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def _starter() -> Iterator[Path]:
    """The script by which we were started, which may lie far from the rest."""
    script = Path(sys.argv[0]) if sys.argv else Path()
    if script.name in _STARTERS and script.is_file():
        yield script.absolute()


def temporary_folders() -> Iterator[Path]:
    """Yield where temporary files may be. To ask Python for the one in use would have it write there."""
    named = (os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP"))
    yield from _canonical(Path(folder) for folder in (*filter(os.path.isabs, named), "/tmp", "/var/tmp", MEMORY))  # noqa: S108


def temporary_in(folder: Path) -> Iterator[Path]:
    """Yield what we, and other processes of ours, have in a temporary folder by now."""
    try:
        with os.scandir(folder) as entries:
            yield from (folder / entry.name for entry in entries if entry.name.startswith(TEMPORARY))
    except OSError:
        return


def _imported() -> Iterator[str]:
    """Yield where a module would take the place of one of the standard library."""
    known, library = installation(), Path(os.path.realpath(os.__file__)).parent
    for entry in sys.path:
        real = Path(os.path.realpath(entry))
        if real == library:
            return
        if real.is_dir() and not any(real.is_relative_to(place) for place in known):
            yield entry or "."


def _closed(*named: Folders) -> Iterator[Path]:
    for mine in named:
        yield from (mine.data, mine.copies, mine.state, mine.cache, mine.config)
        yield from (mine.reference_config, mine.reference_data)
        yield from (mine.home / f".{family}" for family in FAMILIES)
        yield from (mine.home / name for name in TOKENS)


def _unnamed(home: Path) -> Folders:
    """The folders without the variables that move them: a run without those has its keys there."""
    return Folders.of({"HOME": str(home)})


def _named_settings(environment: Mapping[str, str]) -> Iterator[Path]:
    for family in FAMILIES:
        for name in ("CONFIG", "CONFIG_DIR"):
            if place := environment.get(f"{family.upper()}_{name}"):
                yield Path(place).absolute()
    if place := environment.get(MANAGED_VARIABLE):
        yield Path(place).absolute()


def _links(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the links on the way to places, each as it is called in the folder that really holds it.

    What cannot be looked at is none: we cannot reach anything through it either.
    """
    for place in places:
        for step in (place, *place.parents):
            if os.path.islink(step):  # noqa: PTH114 - Path.is_symlink raises where it may not look
                yield Path(os.path.realpath(step.parent), step.name)


def _canonical(places: Iterable[Path]) -> Iterator[Path]:
    """Each once. A path that nobody can look at leads nowhere."""
    yield from dict.fromkeys(Path(os.path.realpath(place)) for place in places if place != Path("/"))

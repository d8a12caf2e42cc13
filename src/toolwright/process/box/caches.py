"""Package caches in the home folder: what commands share with the user, and what they have for themselves."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from toolwright.process.box.box import Wall, walls
from toolwright.process.paths.safe_stat import is_folder, is_there
from toolwright.record import record
from toolwright.text.wildcard import matches

MANY = 200
"""Entries of a cache that are shown one by one; of one with more, commands see only what they share."""


@record(frozen=True, slots=True, kw_only=True)
class PackageCache:
    """A folder in the home folder that package managers fill."""

    folder: str
    program: str = ""
    """The program that needs it: the folder is there for commands if that is. Without one it always is."""
    shared: tuple[str, ...] = ()
    """The parts that are mere stores of packages. What is not named may hold programs, and is only read."""
    apart: tuple[str, ...] = ()
    """Parts that are programs, and of which commands have their own."""


CACHES = (
    PackageCache(
        folder=".cache",
        shared=(
            *("pip", "uv", "pypoetry", "pdm", "hatch", "conda", "yarn", "pnpm", "composer", "go-build"),
            *(
                "golangci-lint",
                "ccache",
                "sccache",
                "coursier",
                "zig",
                "black",
                "pylint",
                "mypy",
                "ruff",
                "fontconfig",
                "matplotlib",
            ),
        ),
        apart=("pre-commit", "node", "deno"),
    ),
    PackageCache(folder=".npm", program="npm", shared=("_cacache",), apart=("_npx",)),
    PackageCache(folder=".yarn", program="yarn", shared=("berry", "cache")),
    PackageCache(folder=".local/share/pnpm/store", program="pnpm", shared=("*",)),
    PackageCache(folder=".bun/install/cache", program="bun", shared=("*",)),
    PackageCache(folder=".local/share/uv", program="uv"),
    PackageCache(folder=".cargo", program="cargo", shared=("registry", "git", ".package-cache*", ".global-cache*")),
    PackageCache(folder="go/pkg", program="go", shared=("*",)),
    PackageCache(folder=".m2/repository", program="mvn", shared=("*",)),
    PackageCache(folder=".gradle/caches", program="gradle", shared=("*",)),
    PackageCache(folder=".nuget/packages", program="dotnet", shared=("*",)),
    PackageCache(folder=".bundle/cache", program="bundle", shared=("*",)),
)


@record(frozen=True, slots=True, kw_only=True)
class CacheFolders:
    """Cache folders as commands see them."""

    walls: tuple[Wall, ...] = ()
    missing: tuple[Path, ...] = ()
    """Folders of them that are not there, with those above them: made for as long as boxes need them."""

    @property
    def places(self) -> tuple[Path, ...]:
        """All of them, in which commands may write as they are."""
        return tuple(wall.path for wall in self.walls if wall.effect in ("write", "own"))

    def existing(self) -> "CacheFolders":
        """Return those that are there by now, for boxes that make none of them."""
        there = (wall for wall in self.walls if (is_there if wall.effect == "read" else is_folder)(wall.path))
        return CacheFolders(walls=tuple(there))


def shared_places(home: Path) -> Iterator[Path]:
    """Yield the places where commands may write as the user does, whether anything is there or not."""
    for cache in CACHES:
        folder = home / cache.folder
        yield from [folder] if "*" in cache.shared else (folder / name for name in cache.shared if "*" not in name)


def cache_folders(home: Path, own: Path, has: Callable[[str], object]) -> CacheFolders:
    """Return the caches there are or should be, for programs that the user `has`.

    What commands have for themselves is kept in `own`, for all of them.
    """
    around, missing = list[Wall](), list[Path]()
    for cache in CACHES:
        folder = home / cache.folder
        if not is_folder(folder) and cache.program and not has(cache.program):
            continue
        if is_folder(folder) and not os.access(folder, os.W_OK):
            continue
        folder = folder.resolve()
        new = [folder, *_new_stores(folder, cache, has)]
        missing += (place for one in new for place in (*reversed(one.parents), one) if not is_there(place))
        if "*" in cache.shared:
            around.append(Wall(folder, "write"))
        elif _make(own / cache.folder):
            around.append(Wall(folder, "own", source=own / cache.folder))
            around += walls((*_parts(folder, cache.shared), *new[1:]), "write")
            around += walls(_others(folder, cache), "read", "runs")
    return CacheFolders(walls=tuple(around), missing=tuple(dict.fromkeys(missing)))


def _new_stores(folder: Path, cache: PackageCache, has: Callable[[str], object]) -> Iterator[Path]:
    """Yield stores that are not there yet, of programs that are: once filled, they are to be the user's too."""
    for name in cache.shared:
        program = cache.program or {"go-build": "go", "pypoetry": "poetry"}.get(name, name)
        if "*" not in name and not name.startswith(".") and not is_there(folder / name) and has(program):
            yield folder / name


def _parts(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    for entry in _entries(folder):
        if any(matches(entry.name, pattern) for pattern in patterns):
            yield Path(entry.path)


def _others(folder: Path, cache: PackageCache) -> list[Path]:
    others = [
        Path(entry.path)
        for entry in _entries(folder)
        if not any(matches(entry.name, pattern) for pattern in (*cache.shared, *cache.apart))
    ]
    return others if len(others) <= MANY else []


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    """Without links: what they lead to is judged where it lies."""
    try:
        with os.scandir(folder) as entries:
            real_entries = [entry for entry in entries if not entry.is_symlink()]
    except OSError:
        return []
    return [entry for entry in real_entries if entry.is_dir() or entry.is_file()]


def _make(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return True

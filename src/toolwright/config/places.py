"""Places of settings: the files of each level, the folders beside them, and the root of a project."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from toolwright.config.source import ConfigFolder, Level
from toolwright.machine.folders import Folders
from toolwright.machine.own_files import FAMILIES, MANAGED_VARIABLE

if TYPE_CHECKING:
    from toolwright.process.programs.lookup import Lookup

MANAGED = Path("/etc/toolwright/toolwright.json")
CLAUDE_HOOKS = (".claude/settings.json", ".claude/settings.local.json")
"""Files in which Claude Code keeps hooks, below a project; the first of them in the home too."""
CODEX_HOOKS = (".codex/hooks.json",)


def find_root(directory: Path) -> Path:
    """The top of the git work tree that holds the folder, or the folder itself."""
    for folder in (directory, *directory.parents):
        if os.path.lexists(folder / ".git"):
            return folder
    return directory


def own_programs(*directories: Path, environment: Mapping[str, str] = os.environ) -> "Lookup":
    """Make the lookup of our own programs where no workspace is open: none is taken from the projects of these."""
    from toolwright.process.programs.lookup import Lookup

    folders = Folders.of(environment)
    projects = list[Path]()
    for directory in directories:
        with suppress(OSError):  # the folder we are in has gone
            here = directory.resolve()
            projects += (here, find_root(here))
    return Lookup.of(environment, project=projects, home=folders.home, own=folders.written)


def between(root: Path, directory: Path) -> list[Path]:
    """The folders from the root down to the one opened."""
    parents = [folder for folder in (directory, *directory.parents) if folder.is_relative_to(root)]
    return parents[::-1]


def variable(environment: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """A variable of the reference and ours, the stronger last."""
    for family in FAMILIES:
        key = f"{family.upper()}_{name}"
        if environment.get(key):
            yield key, environment[key]


def misspelt_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A warning for each variable that was surely meant to be one with settings: a rule in it would not hold."""
    prefix = f"{FAMILIES[-1].upper()}_"
    known = (
        MANAGED_VARIABLE,
        *(f"{prefix}{name}" for name in ("CONFIG", "CONFIG_DIR", "CONFIG_CONTENT", "PERMISSION")),
    )
    for name in environment:
        if name.startswith(prefix) and name not in known:
            from difflib import get_close_matches

            if near := get_close_matches(name, known, n=1, cutoff=0.9):
                yield f"the variable {name} means nothing; did you mean {near[0]}?"


def config_folders(
    root: Path, directory: Path, folders: Folders, environment: Mapping[str, str]
) -> Iterator[ConfigFolder]:
    """The folders that may hold agents, commands and code, weakest first."""
    for path in (folders.reference_config, folders.config, *(folders.home / f".{name}" for name in FAMILIES)):
        yield ConfigFolder(path=path, level="user")
    for path in project_folders(root, directory, folders):
        yield ConfigFolder(path=path, level="project")
    for _, place in variable(environment, "CONFIG_DIR"):
        yield ConfigFolder(path=Path(place), level="override")


def project_folders(root: Path, directory: Path, folders: Folders) -> Iterator[Path]:
    for folder in between(root, directory):
        if folder != folders.home:
            yield from (folder / f".{name}" for name in FAMILIES)


def config_files(
    root: Path, directory: Path, folders: Folders, environment: Mapping[str, str]
) -> Iterator[tuple[Path, Level]]:
    """Every file that may hold settings, weakest first, whether it is there or not."""
    yield folders.reference_config / "config.json", "user"
    user = [folders.reference_config, folders.config]
    for folder, family in zip(user, FAMILIES, strict=True):
        yield from _both(folder, family, "user")
    for family in FAMILIES:
        yield from _both(folders.home / f".{family}", family, "user")
    for _, path in variable(environment, "CONFIG"):
        yield Path(path), "user"
    for file in project_files(root, directory, folders):
        yield file, "project"
    for key, path in variable(environment, "CONFIG_DIR"):
        yield from _both(Path(path), key.partition("_")[0].lower(), "override")


def project_files(root: Path, directory: Path, folders: Folders) -> Iterator[Path]:
    """The files of settings that a project may bring, from its root down to the folder opened."""
    for folder in between(root, directory):
        for family in FAMILIES:
            yield from (path for path, _ in _both(folder, family, "project"))
        for family in FAMILIES if folder != folders.home else ():
            yield from (path for path, _ in _both(folder / f".{family}", family, "project"))


def managed_files(environment: Mapping[str, str]) -> Iterator[tuple[Path, bool]]:
    """The administrator's files, and whether each must be there. The variable adds to the fixed place: it cannot
    take away what holds for the whole machine."""
    yield MANAGED, False
    if named := environment.get(MANAGED_VARIABLE):
        yield Path(named), True


def _both(folder: Path, family: str, level: Level) -> Iterator[tuple[Path, Level]]:
    yield folder / f"{family}.json", level
    yield folder / f"{family}.jsonc", level

"""The boxes of formatters and language servers: they read the project, and write nothing but what they are for."""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from toolwright.process.box.access import Access
from toolwright.process.box.box import TEMP_FOLDERS, Box, Wall, walls
from toolwright.process.box.caches import CacheFolders
from toolwright.process.box.mechanisms import put_up, within
from toolwright.process.paths.safe_stat import is_in
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.scope import Program
from toolwright.process.sandbox.sandbox import MARK, Sandbox
from toolwright.record import record

LARGEST = 256 * 1024
"""Bytes of a file beside the one to format that is copied; settings are shorter."""
MOST_FILES, MOST_FOLDERS = 300, 100
"""The most files that are copied, and the most folders that are shown."""
FIRST = (".", "node_modules", "venv", "vendor")
"""Beginnings of names that count first where there are more."""
KEPT = "kept"
"""The name, in its temporary folder, of what a server keeps from one start to the next."""


@record(frozen=True, slots=True, kw_only=True)
class Workplace:
    """A place for one run of a formatter."""

    box: Box
    file: Path
    """The file that has what it wrote: the file itself, or a copy that it took for that."""
    apart: bool = True
    """True if the file itself is left alone."""


class ProgramBoxes:
    """The maker of these boxes; one for each workspace."""

    def __init__(
        self, sandbox: Sandbox, lookup: Lookup, *, root: Path, installed: Path, access: Callable[[], Access]
    ) -> None:
        """`installed` is our folder of installed servers; `access` is what the rules hide, asked for each box."""
        self._sandbox, self._lookup = sandbox, lookup
        self._root, self._installed = root, installed
        self._access = access

    @asynccontextmanager
    async def workplace(self, program: str, file: Path, *, writes: bool) -> AsyncIterator[Workplace]:
        """Make a place in which a formatter reads the project and, if it `writes`, writes a copy of the file."""
        box = await self._reading(program)
        if box.rung == "none":
            yield Workplace(box=box, file=file, apart=not writes)
            return
        folder = self._sandbox.new_folder()
        try:
            if writes:
                yield _workplace(box, self._sandbox.caches.existing(), folder, file)
            else:
                closed = tuple(wall for wall in box.walls if wall.effect != "write")
                yield Workplace(box=replace(box, walls=closed, temp=folder), file=file)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def of_server(self, program: str, environment: Mapping[str, str], kept: Path) -> tuple[Box, dict[str, str]]:
        """Return the box of a language server, and its environment with the place in it that `${kept}` stands for.

        It writes its caches and its temporary folder; `kept` is what it keeps there from one start to the next.
        """
        box = await self._reading(program)
        wanted = any("${kept}" in value for value in environment.values())
        if box.rung == "none":
            return box, _filled(environment, kept)
        caches = self._sandbox.caches.existing()
        explicit = (place for place in box.places("write") if not is_in(place, [self._root]))
        temp = self._sandbox.new_folder()
        elsewhere = _shows_elsewhere(box)
        own = [wall for wall in caches.walls if elsewhere or wall.effect != "own"]
        place = kept
        if wanted:
            kept.mkdir(parents=True, exist_ok=True, mode=0o700)
            place = TEMP_FOLDERS[0] / KEPT if elsewhere else kept
            own.append(Wall(place, "own", source=kept) if elsewhere else Wall(kept, "write"))
        active = environment.get("VIRTUAL_ENV")
        readable = (*box.readable, Path(active)) if active else box.readable
        around = (*walls(explicit, "write"), *own, *_without_own(box))
        box = replace(box, walls=around, readable=readable, temp=temp)
        return box, _filled(environment, place)

    def program(self, box: Box, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Program:
        """Make a program ready for its box. Commands may be at work meanwhile."""
        if box.rung == "none":
            return Program(argv=argv, cwd=cwd, env=env)
        wrapped = put_up(box, self._lookup.find("bwrap") or "")
        wrapped = replace(wrapped, env={**wrapped.env, MARK: box.rung}, temp=box.temp)
        return Program.of(within(wrapped, box, argv, cwd, beside_others=True), cwd=cwd, env=env)

    async def _reading(self, program: str) -> Box:
        """Return a box that writes nothing in the project; where there is a sandbox at all."""
        access = replace(self._access(), read_only=True, better_offline=True, caches=False)
        box = await self._sandbox.box(access)
        if box.rung == "none":
            return box
        around = [wall for wall in box.walls if wall.effect != "write" or wall.path not in TEMP_FOLDERS]
        around += walls([self._installed] if self._installed.is_dir() else [], "show")
        return replace(box, walls=tuple(around), readable=(*box.readable, *_around(program)))


def _workplace(box: Box, caches: CacheFolders, folder: Path, file: Path) -> Workplace:
    """Return a place with a private copy of the folder that a file is in, for some write a new file beside it."""
    temp, copy = folder / "tmp", folder / "copy"
    temp.mkdir()
    if not _shows_elsewhere(box):
        shared = (wall for wall in caches.walls if wall.effect == "write")
        others = (wall for wall in box.walls if wall.effect not in ("write", "open"))
        around = (*shared, *others, Wall(file, "open", "granted"))
        return Workplace(box=replace(box, walls=around, temp=temp), file=file, apart=False)
    copy.mkdir()
    beside = walls(_copied(file, copy, box.places("empty", "replace")), "read")
    around = (*caches.walls, Wall(file.parent, "own", source=copy), *beside, *_without_own(box))
    return Workplace(box=replace(box, walls=around, temp=temp), file=copy / file.name)


def _without_own(box: Box) -> Iterator[Wall]:
    """Yield the walls of a box but for what a program has for itself, and what is kept in that."""
    return (one for one in box.walls if one.effect not in ("write", "own") and one.why not in ("runs", "ours"))


def _shows_elsewhere(box: Box) -> bool:
    """Tell whether something can stand in the place of something else in such a box."""
    return box.mounts and box.rung in ("bubblewrap", "landlock")


def _filled(environment: Mapping[str, str], kept: Path) -> dict[str, str]:
    return {name: value.replace("${kept}", str(kept)) for name, value in environment.items()}


def _around(program: str) -> Iterator[Path]:
    """Yield what a program needs beside itself, for where not everything can be read."""
    for place in dict.fromkeys((Path(program).parent, Path(os.path.realpath(program)).parent)):
        yield place.parent if place.name in ("bin", "sbin", ".bin") and len(place.parts) > 2 else place


def _copied(file: Path, into: Path, hidden: Collection[Path]) -> Iterator[Path]:
    """Copy a file and what settings may lie beside it; yield the folders beside it, to be shown as they are."""
    shutil.copy2(file, into / file.name)
    files, folders = 0, 0
    with os.scandir(file.parent) as entries:
        in_order = sorted(entries, key=lambda entry: (not entry.name.startswith(FIRST), entry.name))
    for entry in in_order:
        place, copy = Path(entry.path), into / entry.name
        if place in hidden or place == file:
            continue
        if entry.is_symlink():
            copy.symlink_to(place.readlink())
        elif entry.is_dir():
            folders += 1
            if folders <= MOST_FOLDERS:
                copy.mkdir()
                yield place
        elif files < MOST_FILES and _may_be_settings(entry, file):
            files += 1
            shutil.copy2(place, copy)


def _may_be_settings(entry: "os.DirEntry[str]", file: Path) -> bool:
    """Tell whether something beside a file may say how that is formatted. Others of its kind hardly do."""
    name = entry.name
    if Path(name).suffix == file.suffix and "config" not in name and not name.startswith("."):
        return False
    return entry.is_file() and entry.stat().st_size <= LARGEST and os.access(entry.path, os.R_OK)

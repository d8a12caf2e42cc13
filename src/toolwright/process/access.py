"""What the rules and the answers open and close for one command, and how far a box goes along with it."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from toolwright.process.box import EVERYTHING, SYSTEM, TEMP_FOLDERS
from toolwright.process.gitfolders import Placeholder
from toolwright.process.sight import is_folder, is_there
from toolwright.record import record

DEVICES = (Path("/dev"), Path("/proc"))
SIBLINGS = 500
"""Files of a folder that can be kept one by one while another in it is made or deleted."""


@record(frozen=True, slots=True, kw_only=True)
class Access:
    """All paths are canonical."""

    changes: tuple[Path, ...] = ()
    """What the command was allowed to write, by name."""
    deletes: tuple[Path, ...] = ()
    new_folders: tuple[Path, ...] = ()
    """Those of the changes that are folders to be made."""
    enters: tuple[Path, ...] = ()
    """Folders outside that it was allowed to work in."""
    reads: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    """Files and folders that the rules do not let it read."""
    veiled: tuple[tuple[str, bool], ...] = ()
    """Patterns of names in the project, and whether the rules keep such files from being read; the last one counts."""
    locked: tuple[Path, ...] = ()
    """Files and folders that the rules do not let it change."""
    spared: tuple[Path, ...] = ()
    """What it may change although it lies in a locked folder."""
    pinned: tuple[Path, ...] = ()
    """Folders that must keep their names for the rules to know what is in them."""
    repositories: tuple[Path, ...] = ()
    """Git folders below the project's own."""
    covered: tuple[Path, ...] = ()
    """Programs that the rules deny outright."""
    read_only: bool = False
    """Whether it may change nothing but what is named."""
    caches: bool = True
    """Whether it may have use for the caches of packages; each is a mount, and costs time."""
    network: bool = True
    """False where a rule denies it."""
    better_offline: bool = False
    """Whether it should have no network where the machine can see to that."""


@record(slots=True, kw_only=True)
class Opened:
    """What is opened to be written beyond the project."""

    folders: list[Path] = field(default_factory=list[Path])
    files: list[Path] = field(default_factory=list[Path])
    """Each alone."""
    made: list[Placeholder] = field(default_factory=list[Placeholder])
    """Those of the files that are not there yet, and must be for their own sake; folders among them."""
    kept: list[Path] = field(default_factory=list[Path])
    """What stays as it is in folders in which something else is made or deleted."""


@record(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a project lies, as far as it matters for what may be opened."""

    root: Path
    home: Path
    own: tuple[Path, ...]
    """Our folders and those of our kin: never opened."""
    plans: tuple[Path, ...]
    """The folders of plans in them and among the settings: opened file by file."""
    programs: tuple[Path, ...]
    """Where the PATH leads."""

    def opened(self, access: Access) -> Opened:
        """Exactly what was allowed, as it was allowed: a file alone, a folder where the folder was meant."""
        opened = Opened()
        for place in access.changes:
            if self._concerns(place, access) and not self._is_ours(place):
                self._open(opened, place, access)
        for place in access.deletes:
            if self._concerns(place, access) and not self._is_ours(place) and os.path.lexists(place):
                self._open_entries(opened, place)
        if not access.read_only:
            entered = (place for place in access.enters if is_folder(place) and not self._is_ours(place))
            opened.folders += [place for place in entered if not self._wide(place)]
        return opened

    def _concerns(self, place: Path, access: Access) -> bool:
        """The project is open as it is, but for who may only write what is named, and for plans."""
        return access.read_only or not place.is_relative_to(self.root) or _is_in(place, self.plans)

    def _open(self, opened: Opened, place: Path, access: Access) -> None:
        if is_folder(place):
            opened.folders += [] if self._wide(place) else [place]
        elif is_there(place):
            opened.files.append(place)
        elif _nearest(place) in TEMP_FOLDERS or _is_in(place, DEVICES):
            # These a command has for itself.
            return
        elif access.read_only or self._is_delicate(_nearest(place)) or _is_in(place, self.plans):
            opened.files.append(place)
            others = (other for other in (*access.new_folders, *access.changes) if other != place)
            folder = place in access.new_folders or any(other.is_relative_to(place) for other in others)
            opened.made.append(Placeholder(path=place, content=None if folder else b""))
        else:
            self._open_entries(opened, place)

    def _open_entries(self, opened: Opened, place: Path) -> None:
        """To make or delete something takes the folder that holds it; all else in there is kept."""
        folder = _nearest(place)
        if self._is_delicate(folder):
            return
        others = [entry for entry in _entries(folder) if entry != place and not entry.is_symlink()]
        if len(others) <= SIBLINGS:
            opened.folders.append(folder)
            opened.kept += others

    def _is_delicate(self, folder: Path) -> bool:
        """Whether a new file there could be run by somebody: in the home folder, in hidden ones, among programs."""
        hidden = folder.is_relative_to(self.home) and any(
            part.startswith(".") for part in folder.relative_to(self.home).parts
        )
        in_project = folder.is_relative_to(self.root)
        return not in_project and (
            hidden or self._wide(folder) or _is_in(folder, SYSTEM) or _is_in(folder, self.programs)
        )

    def _wide(self, folder: Path) -> bool:
        """Whether it holds far more than could have been meant."""
        if folder == EVERYTHING or folder in TEMP_FOLDERS:
            return True
        return any(place.is_relative_to(folder) for place in (self.home, self.root, *self.own))

    def _is_ours(self, place: Path) -> bool:
        return _is_in(place, self.own) and not _is_in(place, self.plans)


def _is_in(place: Path, folders: Iterable[Path]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _nearest(place: Path) -> Path:
    """The nearest folder above it that is there."""
    return next(folder for folder in place.parents if is_folder(folder))


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.iterdir()
    except OSError:
        return

"""Access of one command: all that rules and answers open and close for it, and how far a box goes along with it."""

import os
from collections.abc import Iterator
from pathlib import Path

from toolwright.process.box.box import EVERYTHING, SYSTEM, TEMP_FOLDERS, Wall, walls
from toolwright.process.paths.safe_stat import is_folder, is_in, is_there
from toolwright.record import record

DEVICES = (Path("/dev"), Path("/proc"))
SIBLINGS = 500
"""Files of a folder that can be kept one by one while another in it is made or deleted."""


@record(frozen=True, slots=True, kw_only=True)
class Access:
    """All paths are canonical."""

    changes: tuple[Path, ...] = ()
    """Places that the command was allowed to write, by name."""
    deletes: tuple[Path, ...] = ()
    enters: tuple[Path, ...] = ()
    """Folders outside that it was allowed to work in."""
    reads: tuple[Path, ...] = ()
    """Places it may read by name: nothing that a rule keeps from it, whatever else was answered."""
    hidden: tuple[Path, ...] = ()
    """Files and folders that the rules do not let it read."""
    replaceable: tuple[Path, ...] = ()
    """Those of them that it may delete and replace."""
    veiled: tuple[tuple[str, bool], ...] = ()
    """Patterns of names in the project, and whether the rules keep such files from being read; the last one counts."""
    locked: tuple[Path, ...] = ()
    """Files and folders of the project that the rules do not let it change."""
    locked_elsewhere: tuple[Path, ...] = ()
    spared: tuple[Path, ...] = ()
    """Places it may change although they lie in a locked folder."""
    pinned: tuple[Path, ...] = ()
    """Folders that must keep their names for the rules to know what is in them."""
    repositories: tuple[Path, ...] = ()
    """Git folders below the project's own."""
    covered: tuple[Path, ...] = ()
    """Programs that the rules deny outright."""
    read_only: bool = False
    """True if it may change nothing but what is named."""
    caches: bool = True
    """True if it may have use for the caches of packages; each is a mount, and costs time."""
    network: bool = True
    """False where a rule denies it."""
    own_space: bool = False
    """True if it has the network of its session, whose door goes by the rules."""
    doors: tuple[int, ...] = ()
    """Ports of this machine that are all it reaches, where it can be held to those alone."""
    better_offline: bool = False
    """True if it should have no network where the machine can see to that."""


@record(frozen=True, slots=True, kw_only=True)
class ProjectPaths:
    """The places of a project, as far as they matter for what may be opened."""

    root: Path
    home: Path
    own: tuple[Path, ...]
    """Our folders: neither they nor what holds them is ever opened."""
    fixed: tuple[Path, ...]
    """Other places of ours: never opened."""
    plans: tuple[Path, ...]
    """The folders of plans in them and among the settings: opened file by file."""
    programs: tuple[Path, ...]
    """The folders of the PATH."""

    def grants(self, access: Access, *, brokered: bool = False, by_name: bool = False) -> Iterator[Wall]:
        """Yield exactly what was allowed, as it was allowed: a file alone, a folder where the folder was meant.

        Where changes are `brokered` they are made outside of the box. Where a box goes `by_name`, what is opened need
        not be there.
        """
        for place in access.changes:
            if not self._may_open(place, access):
                continue
            if is_folder(place):
                yield from () if self._wide(place) else [Wall(place, "write", "granted")]
            elif not is_there(place) and (_nearest(place) in TEMP_FOLDERS or is_in(place, DEVICES)):
                # These a command has for itself.
                continue
            elif plans := next((one for one in self._own_plans if is_in(place, [one])), None):
                # Our data is covered, and nobody can say what a program means below a cover.
                yield from [Wall(plans, "write", "granted")] if is_folder(plans) else ()
            elif brokered and not self._is_the_commands_own(place):
                yield Wall(place, "give", "granted")
            elif is_there(place) or by_name:
                yield Wall(place, "open", "granted")
            else:
                yield from self._around(place, access)
        for place in access.deletes:
            if not self._may_open(place, access) or not os.path.lexists(place):
                continue
            if brokered and not self._is_the_commands_own(place):
                yield Wall(place, "give", "granted")
            else:
                yield from self._around(place, access)
        for place in () if access.read_only else access.enters:
            if is_folder(place) and self._is_grantable(place, access) and not self._wide(place):
                yield Wall(place, "write", "granted")

    @property
    def _own_plans(self) -> list[Path]:
        return [one for one in self.plans if not one.is_relative_to(self.root)]

    def _is_the_commands_own(self, place: Path) -> bool:
        """Tell whether a command has other files in this place than anybody else."""
        return is_in(place, (*TEMP_FOLDERS, *DEVICES)) and not is_in(place, [self.root])

    def _may_open(self, place: Path, access: Access) -> bool:
        """The project is open as it is, but for who may only write what is named, and for plans."""
        concerns = access.read_only or not place.is_relative_to(self.root) or is_in(place, self.plans)
        return concerns and self._is_grantable(place, access)

    def _is_grantable(self, place: Path, access: Access) -> bool:
        """Tell whether an answer may open a place: what is ours never is, nor what another rule keeps from commands."""
        hidden = place not in access.reads and is_there(place) and is_in(place, access.hidden)
        return not (hidden or place in access.covered or self._is_ours(place))

    def _around(self, place: Path, access: Access) -> Iterator[Wall]:
        """To make or delete something takes the folder that holds it; all else in there is kept."""
        folder = _nearest(place)
        if self._is_delicate(folder) or not self._is_grantable(folder, access):
            return
        others = [entry for entry in _entries(folder) if entry != place and not entry.is_symlink()]
        if len(others) <= SIBLINGS:
            yield Wall(folder, "write", "granted")
            yield from walls(others, "read", "beside")

    def _is_delicate(self, folder: Path) -> bool:
        """Tell whether somebody could run a new file there: in the home folder, in hidden ones, among programs."""
        hidden = folder.is_relative_to(self.home) and any(
            part.startswith(".") for part in folder.relative_to(self.home).parts
        )
        in_project = folder.is_relative_to(self.root)
        return not in_project and (
            hidden or self._wide(folder) or is_in(folder, SYSTEM) or is_in(folder, self.programs)
        )

    def _wide(self, folder: Path) -> bool:
        """Tell whether it holds far more than could have been meant."""
        if folder == EVERYTHING or folder in TEMP_FOLDERS:
            return True
        return any(place.is_relative_to(folder) for place in (self.home, self.root, *self.own))

    def _is_ours(self, place: Path) -> bool:
        """Tell whether it is ours. A project that lies in a folder of ours, as a copy to be evaluated, is not."""
        of_project = place.is_relative_to(self.root)
        around = [one for one in self.own if not (of_project and self.root.is_relative_to(one))]
        return is_in(place, (*around, *self.fixed)) and not is_in(place, self.plans)


def _nearest(place: Path) -> Path:
    """The nearest folder above it that is there."""
    return next(folder for folder in place.parents if is_folder(folder))


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.iterdir()
    except OSError:
        return

"""A box: the walls around one command, said without a word about what puts them up."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, NamedTuple

from toolwright.process.gitfolders import Placeholder
from toolwright.process.keeper.order import Confinement, Powers
from toolwright.record import record

Rung = Literal["bubblewrap", "landlock", "seatbelt", "none"]

EVERYTHING = Path("/")
SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/gnu", "/sys")))
"""What a program needs to see to run at all, where not everything is readable."""


class Shown(NamedTuple):
    """Something that stands in the place of something else."""

    source: Path
    target: Path


@record(frozen=True, slots=True, kw_only=True)
class Box:
    """What a command may write, read and reach. All paths are canonical."""

    rung: Rung
    writable: tuple[Path, ...] = ()
    """Folders, with all that is in them."""
    private: tuple[Shown, ...] = ()
    """Folders of our own, written in the place of the user's."""
    protected: tuple[Path, ...] = ()
    """Read-only although they lie in something writable."""
    installed: tuple[Path, ...] = ()
    """Those of them that we ourselves run from, or take our settings from."""
    ruled: tuple[Path, ...] = ()
    """The same, because a rule denies to edit them."""
    beside: tuple[Path, ...] = ()
    """The same, because only something beside them was granted."""
    pinned: tuple[Path, ...] = ()
    """Writable folders that cannot be moved away, because something protected lies in them."""
    granted: tuple[Path, ...] = ()
    """Written although they lie in something that is read-only: what a person or a rule has allowed by name."""
    closed: tuple[Path, ...] = ()
    """Folders that look empty."""
    nothing: Path | None = None
    """An empty folder, to stand in their place."""
    kept: tuple[Path, ...] = ()
    """What can be read although it lies in a closed folder."""
    replaced: tuple[Shown, ...] = ()
    """Files that show other contents than their own."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of git that variables tell it, where its own file is there to be written."""
    hidden: tuple[Path, ...] = ()
    """The files among the replaced, and the folders among the closed, whose contents are nobody's business."""
    covered: tuple[Path, ...] = ()
    """Programs that a rule denies outright."""
    readable: tuple[Path, ...] = (EVERYTHING,)
    network: bool = True
    own_space: bool = False
    """Whether it is put up in the network namespace of its session, which has no way out but our own door."""
    doors: tuple[int, ...] = ()
    """Ports of this machine that are all it reaches, where there are neither namespaces nor calls that are held."""
    ports: tuple[int, ...] = ()
    """Ports of ours that it does not reach, where those cannot see for themselves who comes."""
    temp: Path = Path("/tmp")  # noqa: S108 - what stands for it where there is no private one
    """The folder that takes the place of the system's temporary one."""
    mounts: bool = True
    """Whether Landlock can be helped by a mount namespace, without which it cannot protect, hide or replace."""
    anchored: bool = False
    """Whether all of it hangs on one process, with which the kernel ends the rest."""
    scoped: bool = False
    """Whether the kernel keeps it from processes and nameless sockets outside."""
    read_only: bool = False
    """Whether the rules let the agent edit nothing."""
    placeholders: tuple[Placeholder, ...] = ()
    """What must be there to be protected."""
    brokered: bool = False
    """Whether the keeper makes changes for programs that they cannot make in it."""
    given: tuple[Path, ...] = ()
    """What was allowed by name and stays closed: the keeper changes it, and what is below, outside."""
    named: tuple[Path, ...] = ()
    """Writable folders that may be moved away and deleted themselves."""
    replaceable: tuple[Path, ...] = ()
    """Those of the hidden that may be deleted and replaced."""
    absent: tuple[Path, ...] = ()
    """Settings that are not there, and that are not to be made."""

    def allows_writing(self, path: Path) -> bool:
        """Whether the walls let a canonical path be written. The machine's own permissions are another matter."""
        if self.rung == "none":
            return True
        open_ = (*self.writable, *self.granted, *self.given, *WRITABLE_ANYWHERE, *(one.target for one in self.private))
        replaced = (one.target for one in self.replaced)
        shut = (*self.protected, *self.ruled, *self.beside, *self.closed, *self.absent, *self.shown, *replaced)
        return _deepest(open_, path) > _deepest(shut, path) or path in (*self.granted, *self.given)

    def powers(self) -> Powers:
        """Return what the keeper may change for the programs in it."""
        masked = {one.target for one in self.replaced} if self.brokered else set[Path]()
        hidden = [place for place in self.replaceable if place in masked and self.allows_writing(place.parent)]
        open_ = (*self.writable, *self.granted, *(one.source for one in self.private), self.temp)
        shut = (*self.protected, *self.ruled, *self.beside, *self.closed, *self.covered, *masked.difference(hidden))
        return {
            "brokered": self.brokered,
            "reads": self.rung == "landlock" and not self.mounts and bool(self.given),
            "granted": _texts(self.given),
            "hidden": _texts(hidden),
            "open": _texts(open_ if self.brokered else ()),
            "pinned": _texts((*self.pinned, *self.named)),
            "shut": _texts(shut if self.brokered else ()),
            "absent": _texts(self.absent),
        }

    @property
    def shown(self) -> tuple[Path, ...]:
        """What is read-only and must be seen although it lies in a folder that every box has anew."""
        return tuple(
            place
            for place in self.readable
            if place not in self.writable and any(place.is_relative_to(folder) for folder in MADE_ANEW)
        )


@record(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """A command made ready for its box: what to start, what to add to its environment, what the keeper sets up."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    confinement: Confinement | None = None
    anchored: bool = False
    boxed: bool = False
    scoped: bool = False
    exact: tuple[str, ...] = ()
    """Places that must be themselves and no links once the box is up."""
    disk: tuple[Path, ...] = ()
    """Folders on whose disks it must leave some room."""
    temp: Path | None = None
    """The folder that its temporary files are in, if that is its own."""


TEMP_FOLDERS = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - they are what is made private
MADE_ANEW = (*TEMP_FOLDERS, Path("/dev/shm"))  # noqa: S108 - the same
WRITABLE_ANYWHERE = (*TEMP_FOLDERS, Path("/dev"), Path("/proc"))


def temporary(folder: Path) -> dict[str, str]:
    """Variables that name a folder for temporary files, and for the profiles that browsers cannot do without."""
    return {"TMPDIR": str(folder), "CHROME_CONFIG_HOME": str(folder)}


def _texts(places: Iterable[Path]) -> list[str]:
    return list(dict.fromkeys(map(str, places)))


def _deepest(places: Iterable[Path], path: Path) -> int:
    """How near the nearest of the places that hold the path is to it."""
    return max((len(place.parts) for place in places if path.is_relative_to(place)), default=0)

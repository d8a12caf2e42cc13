"""A box: the walls around one command, said without a word about what puts them up."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from toolwright.process.keeper.order import Confinement
from toolwright.record import record

Rung = Literal["bubblewrap", "landlock", "seatbelt", "none"]

EVERYTHING = Path("/")
SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/sys", "/run")))
"""What a program needs to see to run at all, where not everything is readable."""


@record(frozen=True, slots=True, kw_only=True)
class Box:
    """What a command may write, read and reach. All paths are canonical."""

    rung: Rung
    writable: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    """Read-only although they lie in something writable."""
    pinned: tuple[Path, ...] = ()
    """Writable folders that cannot be moved away, because something protected lies in them."""
    hidden: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = (EVERYTHING,)
    network: bool = True
    temp: Path = Path("/tmp")  # noqa: S108 - what stands for it where there is no private one
    """The folder that takes the place of the system's temporary one."""
    mounts: bool = True
    """Whether Landlock can be helped by a mount namespace, without which it cannot protect, hide or replace."""

    def allows_writing(self, path: Path) -> bool:
        """Whether the walls let a canonical path be written. The machine's own permissions are another matter."""
        if self.rung == "none":
            return True
        closed = (*self.protected, *self.shown)
        return _deepest((*self.writable, *WRITABLE_ANYWHERE), path) > _deepest(closed, path)

    @property
    def shown(self) -> tuple[Path, ...]:
        """What is read-only and must be seen although it lies in a temporary folder, which is replaced."""
        return tuple(
            place
            for place in self.readable
            if place not in self.writable and any(place.is_relative_to(folder) for folder in TEMP_FOLDERS)
        )


@record(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """A command made ready for its box: what to start, what to add to its environment, what the keeper sets up."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    confinement: Confinement | None = None


TEMP_FOLDERS = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - they are what is made private
WRITABLE_ANYWHERE = (*TEMP_FOLDERS, Path("/dev"), Path("/proc"))


def _deepest(places: Iterable[Path], path: Path) -> int:
    """How near the nearest of the places that hold the path is to it."""
    return max((len(place.parts) for place in places if path.is_relative_to(place)), default=0)

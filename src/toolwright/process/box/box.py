"""A box: the walls around one command, said without a word about what puts them up."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal, NamedTuple

from toolwright.process.keeper.order import KernelConfinement, Powers
from toolwright.process.paths.git_folders import Placeholder
from toolwright.process.paths.safe_stat import is_in
from toolwright.record import record

Rung = Literal["bubblewrap", "landlock", "seatbelt", "none"]

EVERYTHING = Path("/")
SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix", "/gnu", "/sys")))
"""Folders that a program needs to see to run at all, where not everything is readable."""

Effect = Literal["write", "stay", "own", "read", "empty", "show", "open", "replace", "give", "absent"]
"""Effects on a place: `write` lets it be written, `stay` keeps its name, `own` is a folder of commands' own in the
place of the user's, `read` lets it only be read, `empty` makes it look empty, `show` lets it be read in something that
looks empty, `open` lets it be written in something that is only read, and `replace` puts something else in its place.
`give` leaves it closed, and the keeper changes it, and what is below, outside; `absent` is not there, and not to be
made. Of two that are about the same place the one named later here decides."""

Why = Literal["usual", "granted", "beside", "runs", "ours", "rule", "hidden", "replaceable", "denied", "closed", "git"]
"""Why that is so: `granted` is what a person or a rule has allowed by name, and `beside` lies beside it; `runs` says
what programs are run, `ours` is where we run from and what says what is allowed, `rule` may not be edited by a rule,
`hidden` is nobody's business, `replaceable` the same but may be deleted and replaced, `denied` is a program that a rule
denies, `closed` belongs to programs outside, and `git` are settings of git with what makes it look past all this."""
HIDDEN: tuple[Why, ...] = ("hidden", "replaceable")


class Wall(NamedTuple):
    """An effect on a place in a box, and on all that is in it. Of two places the deeper one decides."""

    path: Path
    effect: Effect
    why: Why = "usual"
    source: Path | None = None
    """The file or folder to be found in its place; None if that does not matter."""


def walls(places: Iterable[Path], effect: Effect, why: Why = "usual") -> Iterator[Wall]:
    return (Wall(place, effect, why) for place in places)


@record(frozen=True, slots=True, kw_only=True)
class Box:
    """Places a command may write and read, and the network it may reach. All paths are canonical."""

    rung: Rung
    walls: tuple[Wall, ...] = ()
    nothing: Path | None = None
    """An empty folder, to stand in the place of those that look empty."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of git that variables tell it, where its own file is there to be written."""
    readable: tuple[Path, ...] = (EVERYTHING,)
    network: bool = True
    own_space: bool = False
    """True if it is put up in the network namespace of its session, which has no way out but our own door."""
    doors: tuple[int, ...] = ()
    """Ports of this machine that are all it reaches, where there are neither namespaces nor calls that are held."""
    ports: tuple[int, ...] = ()
    """Ports of ours that it does not reach, where those cannot see for themselves who comes."""
    temp: Path = Path("/tmp")  # noqa: S108 - what stands for it where there is no private one
    """The folder that takes the place of the system's temporary one."""
    mounts: bool = True
    """True if Landlock can be helped by a mount namespace, without which it cannot protect, hide or replace."""
    anchored: bool = False
    """True if all of it hangs on one process, with which the kernel ends the rest."""
    scoped: bool = False
    """True if the kernel keeps it from processes and nameless sockets outside."""
    read_only: bool = False
    """True if the rules let the agent edit nothing."""
    placeholders: tuple[Placeholder, ...] = ()
    """Placeholders that must be there to be protected."""
    brokered: bool = False
    """True if the keeper makes changes for programs that they cannot make in it."""

    def places(self, *effects: Effect, why: tuple[str, ...] = ()) -> tuple[Path, ...]:
        """Return the places of which any of these becomes, for any of these reasons; without reasons for whatever."""
        return tuple(wall.path for wall in self.walls if wall.effect in effects and (not why or wall.why in why))

    @property
    def hidden(self) -> tuple[Path, ...]:
        """Places that are hidden from every command."""
        return self.places("empty", "replace", why=HIDDEN)

    def allows_writing(self, path: Path) -> bool:
        """Tell whether the walls let a canonical path be written. The machine's own permissions are another matter."""
        if self.rung == "none":
            return True
        open_ = (*self.places("write", "own", "open", "give"), *WRITABLE_ANYWHERE)
        shut = (*self.places("read", "empty", "replace", "absent"), *self.shown)
        return _deepest(open_, path) > _deepest(shut, path) or path in self.places("open", "give")

    def powers(self) -> Powers:
        """Return what the keeper may change for the programs in it."""
        replaced = [wall for wall in self.walls if wall.effect == "replace" and wall.source is not None]
        free = (wall.path for wall in replaced if wall.why == "replaceable")
        hidden = [place for place in free if self.brokered and self.allows_writing(place.parent)]
        masked = [wall.path for wall in replaced if wall.path not in hidden or wall.why == "denied"]
        own = (wall.source for wall in self.walls if wall.effect == "own" and wall.source is not None)
        named = self.places("write", why=("granted",)) if self.brokered else ()
        return {
            "brokered": self.brokered,
            "reads": self.rung == "landlock" and not self.mounts and bool(self.places("give")),
            "granted": _texts(self.places("give")),
            "hidden": _texts(hidden),
            "open": _texts((*self.places("write", "open"), *own, self.temp) if self.brokered else ()),
            "pinned": _texts((*self.places("stay"), *named)),
            "shut": _texts((*self.places("read", "empty"), *masked) if self.brokered else ()),
            "absent": _texts(self.places("absent")),
        }

    @property
    def shown(self) -> tuple[Path, ...]:
        """Places that are read-only and must be seen although they lie in a folder that every box has anew."""
        writable = self.places("write")
        return tuple(place for place in self.readable if place not in writable and is_in(place, MADE_ANEW))


@record(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """A command made ready for its box: what to start, what to add to its environment, what the keeper sets up."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    confinement: KernelConfinement | None = None
    anchored: bool = False
    """True if it hangs on a process with whose end the kernel ends all of it."""
    boxed: bool = False
    """True if there is a box at all, by which our own ports know who comes."""
    scoped: bool = False
    """True if it may reach no process and no nameless socket outside, where the kernel can see to that."""
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
    """Return how near the nearest of the places that hold the path is to it."""
    return max((len(place.parts) for place in places if path.is_relative_to(place)), default=0)

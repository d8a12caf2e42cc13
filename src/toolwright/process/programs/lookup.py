"""Our own programs: each is looked up once, and never where a command could have put it."""

import os
import stat
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.machine.own_files import Ours
from toolwright.process.box.box import MADE_ANEW
from toolwright.process.box.caches import shared_places
from toolwright.process.paths.safe_stat import is_in

LINKS = 40
"""Links on the way to a program; the system follows no more either."""
_ADMINS = frozenset({0, 80} if sys.platform == "darwin" else {0})
"""Groups whose members may become root anyway."""


class Lookup:
    """The finder of the programs that we start for ourselves; one for each workspace.

    What agents run is found by their own PATH, which is none of our business here.
    """

    def __init__(
        self,
        path: str,
        *,
        project: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        ours: Iterable[Path] = (),
        beside: Path | None = None,
        trusted: bool = False,
    ) -> None:
        """`project` are its folders, `writable` what else commands write, `ours` our installation, which they do not.

        `beside` is where programs are that were installed with us, which need not be on the PATH. `trusted` is whether
        the project's own programs may run where they are asked for by `find_theirs`.
        """
        self._project = tuple(map(_real, project))
        self._writable = tuple(map(_real, writable))
        self._ours = tuple(map(_real, ours))
        self._trusted = trusted
        folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117 - on text
        self._given = tuple(dict.fromkeys(folders))
        self._folders = (*self._given, *([str(beside)] if beside else []))
        self._found = dict[str, str]()

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        *,
        project: Iterable[Path],
        home: Path,
        own: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        trusted: bool = False,
    ) -> "Lookup":
        """Make a lookup in the PATH of an environment. `own` are folders of ours, parts of which commands write."""
        named = [Path(one) for one in (environment.get("TMPDIR"), os.environ.get("TMPDIR")) if one]
        temporary = [*MADE_ANEW, *named]
        # An environment that is activated belongs to some project, whichever, and commands in that write to it.
        activated = [Path(one) for one in (environment.get("VIRTUAL_ENV"),) if one]
        return cls(
            environment.get("PATH", os.environ.get("PATH", os.defpath)),
            project=project,
            writable=[*writable, *own, *temporary, *activated, *shared_places(home)],
            ours=Ours.of(environment).installation,
            beside=Path(sys.executable).parent,
            trusted=trusted,
        )

    def find(self, name: str) -> str | None:
        """Return the absolute path of a program; None if it is not there, or only where it may not be."""
        known = self._found.get(name)
        if known is not None and os.access(known, os.X_OK):
            return known
        path = next((place for place in self._places(name) if not self.fault(place)), None)
        if path is not None:
            self._found[name] = path
        return path

    def find_theirs(self, name: str) -> str | None:
        """Return the path of a program that the settings name: in a trusted project it may be the project's own."""
        return self.find(name) or (next(self._places(name), None) if self._trusted else None)

    def need(self, name: str) -> str:
        """Return the path of a program that the settings name. ToolError if there is none, or none that may be run."""
        path = self.find_theirs(name)
        if path is None:
            raise ToolError(self.missing(name), "missing")
        return path

    def missing(self, name: str) -> str:
        """Say why there is no such program, in a sentence or two."""
        fault = self.why_not(name)
        if fault:
            return f"{fault}. It is not run; install {name} elsewhere, or start toolwright with another PATH."
        return f"There is no program {name!r} on this machine. Install it, or use another."

    def why_not(self, name: str) -> str:
        """Say why a program that the PATH has is not taken; empty if another is, or if there is none."""
        return "" if self.find(name) else next(filter(None, map(self.fault, self._places(name))), "")

    def fault(self, program: str) -> str:
        """Say what is wrong with a file as a program of ours; empty if nothing is."""
        try:
            way = list(_way(program))
        except OSError:
            return f"{program} cannot be reached"
        for place in way:
            kept = _depth(self._ours, place)
            if _depth(self._project, place) > kept:
                return f"{program} lies in the project, where commands may write"
            if _depth(self._writable, place) > kept:
                return f"{program} lies where commands may write"
            if not kept and (_is_open(place) or _is_open(place.parent)):
                return f"{program} can be exchanged by other users of this machine"
        return ""

    @cached_property
    def path(self) -> str:
        """The PATH for programs of ours: the folders in which commands cannot put anything."""
        return os.pathsep.join(folder for folder in self._given if not self.fault(folder))

    def around(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Make the environment for our own programs, which themselves start others by name."""
        return {**environment, "PATH": self.path}

    def around_theirs(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Do the same for programs that the settings name: in a trusted project they find the project's own as well."""
        return dict(environment) if self._trusted else self.around(environment)

    def _places(self, name: str) -> Iterator[str]:
        """Yield every program of this name, in the order of the PATH."""
        if "\0" in name or not name:
            return
        named: Sequence[str] = (name,) if os.path.isabs(name) else ()  # noqa: PTH117 - on text
        if "/" not in name:
            named = [f"{folder}/{name}" for folder in self._folders]
        for place in named:
            if os.access(place, os.X_OK) and os.path.isfile(place):  # noqa: PTH113 - for each of many
                yield place


def _real(place: Path) -> Path:
    return Path(os.path.realpath(place))


def _depth(places: Iterable[Path], place: Path) -> int:
    """Tell how deep the deepest of the places lies that hold another: of two that do, the deeper one decides."""
    return max((len(one.parts) for one in places if is_in(place, [one])), default=0)


def _way(path: str) -> Iterator[Path]:
    """Yield each place that a path leads through: where every link on the way lies, and what is at its end."""
    rest, here, links = deque(Path(path).parts[1:]), Path("/"), 0
    while rest:
        part = rest.popleft()
        if part == "..":
            here = here.parent
            continue
        place = here / part
        if not stat.S_ISLNK(place.lstat().st_mode):
            here = place
            continue
        yield place
        links += 1
        if links > LINKS:
            raise OSError(f"{path} leads through too many links")
        target = place.readlink()
        if target.is_absolute():
            here = Path("/")
        rest.extendleft(reversed([part for part in target.parts if part != "/"]))
    yield here


def _is_open(place: Path) -> bool:
    """Tell whether others than its owner and root may write it; a group of the owner's alone is no other."""
    try:
        status = place.lstat()
    except OSError:
        return True
    if stat.S_ISLNK(status.st_mode):
        return False
    if status.st_mode & stat.S_IWOTH:
        return True
    others = status.st_uid != 0 and status.st_gid not in _ADMINS | {status.st_uid}
    return bool(status.st_mode & stat.S_IWGRP) and others

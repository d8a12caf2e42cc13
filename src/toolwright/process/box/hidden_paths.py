"""Hides from commands what rules keep from being read, what is ours, and sockets at which others obey."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from toolwright.process.box.access import Access
from toolwright.process.box.box import TEMP_FOLDERS, Wall, Why, walls
from toolwright.process.box.decoys import Decoys
from toolwright.process.paths.safe_stat import canonical, is_folder, is_in, is_there
from toolwright.text.wildcard import matches

RUN = Path("/run")
"""Full of them. What programs need of it is shown, the rest is not there."""
NEEDED = (
    *("systemd/resolve/stub-resolv.conf", "systemd/resolve/resolv.conf", "resolvconf/resolv.conf"),
    *("NetworkManager/resolv.conf", "NetworkManager/no-stub-resolv.conf", "connman/resolv.conf"),
    *("current-system", "booted-system", "opengl-driver", "opengl-driver-32", "wrappers", "media", "host"),
)
"""Files by which names are looked up, and where some systems have their programs and drives."""
HOME_SOCKETS = (".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack/run")
"""Sockets of container programs that run in a machine of their own, which no list of the kernel's shows."""
UNIX_SOCKETS = Path("/proc/net/unix")
MANY = 200


class Hiding:
    """One for each opened project."""

    def __init__(
        self,
        *,
        root: Path,
        home: Path,
        secrets: Sequence[Path],
        readable: Sequence[Path],
        hidden: Sequence[Path],
        reveal: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        """`secrets` are files of ours, `readable` the parts of our folders that commands may read; `hidden` and
        `reveal` are what the user wants."""
        self._root, self._home = root, home
        self._secrets, self._readable = tuple(secrets), tuple(readable)
        self._always, self._reveal = tuple(hidden), tuple(reveal)
        self._environment = environment
        self._sockets = Sockets()

    def look(
        self, access: Access, own: Sequence[Path], decoys: Decoys, *, shared: Sequence[Path], mounts: bool
    ) -> list[Wall]:
        """Return the walls before what one command is not to see.

        `own` are our folders. Sockets in what is `shared` with commands are their own.
        """
        places = [canonical(place) for place in (*self._always, *access.hidden)]
        hidden = [place for place in dict.fromkeys(self._unless_revealed(places)) if is_there(place)]
        shut = [place for place in hidden if is_folder(place)]
        secrets = [place for place in self._secrets if is_there(place)]
        out_of_sight = (*self._doors[0], *([] if mounts else secrets))
        closed = tuple(dict.fromkeys((*own, *out_of_sight, *shut)))
        listened = self._sockets.elsewhere([*closed, *TEMP_FOLDERS, self._root, *shared]) if mounts else []
        unread = (place for place in secrets if not is_in(place, closed))
        around = [*walls(out_of_sight, "empty", "closed"), *walls(shut, "empty", "hidden")]
        for place in hidden:
            why: Why = "replaceable" if place in access.replaceable else "hidden"
            if place not in shut and (decoy := decoys.of_file(place, why)):
                around.append(decoy)
        around += (Wall(place, "replace", "denied", decoys.empty()) for place in access.covered)
        others = (*unread, *self._unless_revealed(listened))
        around += (Wall(place, "replace", "closed", decoys.empty()) for place in others)
        return [*around, *walls(self._kept(closed, own, access), "show")]

    def _kept(self, closed: Sequence[Path], own: Sequence[Path], access: Access) -> Iterator[Path]:
        """Yield what is shown in a closed folder: of ours only what may be, if it was asked for; of others what is
        needed."""
        for place in dict.fromkeys([*access.reads, *self._doors[1], *self._skills]):
            inside = is_there(place) and is_in(place.parent, closed) and not place.is_symlink()
            if inside and (not is_in(place, own) or is_in(place, self._readable)):
                yield place

    def _unless_revealed(self, places: Iterable[Path]) -> Iterable[Path]:
        return (place for place in places if not self._is_revealed(place)) if self._reveal else places

    def _is_revealed(self, place: Path) -> bool:
        names = (str(place), os.path.relpath(place, self._root))
        return any(matches(name, pattern) for name in names for pattern in self._reveal)

    @cached_property
    def _doors(self) -> tuple[list[Path], list[Path]]:
        """Folders of sockets, and what is shown of them all the same. Looked for once."""
        revealed = [Path(pattern) for pattern in self._reveal if pattern.startswith("/")]
        return _closed_doors(self._home), [*_needed_of_run(self._environment), *revealed]

    @cached_property
    def _skills(self) -> tuple[Path, ...]:
        """Return the folders of what skills speak of, which commands run."""
        return tuple(place for place in self._readable if place.name.startswith("skill"))


def _closed_doors(home: Path) -> list[Path]:
    """Folders of sockets that no command needs to see."""
    places = [RUN, *(home / name for name in HOME_SOCKETS)]
    return [place.resolve() for place in places if is_folder(place)]


def _needed_of_run(environment: Mapping[str, str]) -> list[Path]:
    """Return the parts of it that are shown all the same: links as what they lead to, and programs on the PATH."""
    programs = [Path(name) for name in environment.get("PATH", "").split(":") if name.startswith(f"{RUN}/")]
    return [place for place in dict.fromkeys([*(RUN / name for name in NEEDED), *programs]) if is_there(place)]


class Sockets:
    """The sockets that somebody listens at. Where each lies is found out once, whether it can be written every time."""

    def __init__(self) -> None:
        self._known = dict[str, Path]()
        """By what the kernel says of a socket, its number among it."""

    def elsewhere(self, closed: Sequence[Path]) -> list[Path]:
        """Those of now, but for those in closed folders. Those known longest come first: a job may make any number."""
        listening = sorted(_listening(), key=lambda place: place not in self._known)
        self._known = {one: self._known.get(one) or _place(one) for one in listening}
        open_ = list[Path]()
        for place in dict.fromkeys(self._known.values()):
            # Who may not write it cannot knock there.
            if not is_in(place, closed) and os.access(place, os.W_OK) and place.is_socket():
                open_.append(place)
        return open_[:MANY]


def _listening() -> Iterator[str]:
    """The number and the name of each."""
    try:
        lines = UNIX_SOCKETS.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    yield from (line.split(maxsplit=6)[6] for line in lines if " /" in line)


def _place(line: str) -> Path:
    return Path(os.path.realpath(line.partition(" ")[2].lstrip(" ")))

"""Doors out of every box: sockets at which somebody outside does what he is told."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from toolwright.process.sight import is_folder, is_in, is_there

RUN = Path("/run")
"""Full of them. What programs need of it is shown, the rest is not there."""
NEEDED = (
    *("systemd/resolve/stub-resolv.conf", "systemd/resolve/resolv.conf", "resolvconf/resolv.conf"),
    *("NetworkManager/resolv.conf", "NetworkManager/no-stub-resolv.conf", "connman/resolv.conf"),
    *("current-system", "booted-system", "opengl-driver", "opengl-driver-32", "wrappers", "media", "host"),
)
"""How names are looked up, and where some systems have their programs and drives."""
HOME_SOCKETS = (".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack/run")
"""Where container programs that run in a machine of their own have theirs, which no list of the kernel's shows."""
UNIX_SOCKETS = Path("/proc/net/unix")
MANY = 200


def closed_doors(home: Path) -> list[Path]:
    """Folders of sockets that no command needs to see."""
    places = [RUN, *(home / name for name in HOME_SOCKETS)]
    return [place.resolve() for place in places if is_folder(place)]


def needed_of_run(environment: Mapping[str, str]) -> list[Path]:
    """What is shown of the folder all the same: links as what they lead to, and programs on the PATH."""
    programs = [Path(name) for name in environment.get("PATH", "").split(":") if name.startswith(f"{RUN}/")]
    return [place for place in dict.fromkeys([*(RUN / name for name in NEEDED), *programs]) if is_there(place)]


class Sockets:
    """The sockets that somebody listens at. Where each lies is found out once, whether it can be written every time."""

    def __init__(self) -> None:
        self._known = dict[str, Path]()
        """By what the kernel says of a socket, its number among it."""

    def elsewhere(self, closed: Sequence[Path]) -> list[Path]:
        """Those of now, but for those in closed folders. Those known longest come first: a job may make any number."""
        told = sorted(_listening(), key=lambda one: one not in self._known)
        self._known = {one: self._known.get(one) or _place(one) for one in told}
        found = list[Path]()
        for place in dict.fromkeys(self._known.values()):
            # Who may not write it cannot knock there.
            if not is_in(place, closed) and os.access(place, os.W_OK) and place.is_socket():
                found.append(place)
        return found[:MANY]


def _listening() -> Iterator[str]:
    """The number and the name of each."""
    try:
        lines = UNIX_SOCKETS.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    yield from (line.split(maxsplit=6)[6] for line in lines if " /" in line)


def _place(told: str) -> Path:
    return Path(os.path.realpath(told.partition(" ")[2].lstrip(" ")))

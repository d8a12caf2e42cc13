"""Doors out of every box: sockets at which somebody outside does what he is told."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolwright.process.sight import is_folder, is_there

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


def sockets_elsewhere(closed: list[Path], project: Path) -> list[Path]:
    """The sockets that somebody listens at now, but for those in the closed folders and in the project."""
    found = list[Path]()
    for place in _listening():
        within = any(place.is_relative_to(folder) for folder in (*closed, project))
        # Who may not write it cannot knock there.
        if not within and os.access(place, os.W_OK) and place.is_socket():
            found.append(place)
    return found[:MANY]


def _listening() -> Iterator[Path]:
    try:
        lines = UNIX_SOCKETS.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for name in dict.fromkeys(line.split(maxsplit=7)[7] for line in lines if line.count(" /")):
        yield Path(os.path.realpath(name))

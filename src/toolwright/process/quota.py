"""A control group that limits how many processes root's commands may be."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
PREFIX = "toolwright-"


def make_group(processes: int) -> Path | None:
    """A new group for so many processes; None where there is no need for one, or no right to make it."""
    if os.geteuid() != 0:
        return None
    for parent in _parents():
        _remove_abandoned(parent)
        # An old group of that name, left by a process that had our number, would leave us without a limit.
        group = parent / f"{PREFIX}{os.getpid()}-{os.urandom(6).hex()}"
        try:
            group.mkdir()
            (group / "pids.max").write_text(str(processes))
        except OSError:
            remove_group(group)
        else:
            return group
    return None


def remove_group(group: Path) -> None:
    """Remove a group that no process is in. One that is still in use stays, for a later start to remove."""
    with suppress(OSError):
        group.rmdir()


def _parents() -> Iterator[Path]:
    """Where a group may go: below our own or beside it, in the tree for pids or in the one for everything."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "pids"):
                own = GROUPS / controllers / path.strip("/")
                yield from (folder for folder in (own, own.parent) if (folder / "cgroup.procs").exists())


def _remove_abandoned(parent: Path) -> None:
    """Whoever is killed leaves a group behind."""
    for group in parent.glob(f"{PREFIX}*"):
        pid = group.name.removeprefix(PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            remove_group(group)

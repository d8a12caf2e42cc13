"""Control groups that limit how many processes commands may be, and how much memory they may take."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from toolwright.record import record

GROUPS = Path("/sys/fs/cgroup")
PREFIX = "toolwright-"
LIMITS = {"pids": ("pids.max",), "memory": ("memory.max", "memory.limit_in_bytes")}
"""The controllers, and the files that their limits are written to, in the newer and the older form."""


@record(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits that the system sees to by itself."""

    groups: tuple[Path, ...] = ()
    processes: bool = False
    memory: bool = False


def make_quota(*, processes: int, memory: int) -> Quota:
    """Groups for so many processes and so much memory, as far as we have the right to make any."""
    groups = dict[str, Path]()
    for controller, amount in (("pids", processes), ("memory", memory)):
        group = _limited(groups.get("pids"), controller, amount) or _new_group(controller, amount)
        if group is not None:
            groups[controller] = group
    return Quota(
        groups=tuple(dict.fromkeys(groups.values())),
        # Root is not bound by the limits that hold for anybody else.
        processes="pids" in groups or os.geteuid() != 0,
        memory="memory" in groups,
    )


def end_quota(quota: Quota) -> None:
    """Kill whatever is still in the groups, and remove them. One that cannot be removed stays for a later start."""
    for group in quota.groups:
        _kill(group)
        _remove(group)


def _new_group(controller: str, amount: int) -> Path | None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    for parent in _parents(controller):
        _remove_abandoned(parent)
        # An old group of that name, left by a process that had our number, would leave us without a limit.
        group = parent / f"{PREFIX}{os.getpid()}-{os.urandom(6).hex()}"
        with suppress(OSError):
            group.mkdir()
            if _limited(group, controller, amount):
                return group
        _remove(group)
    return None


def _limited(group: Path | None, controller: str, amount: int) -> Path | None:
    """The group with the limit set, if it has the controller."""
    for name in LIMITS[controller]:
        with suppress(OSError):
            if group is not None and (group / name).exists():
                (group / name).write_text(str(amount))
                return group
    return None


def _remove(group: Path) -> None:
    with suppress(OSError):
        group.rmdir()


def _kill(group: Path) -> None:
    with suppress(OSError):
        (group / "cgroup.kill").write_text("1")
        return
    with suppress(OSError, ValueError):
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _parents(controller: str) -> Iterator[Path]:
    """Yield places for a group: below our own or beside it, in the controller's own tree or in the one for all."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", controller):
                own = GROUPS / controllers / path.strip("/")
                yield from (folder for folder in (own, own.parent) if (folder / "cgroup.procs").exists())


def _remove_abandoned(parent: Path) -> None:
    """Remove the groups of processes that were killed."""
    for group in parent.glob(f"{PREFIX}*"):
        pid = group.name.removeprefix(PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            _remove(group)

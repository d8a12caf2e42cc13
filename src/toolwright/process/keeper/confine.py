"""Limits a process puts on itself before it becomes the program: what it sees, reads, writes and reaches."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH103, PTH112, PTH120, PTH123

import os
from collections.abc import Iterable

from . import capabilities, landlock, seccomp, system
from .order import Confinement, Mount

NEW_NAMES = 0x00020000
NEW_USER = 0x10000000

READ_ONLY, NO_SUID, NO_DEVICES, REMOUNT = 0x1, 0x2, 0x4, 0x20
BIND, RECURSIVE, PRIVATE, RELATIVE_TIMES = 0x1000, 0x4000, 0x40000, 0x200000


def confine(limits: Confinement) -> None:
    """Take on the limits for good; OSError says which of them the machine refuses."""
    if limits["mounts"]:
        _enter_mount_namespace()
        _mount_all(limits["mounts"])
    capabilities.drop_dangerous()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(readable=limits["readable"], writable=limits["writable"])
    if not limits["network"]:
        seccomp.refuse_network()


def _enter_mount_namespace() -> None:
    """Root may have one as it is; anybody else needs to be root of a user namespace first."""
    if os.geteuid() == 0:
        system.unshare(NEW_NAMES)
    else:
        user, group = os.geteuid(), os.getegid()
        system.unshare(NEW_NAMES | NEW_USER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    system.mount(None, "/", None, RECURSIVE | PRIVATE)


def _mount_all(mounts: list[Mount]) -> None:
    """What is to be put somewhere is held open from the start: it may lie in a place that is covered on the way."""
    held = {mount["source"]: os.open(mount["source"], os.O_PATH) for mount in mounts if mount["kind"] == "replace"}
    for mount in mounts:
        _apply(mount, held)
    for descriptor in held.values():
        os.close(descriptor)
    _seal(mount["target"] for mount in mounts if mount["kind"] in ("bind", "replace"))


def _apply(mount: Mount, held: dict[str, int]) -> None:
    target = mount["target"]
    match mount["kind"]:
        case "bind":
            system.mount(target, target, None, BIND | RECURSIVE)
        case "read-only":
            system.mount(target, target, None, BIND | RECURSIVE)
            _remount(target, READ_ONLY)
        case "replace":
            _replace(target, held[mount["source"]], mount["keep"])
        case "hide" if os.path.isdir(target):
            system.mount("none", target, "tmpfs", READ_ONLY | NO_SUID | NO_DEVICES)
        case _:
            # Where devices are off, opening one is refused to everybody, root included.
            system.mount("/dev/null", target, None, BIND)
            _remount(target, READ_ONLY | NO_DEVICES)


def _seal(writable: Iterable[str]) -> None:
    """Landlock alone lets modes, owners and times be changed anywhere. On a read-only mount nothing can be."""
    system.make_read_only("/")
    for target in writable:
        system.make_writable(target)


def _replace(target: str, source: int, keep: list[str]) -> None:
    """What is kept is held open while its place is covered, and then bound to the same place again."""
    kept = [(place, os.open(place, os.O_PATH)) for place in keep]
    system.mount(f"/proc/self/fd/{source}", target, None, BIND | RECURSIVE)
    for place, descriptor in kept:
        _make_place(place, os.path.isdir(f"/proc/self/fd/{descriptor}"))
        system.mount(f"/proc/self/fd/{descriptor}", place, None, BIND | RECURSIVE)
        os.close(descriptor)


def _make_place(place: str, folder: bool) -> None:
    if folder:
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _remount(target: str, flags: int) -> None:
    """In a user namespace the flags that the mount has had from outside must be kept."""
    had = os.statvfs(target).f_flag
    kept = had & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    relative_times = RELATIVE_TIMES if had & os.ST_RELATIME else 0
    system.mount(None, target, None, REMOUNT | BIND | flags | kept | relative_times)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)

"""Limits a process puts on itself before it becomes the program: what it sees, reads, writes and reaches."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH103, PTH110, PTH112, PTH114, PTH120, PTH123

import os

from . import capabilities, landlock, seccomp, system
from .capture.listener import listen
from .order import KernelConfinement, Mount

NEW_NAMES = 0x00020000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PROCESSES = 0x20000000

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXECUTION = 0x1, 0x2, 0x4, 0x8
BIND, RECURSIVE, PRIVATE = 0x1000, 0x4000, 0x40000


def confine(limits: KernelConfinement, heard: seccomp.HeardCalls | None = None) -> int | None:
    """Take on the limits for good; OSError says which of them the machine refuses.

    Return a descriptor that hears of these calls, if any are to be heard of.
    """
    root = os.geteuid() == 0
    if limits["mounts"]:
        # Below an anchor the namespace for processes belongs to the user namespace we are in, and so must all others.
        (system.unshare if limits["own_processes"] else enter)(NEW_NAMES | NEW_IPC)
        system.mount(None, "/", None, RECURSIVE | PRIVATE)
        _mount_all(limits["mounts"], frozenset(limits["exact"]))
        if limits["own_processes"]:
            system.mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_EXECUTION)
    capabilities.drop_dangerous()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(listed=limits["listed"], readable=limits["readable"], writable=limits["writable"])
    own_space, network = limits["own_space"], limits["network"]
    if heard is not None:
        rules = seccomp.hearing(heard, network=network, own_space=own_space, root=root)
        return listen(rules, steady=heard.brokered)
    if root or own_space or not network:
        seccomp.refuse(network=network, own_space=own_space, root=root)
    return None


def enter(namespaces: int) -> None:
    """Root may have namespaces as it is; anybody else needs to be root of a user namespace first."""
    if os.geteuid() == 0:
        system.unshare(namespaces)
        return
    user, group = os.geteuid(), os.getegid()
    system.unshare(namespaces | NEW_USER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _mount_all(mounts: list[Mount], exact: frozenset[str]) -> None:
    """Landlock alone lets modes, owners and times be changed anywhere. On a read-only mount nothing can be.

    What is to be put somewhere is held open from the start: it may lie in a place that is covered on the way. What
    somebody at work could have exchanged for a link is reached without following any.
    """
    bound = {mount["source"] for mount in mounts if mount["kind"] == "bind"}
    readable = {
        mount["source"] for mount in mounts if mount["kind"] == "read-only" and os.path.lexists(mount["source"])
    }
    held = {source: _held(source, exact) for source in bound | readable}
    system.make_read_only("/")
    _own_devices()
    for mount in mounts:
        _apply(mount, held, exact)
    for descriptor in held.values():
        os.close(descriptor)


def _held(place: str, exact: frozenset[str]) -> int:
    return system.open_itself(place) if place in exact else os.open(place, os.O_PATH | os.O_CLOEXEC)


def _reached(target: str, exact: frozenset[str]) -> str:
    """A path that leads to the target whatever is done to names meanwhile. Closed when the program is executed."""
    return f"/proc/self/fd/{system.open_itself(target)}" if target in exact else target


def _own_devices() -> None:
    """Terminals and shared memory that nobody else has."""
    if os.path.isdir("/dev/pts") and os.path.exists("/dev/ptmx"):
        system.mount("devpts", "/dev/pts", "devpts", NO_SUID | NO_EXECUTION, "newinstance,ptmxmode=0666,mode=620")
        if not os.path.islink("/dev/ptmx"):
            system.mount("/dev/pts/ptmx", "/dev/ptmx", None, BIND)
    if os.path.isdir("/dev/shm"):  # noqa: S108 - made our own
        system.mount("tmpfs", "/dev/shm", "tmpfs", NO_SUID | NO_DEVICES, "mode=1777")  # noqa: S108
    if os.path.isdir("/dev/mqueue"):
        system.mount("mqueue", "/dev/mqueue", "mqueue", NO_SUID | NO_DEVICES | NO_EXECUTION)


def _apply(mount: Mount, held: dict[str, int], exact: frozenset[str]) -> None:
    target = mount["target"]
    match mount["kind"]:
        case "bind":
            _put(held[mount["source"]], target, exact)
            system.make_writable(_reached(target, exact))
        case "read-only":
            _show(mount, held, exact)
        case "empty":
            os.makedirs(target, exist_ok=True)
            system.mount("none", target, "tmpfs", NO_SUID | NO_DEVICES, "mode=755")
        case _:
            system.make_read_only_alone(target)


def _show(mount: Mount, held: dict[str, int], exact: frozenset[str]) -> None:
    """Show a place. One that has gone since it was looked for needs no cover."""
    source, target = held.get(mount["source"]), mount["target"]
    if source is None:
        return
    try:
        _put(source, target, exact)
    except OSError:
        if os.path.lexists(target):
            raise
        return
    system.make_read_only(_reached(target, exact))


def _put(source: int, target: str, exact: frozenset[str]) -> None:
    origin = f"/proc/self/fd/{source}"
    if not os.path.lexists(target):
        _make_place(target, os.path.isdir(origin))
    system.mount(origin, _reached(target, exact), None, BIND | RECURSIVE)


def _make_place(place: str, folder: bool) -> None:
    os.makedirs(place if folder else os.path.dirname(place), exist_ok=True)
    if not folder:
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)

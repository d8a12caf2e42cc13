"""Processes that descend from one, signalled without ever hitting a stranger."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH123, PTH208

import os
import signal
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator

MAX_SWEEPS = 100


def descendants(root: int, without: Collection[int] = ()) -> list[int]:
    """Every living process below `root`, parents before their children; nothing at or below one of `without`."""
    children = defaultdict[int, list[int]](list)
    for pid, parent in _parents():
        children[parent].append(pid)
    below_root, open_ = list[int](), [root]
    while open_:
        below = [pid for pid in children[open_.pop()] if pid not in without]
        below_root += below
        open_ += below
    return below_root


def ourselves() -> int:
    """Our number in the listings of the machine, which is another within a namespace."""
    return int(os.readlink("/proc/self")) if sys.platform == "linux" else os.getpid()  # noqa: PTH115 - as above


def signal_all(root: int, number: int, without: Collection[int] = ()) -> None:
    for pid in descendants(root, without):
        _signal(pid, number)


def kill_all(root: int, without: Collection[int] = ()) -> None:
    """End every descendant. They are all stopped first: what is stopped cannot fork while its siblings are found."""
    stopped = set[int]()
    for _ in range(MAX_SWEEPS):
        fresh = set(descendants(root, without)) - stopped
        if not fresh:
            break
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        stopped |= fresh
    signal_all(root, signal.SIGKILL, without)


def command_line(pid: int) -> str:
    """Return the command line of a process; empty for one that is gone or has given up its arguments."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(4096).split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode("utf-8", "replace").strip()


def _signal(pid: int, number: int) -> None:
    """A process that is no longer there, or not ours to signal, is passed over."""
    try:
        if not hasattr(os, "pidfd_open"):
            return os.kill(pid, number)
        handle = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        # Between the listing and the handle the number may have passed to a stranger, whose parent is not ours.
        if _is_below_us(pid):
            signal.pidfd_send_signal(handle, number)
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def _is_below_us(pid: int) -> bool:
    ours = os.getpid()
    while pid > 1:
        pid = _parent(pid)
        if pid == ours:
            return True
    return False


def _parents() -> Iterator[tuple[int, int]]:
    """Each process with its parent. The dead are among them: a process whose first thread has ended looks dead."""
    if sys.platform != "linux":
        yield from _parents_by_ps()
        return
    for name in os.listdir("/proc"):
        if name.isdecimal():
            yield int(name), _parent(int(name))


def _parent(pid: int) -> int:
    """The parent of a process; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in brackets may hold anything, brackets included: the fields begin after the last one.
            return int(file.read(1024).rpartition(b")")[2].split(maxsplit=2)[1])
    except (OSError, IndexError):
        return 0


def _parents_by_ps() -> Iterator[tuple[int, int]]:
    import subprocess

    listing = subprocess.run(["/bin/ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False)
    for line in listing.stdout.splitlines():
        pid, parent = line.split()
        yield int(pid), int(parent)

"""The program at the other end of a connection within this machine, and whether it runs in a box of ours.

The keeper marks whatever it starts in a box (`process/keeper/limits.py`): the limit of file locks, which does nothing
since Linux 2.4, is lower there than around it. Nobody below can raise it, everybody can read it, and it stays whatever
a program does to its name, its parents or its environment. The kernel says which socket is at the other end of a
connection; the processes that hold it are looked for, and their marks are read.
"""

import os
import resource
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

from toolwright.errors import ConfigError
from toolwright.machine.sockdiag import SocketEnd, find, listening

FILE_LOCKS: Final = 10
"""The number of the limit, for which Python has no name."""
KNOWN: Final = 8
"""Processes that are looked at first. To look at all descriptors of a machine takes some hundredths of a second."""
UNSEEN: Final = (
    "the program at its other end cannot be seen, such as a tunnel of ssh. "
    "Start with --tunnel to let such programs go on to the secret"
)
_UNMARKED: Final = resource.RLIM_INFINITY
_IN_A_BOX: Final = "runs in the sandbox of an agent"


class PeerJudge:
    """Tells programs in boxes from those outside, as seen by this process, which may be in a box itself."""

    def __init__(self) -> None:
        self._mark = _own_mark()
        self._known: list[int] = []
        """Programs that came last, looked at first: most connections are of one browser. No more is taken from it."""

    def refusal(self, connection: socket.socket, *, tunnel: bool = False) -> str:
        """Say why a connection is refused; empty if it may go on to the secret.

        What cannot be found out is refused, unless that is allowed for tunnels. Each connection is judged anew.
        """
        family = connection.family
        try:
            peer, own = SocketEnd.of(connection.getpeername(), family), SocketEnd.of(connection.getsockname(), family)
        except OSError:
            return "it was closed before it could be judged"
        if not peer.is_here():
            return ""
        other = find(peer, own)
        if other is None:
            return "" if tunnel else UNSEEN
        if other.uid != os.geteuid() and os.geteuid() != 0:
            # What is in a box becomes another user only if it is root's, and then its user is root to us.
            return ""
        marked, others = self._told_apart()
        for pid in marked:
            if _descriptor(pid, other.inode):
                return f"process {pid} ({_name(pid)}) {_IN_A_BOX}"
        if any(self._is_outside(pid, other.inode) for pid in others):
            return ""
        return "" if tunnel else UNSEEN

    def is_held_in_a_box(self, inode: int) -> bool:
        """Tell whether a process in a box that we are not in holds a socket."""
        return any(_descriptor(pid, inode) for pid in self._told_apart()[0])

    def _told_apart(self) -> tuple[list[int], list[int]]:
        """List the processes in boxes that we are not in, and all others, the youngest first."""
        marked, others = list[int](), list[int]()
        for pid in sorted((int(name) for name in os.listdir("/proc") if name.isdecimal()), reverse=True):  # noqa: PTH208 - faster
            if (mark := _mark_of(pid)) is not None:
                (marked if mark < self._mark else others).append(pid)
        return marked, sorted(others, key=lambda pid: pid not in self._known)

    def _is_outside(self, pid: int, inode: int) -> bool:
        """Say whether a process holds the socket and is in no box."""
        descriptor = _descriptor(pid, inode)
        if not descriptor:
            return False
        # A process that ends leaves its number to the next one: what is still open was open all the while.
        try:
            folder = os.open(f"/proc/{pid}/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            held = _leads_to(descriptor, inode, folder)
            mark = _mark_of(pid)
            outside = held and mark is not None and mark >= self._mark and _leads_to(descriptor, inode, folder)
        finally:
            os.close(folder)
        if outside:
            self._known = [pid, *(other for other in self._known if other != pid)][:KNOWN]
        return outside


def listens_in_a_box(port: int) -> bool:
    """Tell whether a program in a box of ours listens on a port of this machine."""
    judge = PeerJudge()
    return any(judge.is_held_in_a_box(inode) for inode in listening(port))


def _own_mark() -> int:
    """Return the mark of this process: of whoever has it as well we take it that we share a box, or the outside."""
    mark = resource.getrlimit(FILE_LOCKS)[1]
    if mark == _UNMARKED:
        return _above(mark)
    # Others of the same user could have lowered the limit, and have no way to give us this.
    if "NoNewPrivs:\t1" not in Path("/proc/self/status").read_text("utf-8"):
        raise ConfigError(
            "This process has a limit of file locks (ulimit -x), by which programs in a sandbox are known. "
            "Have it set to unlimited for your user, then start again."
        )
    return mark


def _mark_of(pid: int) -> int | None:
    """Read the mark of a process: the lower, the more boxes it is in. None if it is gone, or another user's."""
    try:
        return _above(resource.prlimit(pid, FILE_LOCKS)[1])
    except PermissionError:
        return _mark_in_listing(pid) if os.geteuid() == 0 else None
    except OSError:
        return None


def _mark_in_listing(pid: int) -> int | None:
    """Read it where all may; it takes ten times as long."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path(f"/proc/{pid}/limits").read_text("ascii").splitlines()
        words = next(line for line in lines if line.startswith("Max file locks")).split()
        return _above(_UNMARKED) if words[4] == "unlimited" else int(words[4])
    return None


def _above(mark: int) -> int:
    """Have no limit count as more than every limit; Python writes it as -1."""
    return 1 << 64 if mark == _UNMARKED else mark


def _descriptor(pid: int, inode: int) -> str:
    """Return the name of a descriptor by which a process holds a socket; empty if it holds none, or cannot be seen."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - there are thousands
    except OSError:
        return ""
    wanted = f"socket:[{inode}]"
    for name in names:
        try:
            if os.readlink(f"/proc/{pid}/fd/{name}") == wanted:  # noqa: PTH115 - the same
                return name
        except OSError:
            continue
    return ""


def _leads_to(descriptor: str, inode: int, folder: int) -> bool:
    try:
        return os.readlink(descriptor, dir_fd=folder) == f"socket:[{inode}]"
    except OSError:
        return False


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    return "gone"

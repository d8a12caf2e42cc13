"""Owners of sessions, and the locks by which processes of one machine see whether these still work."""

import fcntl
import os
import socket
from dataclasses import field
from pathlib import Path
from typing import Literal

from toolwright.machine.private_files import is_locked, make_folder
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Owner:
    """One opened workspace of one process, equal to no other."""

    host: str
    """The kernel it runs on: all containers of a machine are one host."""
    pid: int
    """For people to read; in another container the same number is another process."""
    workspace: str

    @classmethod
    def new(cls) -> "Owner":
        return cls(host=host(), pid=os.getpid(), workspace=os.urandom(8).hex())


@record(frozen=True, slots=True, kw_only=True)
class Lease:
    """A session that somebody works on, or did when its process ended."""

    session_id: str
    owner: Owner
    state: Literal["held", "silent", "dead"]
    """`silent`: held on another host, from which nothing was heard for long."""


def host() -> str:
    """Return what tells this machine, since it was started, from every other."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return socket.gethostname()


def taken(lease: Lease) -> str:
    """Why a session cannot be worked on."""
    where = f"Process {lease.owner.pid}" if lease.owner.host == host() else "A process on another machine"
    return f"{where} is working on {lease.session_id}. Wait for it, or fork the session."


@record(slots=True)
class OwnerLocks:
    """One locked file for each owner at work. The kernel unlocks it when the process ends, however it ends."""

    folder: Path
    _held: dict[str, int] = field(default_factory=dict[str, int])

    def hold(self, owner: Owner) -> bool:
        """Lock the owner's file until `release`; False where the folder cannot be locked in."""
        if owner.workspace in self._held:
            return True
        make_folder(self.folder)
        handle = os.open(self._path(owner), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._held[owner.workspace] = handle
        return True

    def is_held(self, owner: Owner) -> bool:
        """Tell whether some process, in whichever container, has the owner's file locked."""
        return is_locked(self._path(owner))

    def sweep(self, owner: Owner) -> None:
        """Remove the file of an owner that is dead."""
        self._path(owner).unlink(missing_ok=True)

    def release(self) -> None:
        for workspace, handle in self._held.items():
            (self.folder / workspace).unlink(missing_ok=True)
            os.close(handle)
        self._held.clear()

    def _path(self, owner: Owner) -> Path:
        return self.folder / Path(owner.workspace).name

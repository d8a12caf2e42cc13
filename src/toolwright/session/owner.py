"""Who works on a session, in a form that tells other processes whether it is still alive."""

import os
from pathlib import Path

from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Owner:
    """One opened workspace of a process: the process's number, when it was born, and which workspace of it."""

    pid: int
    born: str
    """Numbers of processes are used again; together with this they are not."""

    @classmethod
    def new(cls) -> "Owner":
        """An owner of this process, equal to no other."""
        return cls(pid=os.getpid(), born=f"{_born(os.getpid())}/{os.urandom(4).hex()}")

    @property
    def alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            return True
        return _born(self.pid) == self.born.partition("/")[0]


def _born(pid: int) -> str:
    """The start time the kernel keeps; empty where it does not tell."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is the program's name in brackets and may itself hold brackets and blanks.
    fields = status.rpartition(")")[2].split()
    # A zombie has ended; only its parent has not looked yet.
    return "" if fields[0] == "Z" else fields[19]

"""Which process works on a session, in a form that tells whether it is still alive."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process by its number and the moment it was born, since numbers are used again."""

    pid: int
    born: str

    @classmethod
    def this_process(cls) -> "Owner":
        return cls(pid=os.getpid(), born=_born(os.getpid()))

    @property
    def alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return _born(self.pid) == self.born


def _born(pid: int) -> str:
    """The start time the kernel keeps; empty where it does not tell."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    # The second field is the program's name in brackets and may itself hold brackets and blanks.
    return status.rpartition(")")[2].split()[19]

"""Capabilities that root keeps in the sandbox: the rights over files, and none over the machine."""

# pathlib would take as long to import as all the rest of the keeper.
# ruff: noqa: PTH123

import ctypes
import errno
from functools import cache

from .system import PR_CAPBSET_DROP, capget, capset, prctl

KEPT = {
    "CAP_CHOWN": 0,
    "CAP_DAC_OVERRIDE": 1,
    "CAP_FOWNER": 3,
    "CAP_FSETID": 4,
    "CAP_KILL": 5,
    "CAP_SETGID": 6,
    "CAP_SETUID": 7,
}
"""Enough for package managers and for projects that belong to somebody else. CAP_DAC_READ_SEARCH is not among
them: it opens files by handle, past every mount."""
LAST = "/proc/sys/kernel/cap_last_cap"
MANY = 64
"""The most there can ever be; a kernel that says so has fewer."""
VERSION = 0x20080522


def drop_dangerous() -> None:
    """Give up all other capabilities for the program that is executed next. Who has none is left as is."""
    for number in dangerous():
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError as problem:
            if problem.errno not in (errno.EINVAL, errno.EPERM):
                raise
    _inherit_none()


@cache
def dangerous() -> tuple[int, ...]:
    """All but those that are kept."""
    try:
        with open(LAST) as file:
            many = int(file.read()) + 1
    except (OSError, ValueError):
        many = MANY
    return tuple(set(range(many)) - set(KEPT.values()))


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _inherit_none() -> None:
    """Inherit nothing: what a process may inherit is added to root's rights whatever the bounds say."""
    header, sets = _Header(VERSION, 0), (_Sets * 2)()
    capget(ctypes.byref(header), sets)
    for part in sets:
        part.inheritable = 0
    capset(ctypes.byref(header), sets)

"""The beginning of a plain file, without ever waiting for one: another kind may never be done being read."""

import errno
import os
import stat
from pathlib import Path


def read_start(path: str | Path, most: int) -> bytes:
    """Nothing of what is not there, cannot be read, or is no plain file."""
    try:
        return read_plain(path, most)
    except (OSError, ValueError):
        return b""


def read_plain(path: str | Path, most: int) -> bytes:
    """The same, but whatever keeps it from being read is an OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)

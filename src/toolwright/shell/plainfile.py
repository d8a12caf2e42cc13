"""The beginning of a plain file, without ever waiting for one."""

import os
import stat


def read_start(path: str, most: int) -> bytes:
    """Nothing of what is not there, or is no plain file: another kind may never be done being read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)

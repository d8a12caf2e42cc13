"""Reading what a project brings, at a bounded cost: regular files only, none of them large."""

import hashlib
import os
import stat
from contextvars import ContextVar
from pathlib import Path

from toolwright.errors import ConfigError

MOST_BYTES = 1_000_000
"""Of one file of settings. Nothing a person writes is longer."""


READ: "ContextVar[dict[Path, str] | None]" = ContextVar("READ", default=None)
"""Each file that was read, with the hash of what was in it then; None where it is not recorded."""


class NotPlain(ValueError):
    """A file that is not read, with the reason."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file; OSError or NotPlain if it cannot be had."""
    content = read_head(path, most + 1)
    if len(content) > most:
        raise NotPlain(f"it is longer than {most} bytes")
    read = READ.get()
    if read is not None:
        read[path] = hashlib.sha256(content).hexdigest()
    return content


def read_head(path: Path, most: int) -> bytes:
    """The beginning of a regular file. A pipe or device is never waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0))
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotPlain("it is not a regular file")
        content = stream.read(most)
    if content is None:  # /proc has files that are regular by name and wait like pipes
        raise NotPlain("it is not a regular file")
    return content


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """The same as text; any failure is a ConfigError that names the file."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {reason(error)}.") from error


def reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        named = error.filename and not isinstance(error.filename, int)  # a number is that of the open file
        return f"{error.filename}: {error.strerror}" if named else str(error.strerror)
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)

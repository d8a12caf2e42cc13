"""The text of a file as it is on disk at one moment."""

import os
import stat
from pathlib import Path

from toolwright.errors import ToolError
from toolwright.files.text import decode
from toolwright.record import record

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that servers are told of; a larger one is hardly written by hand."""
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""A pipe is not waited for."""


@record(frozen=True, slots=True)
class DocumentSnapshot:
    text: str
    stamp: tuple[int, int]


def snapshot(path: Path, legacy: str = "") -> DocumentSnapshot | None:
    """Return the content of a file; None for one that is not there, too large, or no text."""
    try:
        with os.fdopen(os.open(path, _READ), "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            if status.st_size > LARGEST or not stat.S_ISREG(status.st_mode):
                return None
            return DocumentSnapshot(decode(file.readall(), legacy).content, _stamp(status))
    except (OSError, ToolError):
        return None


def stamp_of(path: Path) -> tuple[int, int] | None:
    """When a file was changed and how large it is; None if there is none."""
    try:
        return _stamp(path.stat())
    except OSError:
        return None


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_size


def text_of(body: object, legacy: str = "") -> str | None:
    """The text in some bytes; None for no bytes, or none that are text."""
    if not isinstance(body, bytes) or len(body) > LARGEST:
        return None
    try:
        return decode(body, legacy).content
    except ToolError:
        return None

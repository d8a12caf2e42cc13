"""The text of a file as it is on disk at one moment."""

from pathlib import Path

from toolwright.errors import ToolError
from toolwright.files.text import decode
from toolwright.record import record

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that servers are told of; a larger one is hardly written by hand."""


@record(frozen=True, slots=True)
class DocumentSnapshot:
    text: str
    stamp: tuple[int, int]


def snapshot(path: Path, legacy: str = "") -> DocumentSnapshot | None:
    """What a file holds; None for one that is not there, too large, or no text."""
    try:
        stamp = stamp_of(path)
        if stamp is None or stamp[1] > LARGEST:
            return None
        return DocumentSnapshot(decode(path.read_bytes(), legacy).content, stamp)
    except (OSError, ToolError):
        return None


def stamp_of(path: Path) -> tuple[int, int] | None:
    """When a file was changed and how large it is; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def text_of(body: object, legacy: str = "") -> str | None:
    """The text in some bytes; None for no bytes, or none that are text."""
    if not isinstance(body, bytes) or len(body) > LARGEST:
        return None
    try:
        return decode(body, legacy).content
    except ToolError:
        return None

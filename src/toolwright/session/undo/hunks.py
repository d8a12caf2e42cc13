"""The pieces in which a file differs, each known by what is in it, so that some can be undone and others kept."""

import hashlib
from collections.abc import Collection

from toolwright.files.body import Body, Link
from toolwright.record import record
from toolwright.text.diff import compare, split_lines


@record(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One piece of the way from what is there to what is restored."""

    id: str
    text: str
    """As a unified diff shows it."""


def hunks_of(path: str, present: Body, restored: Body) -> list[Hunk]:
    """The pieces of a difference, from the top down; a single one where not both are contents."""
    if present == restored:
        return []
    if not isinstance(present, bytes) or not isinstance(restored, bytes):
        text = "".join(text for text, _ in compare(_decode(present), _decode(restored)).hunks())
        return [Hunk(id=_name(path, text), text=_printable(text))]
    diff = compare(_decode(present), _decode(restored))
    return [Hunk(id=_name(path, text), text=_printable(text)) for text, _ in diff.hunks()]


def apply_hunks(path: str, present: Body, restored: Body, wanted: Collection[str]) -> Body:
    """Return what is there, with the wanted pieces restored."""
    if {hunk.id for hunk in hunks_of(path, present, restored)} <= set(wanted):
        return restored
    if not isinstance(present, bytes) or not isinstance(restored, bytes):
        return present
    diff = compare(_decode(present), _decode(restored))
    lines = split_lines(_decode(present))
    offset = diff.first_line - 1
    # From the bottom up, so that the numbers of the lines above still hold.
    for text, changes in reversed(list(diff.hunks())):
        if _name(path, text) in wanted:
            for change in reversed(changes):
                piece = slice(offset + change.before_start, offset + change.before_end)
                lines[piece] = diff.after[change.after_start : change.after_end]
    return "".join(lines).encode("utf-8", "surrogateescape")


def _name(path: str, text: str) -> str:
    return hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _decode(body: Body) -> str:
    if isinstance(body, Link):
        return f"-> {body.target}\n"
    return body.decode("utf-8", "surrogateescape") if body else ""


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

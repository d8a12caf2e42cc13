"""The pieces in which a file differs, each known by what is in it, so that some can be undone and others kept."""

import hashlib
from collections.abc import Collection

from toolwright.diff import compare, split_lines
from toolwright.errors import UsageError
from toolwright.files.body import Body
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One piece of the way from what is there to what is restored."""

    id: str
    text: str
    """As a unified diff shows it."""


def hunks_of(present: Body, restored: Body) -> list[Hunk]:
    """The pieces of a difference, from the top down; none where not both are contents."""
    if not isinstance(present, bytes) or not isinstance(restored, bytes):
        return []
    diff = compare(_text(present), _text(restored))
    return [Hunk(id=_name(text), text=_shown(text)) for text, _ in diff.hunks()]


def apply_hunks(path: str, present: Body, restored: Body, wanted: Collection[str]) -> Body:
    """What is there, with the wanted pieces restored. UsageError if one of them is not to be found any more."""
    if not isinstance(present, bytes) or not isinstance(restored, bytes):
        raise UsageError(f"{path} can only be undone as a whole.")
    diff = compare(_text(present), _text(restored))
    missing = set(wanted)
    lines = split_lines(_text(present))
    offset = diff.first_line - 1
    # From the bottom up, so that the numbers of the lines above still hold.
    for text, changes in reversed(list(diff.hunks())):
        if _name(text) in wanted:
            missing.discard(_name(text))
            for change in reversed(changes):
                piece = slice(offset + change.before_start, offset + change.before_end)
                lines[piece] = diff.after[change.after_start : change.after_end]
    if missing:
        raise UsageError(f"{path} was changed since its difference was shown. Look at it again, then choose.")
    return "".join(lines).encode("utf-8", "surrogateescape")


def _name(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _text(body: bytes) -> str:
    return body.decode("utf-8", "surrogateescape")


def _shown(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

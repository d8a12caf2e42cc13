"""A session by what a person calls it."""

from collections.abc import Sequence

from toolwright.errors import UsageError
from toolwright.messages import SessionInfo


def fitting(sessions: Sequence[SessionInfo], name: str) -> SessionInfo:
    """By its id, its two words, the beginning of either, or `last`; the newest stands first."""
    if name == "last" and sessions:
        return sessions[0]
    found = [one for one in sessions if name in (one.id, one.slug)]
    found = found or [one for one in sessions if one.id.startswith(name) or one.slug.startswith(name)]
    if len(found) != 1:
        count = f"{len(found)} sessions fit" if found else "No session fits"
        raise UsageError(f"{count} {name!r}. /sessions lists them.")
    return found[0]

"""The question whether files may be changed, as every tool that changes them puts it."""

import stat
from collections.abc import Mapping, Sequence
from typing import Any

from toolwright.calls.request import Request
from toolwright.files.paths import Place

_WRITABLE = 0o222


def edit_request(places: Sequence[Place], metadata: Mapping[str, Any]) -> Request:
    """Return the request for a change of files; one that nobody may write is asked about whatever the rules allow.

    To put a new file in the place of an old one takes no right to write the old one, so nothing else would stop it.
    """
    reasons = [reason for place in places if (reason := _why_read_only(place))]
    return Request(
        permission="edit",
        patterns=tuple(place.pattern for place in places),
        metadata={**metadata, "reasons": reasons} if reasons else metadata,
        must_ask=bool(reasons),
    )


def _why_read_only(place: Place) -> str:
    try:
        mode = place.path.lstat().st_mode
    except OSError:
        return ""
    if not stat.S_ISREG(mode) or mode & _WRITABLE:
        return ""
    return f"{place.relative} is read-only (mode {stat.S_IMODE(mode):04o}), which somebody may have meant."

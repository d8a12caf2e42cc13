"""States of files when a session read them, so that nothing is overwritten that the session has not seen."""

from collections.abc import Callable

from toolwright.files.disk import Stamp
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class SeenState:
    """The state of a file when a session last read or wrote it."""

    stamp: Stamp
    digest: str = ""
    """Hash of the whole content; empty where the file was too large to be hashed in passing."""
    whole: bool = True

    def fits(self, stamp: Stamp, digest: Callable[[], str]) -> bool:
        """Tell whether the file is still as it was seen; `digest` is only called if its stamp does not tell.

        A newer modification time alone counts as a change. An older or equal one proves nothing, for it can be
        set at will; the change time, which cannot be set, or else the content decides.
        """
        if stamp.modified > self.stamp.modified:
            return False
        if self.stamp.settled and stamp == self.stamp:
            return True
        return bool(self.digest) and digest() == self.digest

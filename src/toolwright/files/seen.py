"""What each session has read, so that nothing is overwritten that it has not seen."""

from collections.abc import Callable
from pathlib import Path

from toolwright.files.disk import Stamp
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class State:
    """What a file was when a session last read or wrote it."""

    stamp: Stamp
    digest: str = ""
    """Hash of the whole content; empty where the file was too large to be hashed in passing."""
    whole: bool = True

    def fits(self, stamp: Stamp, digest: Callable[[], str]) -> bool:
        """Whether the file is still as it was seen; `digest` is only called if its stamp does not tell.

        A newer modification time alone counts as a change. An older or equal one proves nothing, for it can be
        set at will; the change time, which cannot be set, or else the content decides.
        """
        if stamp.modified > self.stamp.modified:
            return False
        if self.stamp.settled and stamp == self.stamp:
            return True
        return bool(self.digest) and digest() == self.digest


class Seen:
    """Per session and name, what was seen last. A link and its target are two names; folders are canonical."""

    def __init__(self) -> None:
        self._sessions: dict[str, dict[Path, State]] = {}

    def note(self, session_id: str, name: Path, state: State) -> None:
        self._sessions.setdefault(session_id, {})[name] = state

    def last(self, session_id: str, name: Path) -> State | None:
        return self._sessions.get(session_id, {}).get(name)

    def all(self, session_id: str) -> dict[Path, State]:
        return dict(self._sessions.get(session_id, {}))

    def forget(self, session_id: str, name: Path | None = None) -> None:
        """Drop one name, or all of a session that is over."""
        if name is None:
            self._sessions.pop(session_id, None)
            return
        self._sessions.get(session_id, {}).pop(name, None)

"""Say what an agent does between two calls: thinking, writing, writing a summary, waiting for a provider."""

import time
from collections.abc import Callable

from toolwright.app.words import duration
from toolwright.calls.parts import ToolPart
from toolwright.events import Event, PartUpdated
from toolwright.messages import ReasoningPart, TextPart
from toolwright.protocols.json_types import Json
from toolwright.session.events import PartDelta, SessionStatus


class Doing:
    """The present state of one session's turn, taken from its events."""

    def __init__(self, session_id: str, clock: Callable[[], float] = time.time) -> None:
        self.session_id = session_id
        self._clock = clock
        self._state = "thinking"
        self._waits: Json = {}
        self._texts: set[str] = set()

    def take(self, event: Event) -> None:
        """Update the state by an event, if it is one of this session."""
        match event:
            case PartUpdated(part=TextPart(session_id=self.session_id, synthetic=None) as part):
                self._follow_text(part)
            case PartUpdated(part=ReasoningPart(session_id=self.session_id) | ToolPart(session_id=self.session_id)):
                self._enter("thinking")
            case PartDelta(session_id=self.session_id, part_id=part_id):
                self._enter("writing" if part_id in self._texts else "thinking")
            case SessionStatus(session_id=self.session_id, status={"type": "retry"} as status):
                self._waits = status
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "doing": str(doing)}):
                self._enter(doing)
            case SessionStatus(session_id=self.session_id):
                self._enter("thinking")
            case _:
                pass

    def word(self) -> str:
        """Return `thinking`, `writing`, what else is being done, or how long the provider is waited for, and why."""
        return waiting(self._waits, self._clock()) if self._waits else self._state

    def _follow_text(self, part: TextPart) -> None:
        ended = part.time is not None and part.time.end is not None
        if ended:
            self._texts.discard(part.id)
        else:
            self._texts.add(part.id)
        self._enter("thinking" if ended else "writing")

    def _enter(self, state: str) -> None:
        self._state, self._waits = state, {}


def waiting(status: Json, now: float) -> str:
    """Describe a status of the type `retry` in one line: `waiting 3 s (2 of 6): rate limit`."""
    left = max(0.0, float(status.get("next") or 0) / 1000 - now)
    count = f" ({int(status.get('attempt') or 0) + 1} of {status['attempts']})" if status.get("attempts") else ""
    reason = status.get("reason") or status.get("message") or "the provider did not answer"
    return f"waiting {duration(left + 0.9)}{count}: {reason}"

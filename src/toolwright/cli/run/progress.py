"""Progress of a turn while its answer goes to a pipe."""

import sys
from dataclasses import field
from typing import TextIO

from toolwright.calls.parts import Failed, ToolPart
from toolwright.cli.output import say
from toolwright.events import Event, PartUpdated
from toolwright.messages import ReasoningPart, TextPart
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.events import SessionStatus

LONGEST = 160


@record(slots=True)
class Quiet:
    """Only failed calls and waits, on stderr: the answer alone goes to the pipe at the end."""

    session_id: str
    notes: TextIO = field(default_factory=lambda: sys.stderr)
    thinking: bool = False
    """True if what the model thinks is shown, too."""

    def __call__(self, event: Event) -> None:
        match event:
            case PartUpdated(part=TextPart(metadata={"notAttached": str(notice)})):
                self._tell(notice)
            case PartUpdated(part=ReasoningPart(session_id=self.session_id, time=span, text=str(text))) if (
                self.thinking and span.end is not None and text.strip()
            ):
                say(f"Thinking: {text.strip()}", lines=True, to=self.notes)
            case PartUpdated(part=ToolPart(state=Failed(error=error)) as part):
                self._tell(f"{part.tool} failed: {_first_line(error)}")
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "notice": str(notice)}):
                self._tell(notice)
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "doing": str(doing)}):
                self._tell(doing)
            case SessionStatus(session_id=self.session_id, status={"type": "retry", **rest}):
                self._tell(_retry(rest))
            case _:
                pass

    def _tell(self, text: str) -> None:
        say(text, to=self.notes)


def _retry(status: Json) -> str:
    return f"{status.get('message')} ({status.get('wait') or 'trying again'})"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:LONGEST] if text.strip() else ""

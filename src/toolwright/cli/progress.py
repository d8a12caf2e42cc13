"""What is told of a turn while its answer goes to a pipe."""

import sys
from dataclasses import field
from typing import TextIO

from toolwright.display import visible
from toolwright.events import Event, PartUpdated
from toolwright.jsontypes import Json
from toolwright.messages import TextPart
from toolwright.parts import Failed, ToolPart
from toolwright.record import record
from toolwright.session.events import SessionStatus

LONGEST = 160


@record(slots=True)
class Quiet:
    """Only failed calls and waits, on stderr: the answer alone goes to the pipe at the end."""

    session_id: str
    notes: TextIO = field(default_factory=lambda: sys.stderr)

    def __call__(self, event: Event) -> None:
        match event:
            case PartUpdated(part=TextPart(metadata={"notAttached": str(told)})):
                self._tell(told)
            case PartUpdated(part=ToolPart(state=Failed(error=error)) as part):
                self._tell(f"{part.tool} failed: {_first_line(error)}")
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "doing": str(doing)}):
                self._tell(doing)
            case SessionStatus(session_id=self.session_id, status={"type": "retry", **rest}):
                self._tell(_retry(rest))
            case _:
                pass

    def _tell(self, text: str) -> None:
        print(visible(text, lines=False), file=self.notes, flush=True)


def _retry(status: Json) -> str:
    return f"{status.get('message')} ({status.get('wait') or 'trying again'})"


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:LONGEST] if text.strip() else ""

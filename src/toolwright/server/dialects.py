"""Two ways to tell of a text that is being written: whole each time it has grown, or piece by piece."""

from collections.abc import Callable
from dataclasses import field, replace
from typing import Literal

from toolwright.calls.parts import Part, Running, ToolPart
from toolwright.events import Event, PartUpdated
from toolwright.messages import ReasoningPart, TextPart
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.server.frames import payload_of
from toolwright.session.events import PartDelta, PartRemoved, SessionIdle

Dialect = Literal["whole", "deltas"]
Tell = Callable[[str, Json, str], None]
"""Takes the folder, the payload and the part it is about, if it is about one."""
Later = Callable[[float, Callable[[], None]], None]

WHOLE_SECONDS = 0.05
DELTA_SECONDS = 0.02
OUTPUT_SECONDS = 0.1
SMALL = 512
"""Characters up to which a text is sent whenever it has grown; beyond, when it has grown by a tenth."""


@record(slots=True)
class Writing:
    """A text part that grows."""

    directory: str
    part: TextPart | ReasoningPart
    pieces: list[str] = field(default_factory=list[str])
    """Text since the last event."""
    text: str = ""
    """Text that events have told."""
    waits: bool = False


@record(slots=True)
class EventEncoder:
    """Turns events into payloads of one dialect. Growing texts are sent at most so often, the end always."""

    dialect: Dialect
    tell: Tell
    later: Later
    _writing: dict[str, Writing] = field(default_factory=dict[str, Writing])
    _outputs: dict[str, tuple[str, PartUpdated]] = field(default_factory=dict[str, tuple[str, PartUpdated]])
    _shown: set[str] = field(default_factory=set[str])
    """Calls under way that have been told as running."""

    def hear(self, directory: str, event: Event) -> None:
        match event:
            case PartDelta():
                self._grow(event)
            case PartUpdated(part=part):
                self._part(directory, event, part)
            case PartRemoved(part_id=part_id):
                self._forget(part_id)
                self.tell(directory, payload_of(event, directory), part_id)
            case SessionIdle(session_id=session_id):
                for part_id in [name for name, one in self._writing.items() if one.part.session_id == session_id]:
                    self._forget(part_id)
                self.tell(directory, payload_of(event, directory), "")
            case _:
                self.tell(directory, payload_of(event, directory), "")

    def _part(self, directory: str, event: PartUpdated, part: Part) -> None:
        if isinstance(part, ToolPart) and isinstance(part.state, Running):
            if part.id in self._shown:
                self._output(directory, event)
                return
            self._shown.add(part.id)
        else:
            rest = self._rest_of(part.id)
            self._forget(part.id)
            if isinstance(part, TextPart | ReasoningPart) and (part.time is not None and part.time.end is None):
                self._writing[part.id] = Writing(directory, part, text=part.text)
            if rest and self.dialect == "deltas":
                self._tell_delta(directory, part, rest)
            elif rest:
                whole = {"part": part, "delta": rest}
                self.tell(directory, {"type": PartUpdated.type, "properties": whole}, part.id)
                return
        self.tell(directory, payload_of(event, directory), part.id)

    def _rest_of(self, part_id: str) -> str:
        """Return the end of a text that no event has told yet."""
        writing = self._writing.get(part_id)
        return "".join(writing.pieces) if writing else ""

    def _tell_delta(self, directory: str, part: Part, delta: str) -> None:
        keys = {"session_id": part.session_id, "message_id": part.message_id, "part_id": part.id}
        self.tell(directory, payload_of(PartDelta(**keys, field="text", delta=delta), directory), "")

    def _forget(self, part_id: str) -> None:
        self._writing.pop(part_id, None)
        self._outputs.pop(part_id, None)
        self._shown.discard(part_id)

    # Text.

    def _grow(self, event: PartDelta) -> None:
        writing = self._writing.get(event.part_id)
        if writing is None or event.field != "text":
            return
        writing.pieces.append(event.delta)
        if not writing.waits:
            writing.waits = True
            self.later(WHOLE_SECONDS if self.dialect == "whole" else DELTA_SECONDS, lambda: self._due(writing))

    def _due(self, writing: Writing) -> None:
        writing.waits = False
        part = writing.part
        if self._writing.get(part.id) is not writing or not writing.pieces:
            return
        delta = "".join(writing.pieces)
        if self.dialect == "whole" and len(writing.text) > SMALL and len(delta) * 10 < len(writing.text):
            writing.pieces = [delta]
            return
        writing.pieces = []
        if self.dialect == "deltas":
            self._tell_delta(writing.directory, part, delta)
            return
        writing.text += delta
        whole = {"part": replace(part, text=writing.text), "delta": delta}
        self.tell(writing.directory, {"type": PartUpdated.type, "properties": whole}, part.id)

    # Output of commands.

    def _output(self, directory: str, event: PartUpdated) -> None:
        waits = event.part.id in self._outputs
        self._outputs[event.part.id] = (directory, event)
        if not waits:
            self.later(OUTPUT_SECONDS, lambda: self._output_due(event.part.id))

    def _output_due(self, part_id: str) -> None:
        if part_id in self._outputs:
            directory, event = self._outputs.pop(part_id)
            self.tell(directory, payload_of(event, directory), part_id)

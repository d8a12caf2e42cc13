"""What a turn looks like while it runs: for a person at a terminal, for a pipe, and as one JSON event a line."""

import json
import sys
import time
from dataclasses import field
from typing import Any, TextIO

from toolwright.display import visible, visible_json
from toolwright.events import Event, PartUpdated
from toolwright.messages import ReasoningPart, StepFinishPart, StepStartPart, TextPart
from toolwright.parts import Completed, Failed, Running, ToolPart
from toolwright.record import record
from toolwright.session.events import PartDelta, SessionError, SessionStatus
from toolwright.wire import to_json

Json = dict[str, Any]


@record(slots=True)
class JsonLines:
    """One event a line on stdout: step_start, text, reasoning, tool_use, step_finish, error."""

    session_id: str
    out: TextIO = field(default_factory=lambda: sys.stdout)
    _written: set[str] = field(default_factory=set[str])

    def __call__(self, event: Event) -> None:
        match event:
            case PartUpdated(part=part) if part.session_id == self.session_id:
                kind = _line_type(part)
                if kind and part.id not in self._written:
                    self._written.add(part.id)
                    self._write(kind, {"part": to_json(part)})
            case SessionError(session_id=self.session_id):
                self._write("error", {"error": to_json(event.error)})
            case _:
                pass

    def _write(self, kind: str, more: Json) -> None:
        line = {"type": kind, "timestamp": time.time_ns() // 1_000_000, "sessionID": self.session_id, **more}
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        print(visible_json(text), file=self.out, flush=True)


def _line_type(part: Any) -> str | None:
    """The kind of line a part becomes, once it is complete."""
    match part:
        case StepStartPart():
            return "step_start"
        case StepFinishPart():
            return "step_finish"
        case TextPart(synthetic=None, time=span) if span is not None and span.end is not None:
            return "text"
        case ReasoningPart(time=span) if span.end is not None:
            return "reasoning"
        case ToolPart(state=Completed() | Failed()):
            return "tool_use"
        case _:
            return None


@record(slots=True)
class Live:
    """Words as they come on stdout; tool calls, waits and subagents as single lines on stderr."""

    session_id: str
    colour: bool
    out: TextIO = field(default_factory=lambda: sys.stdout)
    notes: TextIO = field(default_factory=lambda: sys.stderr)
    _kinds: dict[str, str] = field(default_factory=dict[str, str])
    _line_open: bool = False

    def __call__(self, event: Event) -> None:
        match event:
            case PartUpdated(part=TextPart(session_id=self.session_id, time=span) as part):
                self._kinds[part.id] = "text"
                if span is not None and span.end is not None:
                    self._end_line()
            case PartDelta(session_id=self.session_id, part_id=part_id, delta=delta):
                if self._kinds.get(part_id) == "text":
                    self._words(delta)
            case PartUpdated(part=ToolPart(state=Completed() | Failed()) as part):
                self._call(part)
            case PartUpdated(part=ToolPart(session_id=self.session_id, state=Running(title=title)) as part) if title:
                self._kinds.setdefault(part.id, "shown")
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "doing": str(doing)}):
                self._note(f"… {doing}", "33")
            case SessionStatus(session_id=self.session_id, status={"type": "retry", **rest}):
                self._note(f"! {rest.get('message')} ({rest.get('wait', 'trying again')})", "33")
            case _:
                pass

    def _words(self, text: str) -> None:
        self.out.write(visible(text))
        self.out.flush()
        self._line_open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._line_open:
            self._words("\n")

    def _call(self, part: ToolPart) -> None:
        self._end_line()
        indent = "" if part.session_id == self.session_id and part.parent_call_id is None else "    "
        if isinstance(part.state, Failed):
            first = part.state.error.strip().splitlines()[0] if part.state.error.strip() else "failed"
            self._note(f"{indent}✗ {part.tool}  {first[:160]}", "31")
        elif isinstance(part.state, Completed):
            title = part.state.title or _short(part.state.input)
            exit_code = part.state.metadata.get("exit")
            ended = f"  (exit {exit_code})" if exit_code else ""
            self._note(f"{indent}• {part.tool}  {title.splitlines()[0][:160] if title else ''}{ended}", "2")

    def _note(self, text: str, code: str) -> None:
        text = visible(text, lines=False)
        print(f"\x1b[{code}m{text}\x1b[0m" if self.colour else text.rstrip(), file=self.notes, flush=True)


def _short(arguments: Json) -> str:
    return next((str(value) for value in arguments.values() if isinstance(value, str)), "")


@record(slots=True)
class Quiet:
    """Only failed calls and waits, on stderr: the answer alone goes to the pipe at the end."""

    session_id: str
    notes: TextIO = field(default_factory=lambda: sys.stderr)

    def __call__(self, event: Event) -> None:
        match event:
            case PartUpdated(part=ToolPart(state=Failed(error=error)) as part):
                first = error.strip().splitlines()[0] if error.strip() else ""
                print(visible(f"{part.tool} failed: {first}", lines=False), file=self.notes)
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "doing": str(doing)}):
                print(visible(str(doing), lines=False), file=self.notes)
            case SessionStatus(session_id=self.session_id, status={"type": "retry", "message": message, **rest}):
                print(visible(f"trying again: {message} ({rest.get('wait', '')})", lines=False), file=self.notes)
            case _:
                pass

"""What a turn looks like while it runs: for a person at a terminal, and for a pipe."""

import sys
from collections.abc import Iterator
from dataclasses import field
from typing import Any, TextIO

from toolwright.display import visible
from toolwright.events import Event, PartUpdated
from toolwright.messages import TextPart
from toolwright.parts import Completed, Failed, Running, ToolPart
from toolwright.record import record
from toolwright.session.events import PartDelta, SessionStatus

Json = dict[str, Any]

PRINTED = 8
"""Lines that are shown of what a command printed."""
CHANGED = 24
"""Lines that are shown of a difference."""
LONGEST = 160
_SLOW = ("bash", "task")
"""Tools whose beginning is told as well, because their end may be far off."""


@record(slots=True)
class Live:
    """Words as they come on stdout; calls with what they did, waits and subagents on stderr."""

    session_id: str
    colour: bool
    out: TextIO = field(default_factory=lambda: sys.stdout)
    notes: TextIO = field(default_factory=lambda: sys.stderr)
    _texts: set[str] = field(default_factory=set[str])
    _begun: set[str] = field(default_factory=set[str])
    _line_open: bool = False

    def __call__(self, event: Event) -> None:
        match event:
            case PartUpdated(part=TextPart(metadata={"notAttached": str(told)})):
                self._note(f"! {told}", "33")
            case PartUpdated(part=TextPart(session_id=self.session_id, time=span) as part):
                self._texts.add(part.id)
                if span is not None and span.end is not None:
                    self._end_line()
            case PartDelta(session_id=self.session_id, part_id=part_id, delta=delta):
                if part_id in self._texts:
                    self._words(delta)
            case PartUpdated(part=ToolPart(state=Completed() | Failed()) as part):
                self._call(part)
            case PartUpdated(part=ToolPart(tool=tool, state=Running(title=str(title))) as part) if tool in _SLOW:
                self._begin(part, title)
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "doing": str(doing)}):
                self._note(f"… {doing}", "33")
            case SessionStatus(session_id=self.session_id, status={"type": "retry", **rest}):
                self._note(f"! {_retry(rest)}", "33")
            case _:
                pass

    def _words(self, text: str) -> None:
        self.out.write(visible(text))
        self.out.flush()
        self._line_open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._line_open:
            self._words("\n")

    def _begin(self, part: ToolPart, title: str) -> None:
        if part.id not in self._begun and title:
            self._begun.add(part.id)
            self._end_line()
            self._note(f"{self._indent(part)}… {part.tool}  {_first_line(title)}", "2")

    def _call(self, part: ToolPart) -> None:
        self._end_line()
        indent = self._indent(part)
        if isinstance(part.state, Failed):
            self._note(f"{indent}✗ {part.tool}  {_first_line(part.state.error) or 'failed'}", "31")
        elif isinstance(part.state, Completed):
            title = part.state.title or _short(part.state.input)
            exit_code = part.state.metadata.get("exit")
            ended = f"  (exit {exit_code})" if exit_code else ""
            self._note(f"{indent}• {part.tool}  {_first_line(title)}{ended}", "2")
            for line, code in _details(part.tool, part.state):
                self._note(f"{indent}    {line[:LONGEST]}", code)

    def _indent(self, part: ToolPart) -> str:
        return "" if part.session_id == self.session_id and part.parent_call_id is None else "    "

    def _note(self, text: str, code: str) -> None:
        text = visible(text.expandtabs(4), lines=False)
        print(f"\x1b[{code}m{text}\x1b[0m" if self.colour else text.rstrip(), file=self.notes, flush=True)


def _details(tool: str, state: Completed) -> Iterator[tuple[str, str]]:
    """What a call changed or printed, a line at a time, each with its colour."""
    diff, output = state.metadata.get("diff"), state.metadata.get("output")
    if isinstance(diff, str):
        lines = [line for line in diff.splitlines() if line[:1] in "+-@ " and line[:3] not in ("+++", "---")]
        yield from ((line, {"+": "32", "-": "31"}.get(line[:1], "2")) for line in lines[:CHANGED])
        if len(lines) > CHANGED:
            yield _left_out(len(lines) - CHANGED), "2"
    elif tool == "bash" and isinstance(output, str):
        lines = output.rstrip().splitlines()
        if len(lines) > PRINTED:
            yield _left_out(len(lines) - PRINTED), "2"
        yield from ((f"│ {line}", "2") for line in lines[-PRINTED:])


def _left_out(count: int) -> str:
    return f"… {count} more line{'s' if count != 1 else ''}"


def _retry(status: Json) -> str:
    return f"{status.get('message')} ({status.get('wait') or 'trying again'})"


def _short(arguments: Json) -> str:
    return next((str(value) for value in arguments.values() if isinstance(value, str)), "")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:LONGEST] if text.strip() else ""


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

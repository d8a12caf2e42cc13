"""A turn as a person at a terminal sees it: words as they come, calls with diffs and output, progress, cost."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import field

from toolwright.app.doing import Doing
from toolwright.app.shown import view_of
from toolwright.app.words import duration, end_line, money, plural, summary_line
from toolwright.calls.parts import Completed, Failed, Running, ToolPart
from toolwright.events import Event, EventsMissed, PartUpdated, PermissionAsked, PermissionReplied
from toolwright.messages import ReasoningPart, TextPart
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.events import (
    PartDelta,
    QuestionAsked,
    QuestionRejected,
    QuestionReplied,
    SessionCompacted,
    SessionStatus,
)
from toolwright.session.result import TurnResult
from toolwright.terminal.calls import FIRST, details, ending, headline
from toolwright.terminal.columns import clipped
from toolwright.terminal.flow import Flow
from toolwright.terminal.screen import DIM, RED, YELLOW, Screen
from toolwright.text.display import visible

TICK = 0.25
PATIENCE = 1.0
"""Seconds after which a line shows that something is still going on."""


@record(slots=True, kw_only=True)
class Renderer:
    """Listens to the events of one session and those below it, and writes them to the screen."""

    session_id: str
    screen: Screen
    notes: Screen | None = None
    """Screen for calls and progress, if not that of the words: for an answer that is piped on."""
    clock: Callable[[], float] = time.monotonic
    thinking: bool = False
    """True if what the model thinks is shown, too."""
    _flow: Flow | None = None
    _texts: set[str] = field(default_factory=set[str])
    _running: dict[str, ToolPart] = field(default_factory=dict[str, ToolPart])
    _open: str = ""
    """The call whose lines are the last on the screen, so that more of its output may follow."""
    _shown: dict[str, int] = field(default_factory=dict[str, int])
    """Lines of each call's output that were shown while it ran."""
    _begun: dict[str, float] = field(default_factory=dict[str, float])
    _asked: set[str] = field(default_factory=set[str])
    """The questions that stand on the screen; nothing is written below them until they are answered."""
    _waits_since: float = 0.0
    _doing: Doing = field(init=False)

    def __post_init__(self) -> None:
        self._doing = Doing(self.session_id)

    @classmethod
    def of_terminal(cls, session_id: str, *, thinking: bool = False) -> "Renderer":
        """The words go to stdout, everything else to stderr."""
        screen, notes = Screen.of(sys.stdout), Screen.of(sys.stderr)
        return cls(session_id=session_id, screen=screen, notes=notes, thinking=thinking)

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        """Progress is told as long as this lasts."""

        async def tick() -> None:
            while True:
                await asyncio.sleep(TICK)
                self.tick()

        task = asyncio.create_task(tick())
        try:
            yield
        finally:
            task.cancel()
            self.pause()

    def __call__(self, event: Event) -> None:
        self._doing.take(event)
        match event:
            case PartUpdated(part=TextPart(metadata={"notAttached": str(told)})):
                self._note(f"! {told}", YELLOW)
            case PartUpdated(part=TextPart(session_id=self.session_id, synthetic=None) as part):
                self._take_text(part)
            case PartUpdated(part=ReasoningPart(session_id=self.session_id, time=span, text=text)) if (
                self.thinking and span.end is not None and text.strip()
            ):
                self._note(visible(f"Thinking: {text.strip()}"), DIM)
            case PartDelta(session_id=self.session_id, part_id=part_id, delta=delta) if part_id in self._texts:
                self._words(delta)
            case PartUpdated(part=ToolPart(state=Running()) as part):
                self._under_way(part)
            case PartUpdated(part=ToolPart(state=Completed() | Failed()) as part):
                self._finished(part)
            case SessionStatus(session_id=self.session_id, status=status):
                self._status(status)
            case SessionCompacted(session_id=self.session_id, failed=failed):
                self._note(summary_line(failed), YELLOW if failed else DIM)
            case PermissionAsked(id=question_id) | QuestionAsked(id=question_id):
                self.pause()
                self._asked.add(question_id)
            case PermissionReplied() | QuestionReplied() | QuestionRejected():
                self._asked.discard(event.request_id)
            case EventsMissed(count=count):
                self._note(f"{count} events went by too fast to be shown; /sessions has all of it", YELLOW)
            case _:
                pass

    def tick(self) -> None:
        """Time has gone by: tell what is still going on, and for how long."""
        if self._flow is not None or self._asked:
            return
        now = self.clock()
        running = [part for part in self._running.values() if now - self._begun[part.id] >= PATIENCE]
        if running:
            part = running[-1]
            more = f" and {len(running) - 1} more" if len(running) > 1 else ""
            last = last_line(part)
            activity = clipped(f"running {headline(part)}{more}", max(30, self._notes.width // 2))
            self._notes.progress(f"{activity} · {duration(now - self._begun[part.id])} · {last or 'Ctrl-C to stop'}")
        elif self._waits_since and now - self._waits_since >= PATIENCE:
            self._notes.progress(f"{self._doing.word()} · {duration(now - self._waits_since)} · Ctrl-C to stop")

    def pause(self) -> None:
        """Something else will write to the screen: leave it at the beginning of a line."""
        self._end_words()
        self._notes.end_line()
        self._notes.clear()
        self._open = ""

    def finish(self, result: TurnResult, seconds: float) -> None:
        """The last lines of a turn: what went wrong, and what it took."""
        self.pause()
        if result.error is not None:
            self._note(end_line(str(result.error)), RED)
        elif result.finish == "length":
            self._note("! the answer was truncated at the model's limit", YELLOW)
        self._note(spent(result, seconds), DIM)

    @property
    def _notes(self) -> Screen:
        return self.notes or self.screen

    def _take_text(self, part: TextPart) -> None:
        self._texts.add(part.id)
        if part.time is not None and part.time.end is not None:
            self._end_words()
            self._texts.discard(part.id)

    def _words(self, text: str) -> None:
        if self._flow is None:
            if not text.strip():
                return
            self._notes.clear()
            self._open = ""
            text = text.lstrip("\n")
            self._flow = Flow(screen=self.screen)
        self._flow.add(text)

    def _end_words(self) -> None:
        if self._flow is not None:
            self._flow.end()
            self._flow = None
            self._waits_since = self.clock()

    def _under_way(self, part: ToolPart) -> None:
        first = part.id not in self._running
        self._running[part.id] = part
        if first:
            self._begun[part.id] = self.clock()
            if view_of(part).lasting:
                self._end_words()
                self._note(f"{self._indent(part)}• {headline(part)}", DIM)
                self._open = part.id
        if self._open == part.id and view_of(part).kind == "execute":
            self._output_so_far(part)

    def _output_so_far(self, part: ToolPart) -> None:
        output = (getattr(part.state, "metadata", None) or {}).get("output")
        if not isinstance(output, str) or output.startswith("...\n\n"):
            return
        printed = self._shown.get(part.id, 0)
        # Only whole lines: the last may be on its way still.
        complete = output[: output.rfind("\n") + 1].splitlines()[:FIRST]
        for line in complete[printed:]:
            self._line(part, f"│ {line}", DIM)
        self._shown[part.id] = max(printed, len(complete))

    def _finished(self, part: ToolPart) -> None:
        self._end_words()
        self._running.pop(part.id, None)
        self._begun.pop(part.id, None)
        failed = isinstance(part.state, Failed)
        printed = self._shown.pop(part.id, 0)
        if self._open != part.id:
            mark = "✗" if failed else "•"
            self._note(f"{self._indent(part)}{mark} {headline(part)}{ending(part)}", RED if failed else DIM)
        for line, code in details(part, printed):
            self._line(part, line, code)
        if self._open == part.id and (note := ending(part)):
            self._line(part, note.strip(), RED if failed else DIM)
        self._open = ""
        self._waits_since = self.clock()

    def _status(self, status: Json) -> None:
        match status:
            case {"type": "busy", "notice": str(notice)}:
                self._note(f"! {notice}", YELLOW)
            case {"type": "busy"}:
                self._waits_since = self.clock()
            case {"type": "retry", "message": message, **rest}:
                self._end_words()
                # Where a line can be replaced, the line of progress says it.
                if not self._notes.moves:
                    self._note(f"! {message} ({rest.get('wait') or 'trying again'})", YELLOW)
            case {"type": "idle"}:
                self._waits_since = 0.0
            case _:
                pass

    def _indent(self, part: ToolPart) -> str:
        return "" if part.session_id == self.session_id and part.parent_call_id is None else "    "

    def _line(self, part: ToolPart, text: str, code: str) -> None:
        indent = f"{self._indent(part)}    "
        harmless = visible(text.expandtabs(4), lines=False)
        if code == RED and isinstance(part.state, Failed):
            self._notes.wrapped(f"{indent}{harmless}", code)
            return
        self._notes.line(clipped(f"{indent}{harmless}", self._notes.width), code)

    def _note(self, text: str, code: str) -> None:
        self._end_words()
        self._open = ""
        self._notes.wrapped(text, code)


def spent(result: TurnResult, seconds: float) -> str:
    """Return in one line what a turn took."""
    parts = [plural(result.steps, "step")]
    if result.tokens.total:
        parts.append(f"{result.tokens.total:,} tokens")
    if result.cost:
        parts.append(money(result.cost))
    parts.append(duration(seconds))
    if result.changes:
        added, removed = sum(one.additions for one in result.changes), sum(one.deletions for one in result.changes)
        count = len(result.changes)
        lines = f", +{added} -{removed}" if added or removed else ""
        parts.append(f"{plural(count, 'file')} changed{lines}")
    if result.evidence is not None:
        against = next((one.text for one in result.evidence.reasons if one.weight != "note"), "")
        parts.append(result.evidence.verdict.replace("_", " ") + (f": {against}" if against else ""))
    return " · ".join(parts)


def last_line(part: ToolPart) -> str:
    """Return the last line that a running command has printed."""
    output = (getattr(part.state, "metadata", None) or {}).get("output")
    text = output.rstrip() if isinstance(output, str) else ""
    return text[text.rfind("\n") + 1 :][-200:]

"""Blocks of the transcript, each as the lines it takes on a screen of some width."""

from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len

from toolwright.app.shown import view_of
from toolwright.calls.parts import Completed, Failed, Pending, Running, ToolPart
from toolwright.terminal.calls import CHANGED, details, difference, ending, headline
from toolwright.terminal.columns import clipped
from toolwright.terminal.flow import Flow
from toolwright.terminal.screen import BOLD, DIM, RED, YELLOW
from toolwright.text.display import visible
from toolwright.tui.diffs import diff_rows
from toolwright.tui.page import DrawnPage, Line, fitted

LIVE = 8
"""Lines that are shown of the end of what a command has printed so far."""
PROMPT, SAID = "1;94", "1;97"
"""The colours of what the person has said: of the bar beside it, and of the block."""
ALL = 1_000_000


class TranscriptBlock:
    """One thing in the transcript. `version` grows with every change."""

    @property
    def loose(self) -> bool:
        """Tell whether empty lines go around it; between two that are not, there is none."""
        return True

    def __init__(self, block_id: str) -> None:
        self.id = block_id
        self.version = 0

    @property
    def grows(self) -> bool:
        """Tell whether more will be added to its end."""
        return False

    @property
    def settled(self) -> bool:
        """Tell whether it is final."""
        return True

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        """As it is shown now; with everything that is otherwise left out if the whole is wanted."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """As it is copied."""
        return ""


class Said(TranscriptBlock):
    """A prompt of the person."""

    def __init__(self, block_id: str, text: str) -> None:
        super().__init__(block_id)
        self.words = text

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        page = DrawnPage.blank(columns - 2)
        lines = self.words.splitlines()
        visible_lines = lines if whole or len(lines) <= 12 else lines[:10]
        for line in visible_lines:
            page.wrapped(line or " ", SAID)
        if len(visible_lines) < len(lines):
            page.line(f"… {len(lines) - len(visible_lines)} more lines", SAID)
        room = columns - 2
        filled = ([*line, (" " * (room - sum(cell_len(text) for text, _ in line)), SAID)] for line in page.lines)
        return [[("▌", PROMPT), (" ", SAID), *line] for line in filled]

    @property
    def text(self) -> str:
        return self.words


class AnswerBlock(TranscriptBlock):
    """An answer of the model, laid out as it comes: only what is new is worked on."""

    def __init__(self, block_id: str, text: str = "") -> None:
        super().__init__(block_id)
        self._parts = [text] if text else []
        self.complete = False
        self._page: DrawnPage | None = None
        self._flow: Flow | None = None
        self._taken = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def grows(self) -> bool:
        return not self.complete

    @property
    def settled(self) -> bool:
        return self.complete

    def add(self, delta: str) -> None:
        self._parts.append(delta)
        self.version += 1

    def finish(self, text: str) -> None:
        """The whole as it was stored."""
        if text != "".join(self._parts):
            self._parts, self._page = [text], None
        self.complete = True
        self.version += 1

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        if self._page is None or self._page.columns != columns or self._flow is None:
            self._page = DrawnPage.blank(columns)
            self._flow = Flow(screen=self._page)
            self._taken = 0
        for delta in self._parts[self._taken :]:
            # An answer begins with its first letter.
            self._flow.add(delta if self._page.lines or self._page.inside_line else delta.lstrip("\n"))
        self._taken = len(self._parts)
        if self.complete:
            self._flow.end()
            lines, self._page, self._flow = self._page.lines, None, None
        else:
            lines = self._page.shown()
        return lines


class Thoughts(TranscriptBlock):
    """Thoughts of the model; one line of them unless the whole is wanted."""

    @property
    def loose(self) -> bool:
        return False

    def __init__(self, block_id: str, text: str = "") -> None:
        super().__init__(block_id)
        self._parts = [text] if text else []
        self.complete = False

    @property
    def settled(self) -> bool:
        return self.complete

    @property
    def text(self) -> str:
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def add(self, delta: str) -> None:
        self._parts.append(delta)
        self.version += 1

    def finish(self, text: str) -> None:
        self._parts, self.complete = [text], True
        self.version += 1

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        words = self.text.strip()
        if not words:
            return []
        page = DrawnPage.blank(columns)
        if whole:
            for line in words.splitlines():
                page.wrapped(f"  {line}", DIM)
        else:
            last = visible(words[words.rfind("\n") + 1 :].replace("**", ""), lines=False)
            page.line(clipped(f"  thinking: {last}" if not self.complete else f"  thought: {last}", columns), DIM)
        return page.lines


class Note(TranscriptBlock):
    """A line of ours."""

    @property
    def loose(self) -> bool:
        return False

    def __init__(self, block_id: str, text: str, code: str = DIM) -> None:
        super().__init__(block_id)
        self.words, self.code = text, code

    def change(self, text: str, code: str) -> None:
        self.words, self.code = text, code
        self.version += 1

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        page = DrawnPage.blank(columns)
        for line in self.words.splitlines() or [""]:
            page.wrapped(line, self.code)
        return page.lines

    @property
    def text(self) -> str:
        return self.words


class Shell(TranscriptBlock):
    """A command that the person runs, with what it prints."""

    def __init__(self, block_id: str, command: str) -> None:
        super().__init__(block_id)
        self.command = command
        self.output = ""
        self.ended = ""

    @property
    def settled(self) -> bool:
        return bool(self.ended)

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        page = DrawnPage.blank(columns)
        page.wrapped(f"! {self.command}", BOLD)
        lines = self.output.splitlines()
        tail = lines if whole else lines[-2 * LIVE :]
        if len(tail) < len(lines):
            page.line(f"  │ … {len(lines) - len(tail)} lines before", DIM)
        for line in tail:
            text = visible(f"  │ {line}".expandtabs(4), lines=False)
            page.line(text if whole else clipped(text, columns), DIM)
        if self.ended:
            page.line(f"  {self.ended}", DIM)
        return page.lines

    @property
    def text(self) -> str:
        return self.output


class CallBlock(TranscriptBlock):
    """A call with what it changed, printed or decided."""

    def __init__(self, part: ToolPart) -> None:
        super().__init__(part.id)
        self.part = part

    @property
    def loose(self) -> bool:
        """Tell whether it takes more than one line."""
        state, metadata = self.part.state, _metadata(self.part)
        if isinstance(state, Pending):
            return False
        output = metadata.get("output") if view_of(self.part).kind == "execute" else None
        return isinstance(state, Failed) or bool(
            difference(self.part) or output or "todos" in state.input or "answers" in metadata or self.child
        )

    @property
    def settled(self) -> bool:
        return isinstance(self.part.state, Completed | Failed)

    @property
    def child(self) -> str:
        """The session of the subagent that the call has handed its work to."""
        return view_of(self.part).child

    @property
    def title(self) -> str:
        return view_of(self.part).subject

    def take(self, part: ToolPart) -> None:
        self.part = part
        self.version += 1

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        part = self.part
        indent = "  " if part.parent_call_id else ""
        lines = self._title(indent, columns, whole=whole)
        for line in self._below(columns - len(indent) - 4, whole=whole):
            lines.append([(f"{indent}    ", ""), *line])
        return lines

    @property
    def text(self) -> str:
        state = self.part.state
        return state.output if isinstance(state, Completed) else getattr(state, "error", "") or ""

    def _title(self, indent: str, columns: int, *, whole: bool) -> list[Line]:
        """The name of the tool, dim, and what the call is about; one that is under way or failed meets the eye."""
        state = self.part.state
        done = isinstance(state, Completed)
        mark, code = ("✗", RED) if isinstance(state, Failed) else ("•", DIM) if done else ("…", YELLOW)
        first = f"{indent}{mark} {self.part.tool}"
        rest, end = visible(headline(self.part), lines=False)[len(self.part.tool) :], ending(self.part)
        if not whole:
            rest = clipped(rest, max(0, columns - len(first) - len(end)))
        rest = clipped(f"{rest}{end}", max(0, columns - len(first))) if not whole else f"{rest}{end}"
        return fitted([(visible(first, lines=False), code), (rest, "" if done else code)], columns)

    def _below(self, columns: int, *, whole: bool) -> Iterator[Line]:
        state = self.part.state
        page = DrawnPage.blank(columns)
        if isinstance(state, Pending):
            return
        if isinstance(state, Running):
            self._running(page, columns)
        elif self.child:
            self._task(page, columns, whole=whole)
        elif whole:
            yield from self._whole(page, columns)
            return
        else:
            if diff := difference(self.part):
                yield from diff_rows(diff, columns, CHANGED)
                return
            for text, code in details(self.part):
                if isinstance(state, Failed):
                    page.wrapped(text, code)
                else:
                    page.line(_clipped(text, columns), code)
        yield from page.lines

    def _running(self, page: DrawnPage, columns: int) -> None:
        if self.child:
            self._task(page, columns, whole=False)
            return
        output = _metadata(self.part).get("output")
        if isinstance(output, str):
            # The end is what is new; a command that floods must not cost more than one that does not.
            for line in output[-4_000:].rstrip().splitlines()[-LIVE:]:
                page.line(_clipped(f"│ {line}", columns), DIM)

    def _task(self, page: DrawnPage, columns: int, *, whole: bool) -> None:
        calls = [one for one in _metadata(self.part).get("summary") or () if isinstance(one, dict)]
        for call in calls if whole else calls[-LIVE:]:
            page.line(_clipped(f"│ {_summary(call)}", columns), DIM)
        page.line(_clipped("│ Ctrl-G opens it", columns), DIM)
        if whole and isinstance(self.part.state, Completed):
            page.line(self.part.state.output)

    def _whole(self, page: DrawnPage, columns: int) -> list[Line]:
        state, diff = self.part.state, difference(self.part)
        for name, value in state.input.items():
            if not (diff and name in ("content", "oldString", "newString", "edits")):
                page.wrapped(f"{name}: {value}", DIM)
        if diff:
            return [*page.lines, *diff_rows(diff, columns, ALL)]
        for line in self.text.splitlines():
            page.line(f"│ {line}", DIM)
        return page.lines


def _metadata(part: ToolPart) -> dict[str, Any]:
    return getattr(part.state, "metadata", None) or {}


def _summary(call: dict[str, Any]) -> str:
    state = call.get("state")
    title = state.get("title") if isinstance(state, dict) else ""
    return f"{call.get('tool', '')}  {title or ''}"


def _clipped(text: str, columns: int) -> str:
    return clipped(visible(text.expandtabs(4), lines=False), columns)

"""What stands in the transcript, piece by piece, each as the lines it takes on a screen of some width."""

from collections.abc import Iterator
from typing import Any

from toolwright.chat.calls import CHANGED, details, diff_lines, ending, headline
from toolwright.chat.columns import clipped
from toolwright.chat.flow import Flow
from toolwright.chat.screen import BOLD, DIM, RED
from toolwright.display import visible
from toolwright.parts import Completed, Failed, Pending, Running, ToolPart
from toolwright.tui.diffs import WIDE, side_by_side
from toolwright.tui.page import Line, Page

LIVE = 8
"""Lines that are shown of the end of what a command has printed so far."""
PROMPT = "1;94"
"""The colour of what the person has said."""
ALL = 1_000_000


class Block:
    """One thing in the transcript. `version` grows with every change."""

    loose = True
    """Whether an empty line stands around it; between two that are not, there is none."""

    def __init__(self, block_id: str) -> None:
        self.id = block_id
        self.version = 0

    @property
    def grows(self) -> bool:
        """Whether more will be added to its end."""
        return False

    @property
    def settled(self) -> bool:
        """Whether nothing of it will change any more."""
        return True

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        """As it is shown now; with everything that is otherwise left out if the whole is wanted."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """As it is copied."""
        return ""


class Said(Block):
    """A prompt of the person."""

    def __init__(self, block_id: str, text: str) -> None:
        super().__init__(block_id)
        self.words = text

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        page = Page.blank(columns - 2)
        said = self.words.splitlines()
        shown = said if whole or len(said) <= 12 else said[:10]
        for line in shown:
            page.wrapped(line or " ", PROMPT)
        if len(shown) < len(said):
            page.line(f"… {len(said) - len(shown)} more lines", DIM)
        return [[("▌ ", PROMPT), *line] for line in page.lines]

    @property
    def text(self) -> str:
        return self.words


class Answer(Block):
    """An answer of the model, laid out as it comes: only what is new is worked on."""

    def __init__(self, block_id: str, text: str = "") -> None:
        super().__init__(block_id)
        self._parts = [text] if text else []
        self.complete = False
        self._page: Page | None = None
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
            self._page = Page.blank(columns)
            self._flow = Flow(screen=self._page)
            self._taken = 0
        for delta in self._parts[self._taken :]:
            # An answer begins with its first letter.
            self._flow.add(delta if self._page.lines or self._page.inside_line else delta.lstrip("\n"))
        self._taken = len(self._parts)
        if self.complete:
            self._flow.end()
            shown, self._page, self._flow = self._page.lines, None, None
        else:
            shown = self._page.shown()
        return shown


class Thoughts(Block):
    """What the model has thought; one line of it unless the whole is wanted."""

    loose = False

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
        page = Page.blank(columns)
        if whole:
            for line in words.splitlines():
                page.wrapped(f"  {line}", DIM)
        else:
            last = visible(words[words.rfind("\n") + 1 :].replace("**", ""), lines=False)
            page.line(clipped(f"  thinking: {last}" if not self.complete else f"  thought: {last}", columns), DIM)
        return page.lines


class Note(Block):
    """A line of ours."""

    loose = False

    def __init__(self, block_id: str, text: str, code: str = DIM) -> None:
        super().__init__(block_id)
        self.words, self.code = text, code

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        page = Page.blank(columns)
        for line in self.words.splitlines() or [""]:
            page.wrapped(line, self.code)
        return page.lines

    @property
    def text(self) -> str:
        return self.words


class Shell(Block):
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
        page = Page.blank(columns)
        page.wrapped(f"! {self.command}", BOLD)
        lines = self.output.splitlines()
        shown = lines if whole else lines[-2 * LIVE :]
        if len(shown) < len(lines):
            page.line(f"  │ … {len(lines) - len(shown)} lines before", DIM)
        for line in shown:
            text = visible(f"  │ {line}".expandtabs(4), lines=False)
            page.line(text if whole else clipped(text, columns), DIM)
        if self.ended:
            page.line(f"  {self.ended}", DIM)
        return page.lines

    @property
    def text(self) -> str:
        return self.output


class CallBlock(Block):
    """A call with what it changed, printed or decided."""

    loose = False

    def __init__(self, part: ToolPart) -> None:
        super().__init__(part.id)
        self.part = part

    @property
    def settled(self) -> bool:
        return isinstance(self.part.state, Completed | Failed)

    @property
    def child(self) -> str:
        """The session of the subagent that the call has handed its work to."""
        found = _metadata(self.part).get("sessionId") if self.part.tool == "task" else None
        return found if isinstance(found, str) else ""

    @property
    def title(self) -> str:
        return headline(self.part).partition("  ")[2]

    def take(self, part: ToolPart) -> None:
        self.part = part
        self.version += 1

    def lines(self, columns: int, *, whole: bool) -> list[Line]:
        page = Page.blank(columns)
        part, failed = self.part, isinstance(self.part.state, Failed)
        indent = "  " if part.parent_call_id else ""
        mark = "✗" if failed else "•" if isinstance(part.state, Completed) else "…"
        title = visible(f"{headline(part)}{ending(part)}", lines=False)
        if whole:
            page.wrapped(f"{indent}{mark} {title}", RED if failed else "")
        else:
            page.line(clipped(f"{indent}{mark} {title}", columns), RED if failed else "")
        made = page.lines
        for line in self._below(columns - len(indent) - 4, whole=whole):
            made.append([(f"{indent}    ", ""), *line])
        return made

    @property
    def text(self) -> str:
        state = self.part.state
        return state.output if isinstance(state, Completed) else getattr(state, "error", "") or ""

    def _below(self, columns: int, *, whole: bool) -> Iterator[Line]:
        state = self.part.state
        page = Page.blank(columns)
        if isinstance(state, Pending):
            return
        if isinstance(state, Running):
            self._running(page, columns)
        elif self.part.tool == "task":
            self._task(page, columns, whole=whole)
        elif whole:
            self._whole(page, columns)
        else:
            diff = _metadata(self.part).get("diff")
            if columns >= WIDE and isinstance(state, Completed) and isinstance(diff, str):
                yield from side_by_side(diff, columns, CHANGED)
                return
            for text, code in details(self.part):
                if isinstance(state, Failed):
                    page.wrapped(text, code)
                else:
                    page.line(_clipped(text, columns), code)
        yield from page.lines

    def _running(self, page: Page, columns: int) -> None:
        if self.part.tool == "task":
            self._task(page, columns, whole=False)
            return
        output = _metadata(self.part).get("output")
        if isinstance(output, str):
            # The end is what is new; a command that floods must not cost more than one that does not.
            for line in output[-4_000:].rstrip().splitlines()[-LIVE:]:
                page.line(_clipped(f"│ {line}", columns), DIM)

    def _task(self, page: Page, columns: int, *, whole: bool) -> None:
        calls = [one for one in _metadata(self.part).get("summary") or () if isinstance(one, dict)]
        for one in calls if whole else calls[-LIVE:]:
            page.line(_clipped(f"│ {_summary(one)}", columns), DIM)
        if self.child:
            page.line(_clipped("│ Ctrl-G steps into it", columns), DIM)
        if whole and isinstance(self.part.state, Completed):
            page.line(self.part.state.output)

    def _whole(self, page: Page, columns: int) -> None:
        state, metadata = self.part.state, _metadata(self.part)
        for name, value in state.input.items():
            if not (isinstance(metadata.get("diff"), str) and name in ("content", "oldString", "newString", "edits")):
                page.wrapped(f"{name}: {value}", DIM)
        if isinstance(diff := metadata.get("diff"), str):
            for text, code in diff_lines(diff, ALL):
                page.line(_clipped(text, columns), code)
            return
        for line in self.text.splitlines():
            page.line(f"│ {line}", DIM)


def _metadata(part: ToolPart) -> dict[str, Any]:
    return getattr(part.state, "metadata", None) or {}


def _summary(call: dict[str, Any]) -> str:
    state = call.get("state")
    title = state.get("title") if isinstance(state, dict) else ""
    return f"{call.get('tool', '')}  {title or ''}"


def _clipped(text: str, columns: int) -> str:
    return clipped(visible(text.expandtabs(4), lines=False), columns)

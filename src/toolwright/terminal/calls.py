"""A finished call as text: one line, and what it changed, printed or decided, in lines below it."""

from collections.abc import Iterator

from toolwright.app.shown import view_of
from toolwright.app.words import duration
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.inbox import ADVICE, REFUSED
from toolwright.terminal.screen import DIM, GREEN, RED
from toolwright.text.diff import unified

FIRST = 10
"""Lines that are shown of the beginning of what a command prints, as they come."""
LAST = 5
"""Lines of its end."""
CHANGED = 40
"""Lines that are shown of a difference."""
REASON = 4
_CUT = "\n\n..."
"""End of an output of which a display got only the beginning."""
_TODO = {"completed": "[x]", "in_progress": "[>]", "cancelled": "[-]"}


def headline(part: ToolPart) -> str:
    """The call in one line: its tool, and what it is about."""
    return f"{part.tool}  {view_of(part).subject}"


def ending(part: ToolPart) -> str:
    """Return how a command went, where that is worth a word."""
    if not isinstance(part.state, Completed | Failed):
        return ""
    span = part.state.time
    asks = "answers" in (part.state.metadata or {})
    seconds = 0.0 if asks else ((span.end or span.start) - span.start) / 1000
    notes = [note] if (note := view_of(part).note) else []
    if seconds >= 2:
        notes.append(duration(seconds))
    return f"  ({', '.join(notes)})" if notes else ""


def details(part: ToolPart, printed: int = 0) -> Iterator[tuple[str, str]]:
    """Lines below the headline, each with its colour; `printed` lines of the output have been shown already."""
    match part.state:
        case Failed(error=error) if error.startswith(REFUSED):
            _, _, advice = error.partition(ADVICE)
            yield f"You refused it{f': {advice}' if advice else '.'}", RED
        case Failed(error=error):
            reason = [line for line in error.strip().splitlines() if line.strip()]
            yield from ((line, RED) for line in reason[:REASON])
            if len(reason) > REASON:
                yield left_out(len(reason) - REASON), DIM
        case Completed() if diff := difference(part):
            yield from diff_lines(diff, CHANGED)
        case Completed(metadata={"answers": list(answers)}, input={"questions": list(questions)}):
            for question, chosen in zip(questions, answers, strict=False):
                asked = question.get("question", "") if isinstance(question, dict) else ""
                yield f"{asked} → {', '.join(map(str, chosen)) or 'no answer'}", DIM
        case Completed(metadata={"output": str(output)}, output=final) if view_of(part).kind == "execute":
            yield from ((line, DIM) for line in output_lines(output, printed, final))
        case Completed(input={"todos": list(todos)}):
            entries = (one for one in todos if isinstance(one, dict))
            yield from ((todo_line(str(one.get("status")), str(one.get("content", ""))), DIM) for one in entries)
        case _:
            pass


def difference(part: ToolPart) -> str:
    """Return the diff of what a call has changed, also where a new file was written."""
    state = part.state
    if not isinstance(state, Completed):
        return ""
    if isinstance(diff := state.metadata.get("diff"), str):
        return diff
    content, view = state.input.get("content"), view_of(part)
    return unified(view.subject, "", content) if view.kind == "edit" and isinstance(content, str) else ""


def diff_lines(diff: str, most: int) -> Iterator[tuple[str, str]]:
    """A unified difference without its header, coloured; what is too much is counted."""
    lines = [
        line for line in diff.splitlines() if line[:1] in ("+", "-", "@", " ") and line[:4] not in ("+++ ", "--- ")
    ]
    for line in lines[:most]:
        yield line, {"+": GREEN, "-": RED}.get(line[:1], DIM)
    if len(lines) > most:
        yield left_out(len(lines) - most), DIM


def output_lines(output: str, printed: int, final: str = "") -> Iterator[str]:
    """Yield what is left to show of an output whose first lines may have been shown.

    Of a very long one `output` is only the beginning; its end is that of `final`, the model's text.
    """
    truncated = output.endswith(_CUT)
    lines = output.removesuffix(_CUT).rstrip().splitlines()
    yield from (f"│ {line}" for line in lines[printed:FIRST])
    rest = lines[max(printed, FIRST) :]
    if truncated:
        yield "│ … many more lines"
        rest = final.rstrip().splitlines()[-LAST:]
    elif len(rest) > LAST + 1:
        yield f"│ {left_out(len(rest) - LAST)}"
        rest = rest[-LAST:]
    yield from (f"│ {line}" for line in rest)


def left_out(count: int) -> str:
    return f"… {count} more line{'s' if count != 1 else ''}"


def todo_line(status: str, content: str) -> str:
    return f"{_TODO.get(status, '[ ]')} {content}"

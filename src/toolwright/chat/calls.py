"""What a finished call is shown as: one line, and what it changed, printed or decided, in lines below it."""

from collections.abc import Iterator

from toolwright.chat.screen import DIM, GREEN, RED
from toolwright.jsontypes import Json
from toolwright.parts import Completed, Failed, ToolPart

FIRST = 10
"""Lines that are shown of the beginning of what a command prints, as they come."""
LAST = 5
"""Lines of its end."""
CHANGED = 40
"""Lines that are shown of a difference."""
REASON = 4
_CUT = "\n\n..."
"""How an output ends of which a display got only the beginning."""
_TODO = {"completed": "[x]", "in_progress": "[>]", "cancelled": "[-]"}


def headline(part: ToolPart) -> str:
    """The call in one line: what is run, or what the tool calls it."""
    state = part.state
    if part.tool == "bash" and isinstance(command := state.input.get("command"), str):
        lines = command.strip().splitlines() or [""]
        more = f"  (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
        return f"bash  {lines[0]}{more}"
    title = getattr(state, "title", None) or _first_text(state.input)
    return f"{part.tool}  {_first_line(title)}"


def ending(part: ToolPart) -> str:
    """How a command went, where that is worth a word."""
    if not isinstance(part.state, Completed | Failed):
        return ""
    span = part.state.time
    seconds = ((span.end or span.start) - span.start) / 1000
    told = [f"exit {code}"] if (code := (part.state.metadata or {}).get("exit")) else []
    if seconds >= 2:
        told.append(duration(seconds))
    return f"  ({', '.join(told)})" if told else ""


def duration(seconds: float) -> str:
    """`12 s`, `3 min 5 s`."""
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def details(part: ToolPart, shown: int = 0) -> Iterator[tuple[str, str]]:
    """Lines below the headline, each with its colour; `shown` lines of the output have been shown already."""
    match part.state:
        case Failed(error=error):
            reason = [line for line in error.strip().splitlines() if line.strip()]
            yield from ((line, RED) for line in reason[:REASON])
            if len(reason) > REASON:
                yield left_out(len(reason) - REASON), DIM
        case Completed(metadata={"diff": str(diff)}):
            yield from diff_lines(diff, CHANGED)
        case Completed(metadata={"output": str(output)}, output=told) if part.tool == "bash":
            yield from ((line, DIM) for line in output_lines(output, shown, told))
        case Completed(input={"todos": list(todos)}):
            found = (one for one in todos if isinstance(one, dict))
            yield from ((todo_line(str(one.get("status")), str(one.get("content", ""))), DIM) for one in found)
        case _:
            pass


def diff_lines(diff: str, most: int) -> Iterator[tuple[str, str]]:
    """A unified difference without its header, coloured; what is too much is counted."""
    lines = [
        line for line in diff.splitlines() if line[:1] in ("+", "-", "@", " ") and line[:4] not in ("+++ ", "--- ")
    ]
    for line in lines[:most]:
        yield line, {"+": GREEN, "-": RED}.get(line[:1], DIM)
    if len(lines) > most:
        yield left_out(len(lines) - most), DIM


def output_lines(output: str, shown: int, told: str = "") -> Iterator[str]:
    """What is left to show of an output whose first lines may have been shown.

    Of a very long one `output` is only the beginning; its end is that of what the model was told.
    """
    truncated = output.endswith(_CUT)
    lines = output.removesuffix(_CUT).rstrip().splitlines()
    yield from (f"│ {line}" for line in lines[shown:FIRST])
    rest = lines[max(shown, FIRST) :]
    if truncated:
        yield "│ … many more lines"
        rest = told.rstrip().splitlines()[-LAST:]
    elif len(rest) > LAST + 1:
        yield f"│ {left_out(len(rest) - LAST)}"
        rest = rest[-LAST:]
    yield from (f"│ {line}" for line in rest)


def left_out(count: int) -> str:
    return f"… {count} more line{'s' if count != 1 else ''}"


def todo_line(status: str, content: str) -> str:
    return f"{_TODO.get(status, '[ ]')} {content}"


def _first_text(arguments: Json) -> str:
    return next((value for value in arguments.values() if isinstance(value, str)), "")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""

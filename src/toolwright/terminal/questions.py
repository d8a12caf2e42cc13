"""Permission questions at a terminal: the answers there are, what each would store, and the call in colours."""

import re
from collections.abc import Iterator, Sequence

from toolwright.inbox import Question, Scope
from toolwright.terminal.columns import pieces
from toolwright.terminal.screen import CYAN, DIM, GREEN, RED, YELLOW, Screen

SCOPES: dict[str, tuple[Scope, str]] = {
    "s": ("session", "in this session"),
    "a": ("project", "in this project"),
    "u": ("user", "in every project"),
}


def offers(question: Question, rules: Sequence[str], stored: Sequence[str], how: str) -> Iterator[str]:
    """The answers there are, and the rules that those for longer would store; `how` one stores only some of them."""
    yield "  y  yes, this once"
    if rules:
        for key, (_, where) in SCOPES.items():
            yield f"  {key}  always, {where}"
        yield "     “Always” will store:"
        for number, pattern in enumerate(rules, 1):
            counted = f"{number}. " if len(rules) > 1 else ""
            left = "" if pattern in stored else "  (left out)"
            yield f"       {counted}{question.rule(pattern)}{left}"
        if len(rules) > 1:
            yield f"       ({how})"
        yield "  e  edit the rule first"
    yield "  n  no, and tell it what to do instead"
    yield "  ?  why it is asked"


def show_call(screen: Screen, call: str) -> None:
    """The call with what it was understood to do: what cannot be undone, and who is reached, meets the eye."""
    label = ""
    for line in call.splitlines():
        name = line[2:12].strip()
        if line.startswith("  │ "):
            screen.line_of((line[:4], DIM), (line[4:], {"+": GREEN, "-": RED}.get(line[4:5], "")))
        elif line.startswith("  ! "):
            screen.line(line, YELLOW)
        elif line.startswith("  ") and (name in _LABELS or not name):
            label = name or label
            screen.line_of((line[:12], DIM), (line[12:], _colour_of(label, line[12:])))
        else:
            screen.line(line, _colour_of(label, line))


def show_offer(screen: Screen, line: str) -> None:
    """An answer with its key, or what one would store."""
    if not _KEY.match(line):
        screen.wrapped(line, DIM if line.endswith((":", ")")) else "")
        return
    first, *rest = pieces(line[5:], screen.width - 7)
    screen.line_of(("  ", ""), (line[2], CYAN), (f"  {first}", ""))
    for piece in rest:
        screen.line(f"     {piece}")


_LABELS = (
    "in",
    "runs",
    "reads",
    "writes",
    "deletes",
    "goes to",
    "reaches",
    "network",
    "unclear",
    "outside",
    "asks for",
)
_KEY = re.compile(r"  [ysauen?]  ")


def _colour_of(label: str, fact: str) -> str:
    if label == "deletes":
        return RED
    return YELLOW if label in ("outside", "unclear") or (label == "network" and not fact.startswith("none")) else ""

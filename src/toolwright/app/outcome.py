"""Outcomes of our commands: lines to read, something to choose, changes of files, or what a screen does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.session.undo.file_back import FileUndo

Mark = Literal["", "remark"]
"""Kind of a line: what was asked for, or something to add."""
Line = tuple[str, Mark]
Act = Literal[
    "account", "connect", "copy", "demo", "edit", "find", "keys", "leave", "login", "subagents", "theme", "timeline"
]


@record(frozen=True, slots=True, kw_only=True)
class OutputLines:
    """Lines to read."""

    lines: Sequence[Line] = ()
    title: str = ""
    brief: bool = False
    """True if they say that something was done, rather than being what was asked for."""
    reread: bool = False
    """True if the conversation is not as it was."""


@record(frozen=True, slots=True, kw_only=True)
class Pick:
    """Something to choose: the command is given again with what is chosen."""

    title: str
    entries: Sequence[tuple[str, str]]
    """Values to choose from, each with how it is shown."""
    chosen: str = ""
    hint: str = ""
    """Way to choose where there is only a line to type."""


@record(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """Files as they would be, shown as differences."""

    title: str
    plans: "Sequence[FileUndo]" = ()
    undoing: bool = False
    """True if it is what undoing would make of them."""
    none: str = ""
    """Line to show where there are none."""


@record(frozen=True, slots=True, kw_only=True)
class AtScreen:
    """Something that the surface does by itself."""

    act: Act
    text: str = ""


Outcome = OutputLines | Pick | FileChanges | AtScreen


def brief(text: str, *, reread: bool = False) -> OutputLines:
    """Say in a line that something was done."""
    return OutputLines(lines=[(text, "remark")], brief=True, reread=reread)


def page(title: str, lines: Sequence[str], remark: str = "") -> OutputLines:
    """Give lines to read, and a remark below them."""
    whole: list[Line] = [(line, "") for line in lines]
    return OutputLines(title=title, lines=[*whole, (remark, "remark")] if remark else whole)


def text_of(outcome: Outcome) -> str:
    """Return an outcome as text, for whoever shows nothing else."""
    match outcome:
        case OutputLines():
            return "\n".join(text for text, _ in outcome.lines)
        case Pick():
            return "\n".join([*(f"  {text}" for _, text in outcome.entries), outcome.hint])
        case FileChanges():
            from toolwright.app.undoing import diff_of

            return diff_of(outcome.plans) or outcome.none
        case AtScreen():
            return outcome.text

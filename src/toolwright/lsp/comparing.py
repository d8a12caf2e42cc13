"""Errors before and after a change told apart: those it brought, those where it changed something, and others."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from toolwright.lsp.diagnostics import Diagnostic, Findings, errors
from toolwright.record import record
from toolwright.text.diff import compare

OldLine = Callable[[int], int | None]
"""Gives the line, from 1, that a line of the new text was in the old one; None for one that is new or changed."""


@record(frozen=True, slots=True, kw_only=True)
class Compared:
    """The errors of one file after a change."""

    new: tuple[Diagnostic, ...] = ()
    standing: tuple[Diagnostic, ...] = ()
    """Not new, but on lines that the change has touched: it may have been meant to mend them."""
    older: tuple[Diagnostic, ...] = ()


def compared(before: Sequence[Diagnostic], after: Sequence[Diagnostic], old_line: OldLine) -> Compared:
    """Tell the errors of a file apart. Lines that a change has moved are known for what they were."""
    in_place = Counter((one.message, one.line) for one in errors(before))
    new, standing, older = list[Diagnostic](), list[Diagnostic](), list[Diagnostic]()
    unsure = list[Diagnostic]()
    for one in errors(after):
        line = old_line(one.line)
        if line is not None and in_place[one.message, line]:
            in_place[one.message, line] -= 1
            older.append(one)
        else:
            unsure.append(one)
    moved = Counter[str]()
    for (message, _), count in in_place.items():
        moved[message] += count
    for one in unsure:
        if not moved[one.message]:
            new.append(one)
            continue
        moved[one.message] -= 1
        (standing if old_line(one.line) is None else older).append(one)
    return Compared(new=tuple(new), standing=tuple(standing), older=tuple(older))


def old_lines(before: str, after: str) -> OldLine:
    """Return what tells for each line of a text where it stood before a change."""
    diff = compare(before, after)

    def old_line(line: int) -> int | None:
        index, shift = line - diff.first_line, 0
        for change in diff.changes:
            if index < change.after_start:
                break
            if index < change.after_end:
                return None
            shift = change.before_end - change.after_end
        return line + shift

    return old_line


def same_line(line: int) -> int:
    """Return the line itself, for a text that has not changed."""
    return line


def new_errors(before: Findings, after: Findings) -> dict[Path, tuple[Diagnostic, ...]]:
    """Return the errors that were not there before in files that have not changed themselves."""
    fresh = dict[Path, tuple[Diagnostic, ...]]()
    for path, diagnostics in after.items():
        if diagnostics is not before.get(path) and (new := compared(before.get(path, ()), diagnostics, same_line).new):
            fresh[path] = new
    return fresh

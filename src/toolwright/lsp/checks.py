"""The findings of servers after one change, and the words in which a model is told of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from toolwright.files.body import Body
from toolwright.lsp.comparing import Compared
from toolwright.lsp.diagnostics import OTHERS, Diagnostic, in_order, report
from toolwright.lsp.snapshot import DocumentSnapshot
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class Checked:
    """The findings of one server after a change, or why it does not tell."""

    own: Compared = Compared()
    """In the file itself. What nothing is known of before is all new."""
    others: Mapping[Path, tuple[Diagnostic, ...]]
    """New ones in other files."""
    problem: str = ""


@record(frozen=True, slots=True, kw_only=True)
class FileEvent:
    """A change of one file that servers are told of."""

    path: Path
    now: DocumentSnapshot | None
    """What is on disk."""
    befores: Mapping[Path, Body]
    """What it and the files that were changed with it were before."""
    kinds: Mapping[Path, int]
    """What happened to them."""
    rest: tuple[Path, ...]
    """Those of them whose turn is yet to come."""
    call_id: str


def told(name: Callable[[Path], str], path: Path, checks: Sequence[Checked]) -> str | None:
    """Say what all servers found: what a change brought, and how much else there is; `name` is how files are called."""
    new = in_order({one for check in checks for one in check.own.new})
    standing = in_order({one for check in checks for one in check.own.standing} - {*new})
    older = {one for check in checks for one in check.own.older} - {*new, *standing}
    others = dict[Path, tuple[Diagnostic, ...]]()
    for check in checks:
        for other, diagnostics in check.others.items():
            others[other] = in_order({*others.get(other, ()), *diagnostics})
    lines = list[str]()
    if new or standing:
        lines += ["This file has errors:", report(name(path), (*new, *standing))]
    if older:
        them, are = ("1 older error", "is") if len(older) == 1 else (f"{len(older)} older errors", "are")
        lines.append(f"{them} in {name(path)} {are} not shown.")
    if others:
        listed = sorted(others.items(), key=lambda one: one[0])[:OTHERS]
        more = f" (in {len(others)} files, of which {OTHERS} are shown)" if len(others) > OTHERS else ""
        lines.append(f"There are new errors in other files since this change{more}:")
        lines += [report(name(other), diagnostics) for other, diagnostics in listed]
    lines += [check.problem for check in checks if check.problem]
    return "\n".join(lines) or None


def warning_of(checks: Sequence[Checked]) -> str:
    """Say that a change has made things worse; empty if it has not."""
    new = sum(len(check.own.new) + sum(map(len, check.others.values())) for check in checks)
    if not new:
        return ""
    them = "1 new error" if new == 1 else f"{new} new errors"
    return f"The change is made, but it brought {them} (see below). Fix it, or call undo to undo just this."

"""Edits of lines that are the file's one by one, but for letters' case, blanks and look-alike signs."""

from collections.abc import Sequence

from toolwright.edits.alignment import align
from toolwright.edits.blanks import indent_of, strip
from toolwright.edits.folding import folded
from toolwright.edits.indented import indented
from toolwright.edits.indents import reindented
from toolwright.edits.merge import Merged
from toolwright.edits.tokens import carries, merge_line
from toolwright.edits.views import TextForms
from toolwright.text.diff import Changed, changed_lines

_LINES = 3
"""Lines with words that an old text needs to be known by, where none need be exact."""


def leveled_place(view: TextForms, old: Sequence[str]) -> tuple[int, int] | None:
    """The first and last line of the only place that has these lines, all of them folded; None if there is no such."""
    if sum(any(map(str.isalnum, line)) for line in old) < _LINES:
        return None
    wanted = "\n".join(["", *map(folded, old), ""])
    at = view.folded.find(wanted)
    if at < 0 or view.folded.find(wanted, at + 1) >= 0:
        return None
    first = view.folded.count("\n", 0, at)
    return first, first + len(old) - 1


def leveled(old: Sequence[str], new: Sequence[str], here: Sequence[str]) -> Merged | None:
    """The changes that turn `old` into `new`, as changes of the lines that are `here`; None where that would guess.

    A kept line stays as the file has it, also where the new text has the mistakes of the old one.
    """
    pairs = list(zip(old, here, strict=True))
    if indented(new, pairs) == "unclear":
        return None
    fitted = reindented(new, pairs)
    lines: list[str] = []
    changes: list[Changed] = []

    def change(start: int, end: int, new_lines: Sequence[str]) -> None:
        if list(here[start:end]) != list(new_lines):
            changes.append(Changed(start, end, len(lines), len(lines) + len(new_lines)))
            lines.extend(new_lines)

    i = j = 0
    runs = changed_lines(list(map(folded, old)), list(map(folded, new)))
    for run in [*runs, Changed(len(old), len(old), len(new), len(new))]:
        for step in range(run.before_start - i):
            line = _kept(old[i + step], new[j + step], here[i + step], fitted[j + step])
            if line is None:
                return None
            change(i + step, i + step + 1, [line])
        added = _lines_in_place(pairs[run.before_start : run.before_end], new[run.after_start : run.after_end])
        if added is None:
            return None
        indents = map(indent_of, fitted[run.after_start : run.after_end])
        change(
            run.before_start,
            run.before_end,
            [one + line if line else "" for one, line in zip(indents, added, strict=True)],
        )
        i, j = run.before_end, run.after_end
    return Merged(changes, lines)


def _kept(old: str, new: str, here: str, fitted: str) -> str | None:
    """A line that both texts have, as it is to stand in the file."""
    if strip(new) not in (strip(old), strip(here)):
        return fitted if strip(old) == strip(here) else None
    moved = strip(here) and indent_of(old) != indent_of(new)
    kept = indent_of(fitted) + strip(here) if moved else here
    return fitted if strip(old) == strip(here) and strip(new) != strip(old) else kept


def _lines_in_place(pairs: Sequence[tuple[str, str]], new: Sequence[str]) -> list[str] | None:
    """New lines in the place of old ones, without their mistakes and without indentation; None if these are unclear."""
    lines = [strip(line) for line in new]
    heirs = {pair.other: pair.line for pair in align([old for old, _ in pairs], new)}
    beside = {number: number for number in range(len(new))} if len(new) == len(pairs) else {}
    for number, line in enumerate(lines):
        if number in heirs or number in beside:
            old, here = map(strip, pairs[heirs.get(number, number)])
            merged = merge_line(old, line, here) if number in heirs and old != here else None
            if merged is None and old != here and _is_nearer(line, old, here):
                return None
            lines[number] = line if merged is None else merged
        elif any(carries(old, here, line) for old, here in pairs):
            return None
    return lines


def _is_nearer(line: str, old: str, here: str) -> bool:
    """Tell whether a new line is written as the old text is, rather than as the file."""
    from rapidfuzz.fuzz import ratio

    return ratio(line, old) > ratio(line, here)

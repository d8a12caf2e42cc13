"""The indentation of new lines, moved from where the model's old text stands to where the file's lines do."""

from collections.abc import Mapping, Sequence

from toolwright.diff import Changed
from toolwright.edits.blanks import indent_of, strip

Pairs = Sequence[tuple[str, str]]
"""Lines as the model wrote them, each with the line of the file it was found to mean."""


def reindented(lines: Sequence[str], pairs: Pairs, changes: Sequence[Changed] = ()) -> list[str]:
    """New lines moved from the indentation of the model's old text to the file's.

    They are left as they are when they already stand as the file does: a model that strays in the old text often
    writes the new one right. `changes` say which lines replace which pairs, where that is known: a line that is
    indented like the old one in its place then goes where that one is, even if all the old text was at the margin.
    """
    moves = _moves(pairs)
    if all(old == here for old, here in _indents(pairs)) or _stand_right(lines, pairs):
        return list(lines)
    targets = [_moved(indent_of(line), moves) for line in lines]
    for change in changes:
        near = _near(pairs, change)
        for number in range(change.after_start, change.after_end):
            targets[number] = near.get(indent_of(lines[number]), targets[number])
    return [
        target + line[len(indent_of(line)) :] if strip(line) else line
        for target, line in zip(targets, lines, strict=True)
    ]


def _near(pairs: Pairs, change: Changed) -> dict[str, str]:
    """From the indentation of the lines replaced to the file's; where none are, of the deeper neighbour."""
    replaced = pairs[change.before_start : change.before_end]
    if not replaced:
        around = pairs[max(0, change.before_start - 1) : change.before_end + 1]
        replaced = sorted(around, key=lambda pair: -len(indent_of(pair[1]).expandtabs()) if strip(pair[1]) else 0)
    return _moves(replaced)


def _moves(pairs: Pairs) -> dict[str, str]:
    """From each indentation of the old text to the file's for it; the first line to have one decides."""
    moves: dict[str, str] = {}
    for old, here in _indents(pairs):
        moves.setdefault(old, here)
    return moves


def _indents(pairs: Pairs) -> list[tuple[str, str]]:
    return [(indent_of(old), indent_of(here)) for old, here in pairs if strip(old)]


def _stand_right(lines: Sequence[str], pairs: Pairs) -> bool:
    """Whether the new lines already have the file's indentation, judged by the lines they share with the old text."""
    places = {strip(old): (indent_of(old), indent_of(here)) for old, here in reversed(pairs) if strip(old)}
    as_old = as_file = 0
    for line in lines:
        old, here = places.get(strip(line), ("", ""))
        if old != here:
            as_old += indent_of(line) == old
            as_file += indent_of(line) == here
    if as_old or as_file:
        return as_file >= as_old and not _stands_out(lines, pairs)
    return _starts_right(lines, pairs)


def _stands_out(lines: Sequence[str], pairs: Pairs) -> bool:
    """Whether a new line begins left of all the file's lines, as far left as the old text does."""
    indents = _indents(pairs)
    margin = min((here for _, here in indents), key=len)
    leftmost = min((indent_of(line) for line in lines if strip(line)), key=len)
    return len(leftmost) < len(margin) and len(min((old for old, _ in indents), key=len)) <= len(leftmost)


def _starts_right(lines: Sequence[str], pairs: Pairs) -> bool:
    """The same, where no line is shared: judged by the first line that is not blank."""
    first = next((indent_of(line) for line in lines if strip(line)), None)
    old, here = next(iter(_indents(pairs)), ("", ""))
    if first is None or first == old:
        return first is None
    return first == here or (first.startswith(here) and here.startswith(old)) or not first.startswith(old)


def _moved(indent: str, moves: Mapping[str, str]) -> str:
    if indent in moves:
        return moves[indent]
    known = [old for old in moves if indent.startswith(old)]
    if known:
        base = max(known, key=len)
        return moves[base] + _converted(indent[len(base) :], moves)
    nearest = min(moves, key=len)
    surplus = len(nearest) - len(indent)
    target = moves[nearest]
    return target[: max(0, len(target) - surplus)]


def _converted(blanks: str, moves: Mapping[str, str]) -> str:
    """Further indentation in the file's own characters, by the rate the known lines show."""
    for old, here in moves.items():
        if old and here and not set(old) & set(here) and len(set(here)) == 1:
            return here[0] * max(1, round(len(blanks) * len(here) / len(old))) if blanks else ""
    return blanks

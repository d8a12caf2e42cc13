"""The indentation of new lines, moved from where the model's old text stands to where the file's lines do."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from toolwright.edits.blanks import indent_of, strip
from toolwright.edits.indented import Pairs, indented, indents
from toolwright.text.diff import Changed


def reindented(lines: Sequence[str], pairs: Pairs, changes: Sequence[Changed] = ()) -> list[str]:
    """New lines moved from the indentation of the model's old text to the file's.

    They are left as they are when they already stand as the file does: a model that strays in the old text often
    writes the new one right. `changes` say which lines replace which pairs, where that is known: a line that is
    indented like the old one in its place then goes where that one is, even if all the old text was at the margin.
    """
    moves = _moves(pairs)
    if indented(lines, pairs) == "file":
        return list(lines)
    convert = _conversion(moves)
    if convert:
        return [convert(indent_of(line)) + line[len(indent_of(line)) :] if strip(line) else line for line in lines]
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
    """From the indentation of the lines replaced to the file's; where all are blank, of the deeper neighbour."""
    replaced = _filled(pairs[change.before_start : change.before_end])
    if not replaced:
        around = [*_filled(pairs[: change.before_start])[-1:], *_filled(pairs[change.before_end :])[:1]]
        replaced = sorted(around, key=lambda pair: -len(indent_of(pair[1]).expandtabs()))
    return _moves(replaced)


def _filled(pairs: Pairs) -> list[tuple[str, str]]:
    return [pair for pair in pairs if strip(pair[1])]


def _moves(pairs: Pairs) -> dict[str, str]:
    """From each indentation of the old text to the file's for it; the first line to have one decides."""
    moves: dict[str, str] = {}
    for old, here in indents(pairs):
        moves.setdefault(old, here)
    return moves


def _conversion(moves: Mapping[str, str]) -> Callable[[str], str] | None:
    """Tabs for spaces or spaces for tabs, if the known lines differ in nothing else."""
    if not any(old and old != here for old, here in moves.items()):
        return None
    ways = (partial(way, width=width) for width in range(1, 9) for way in (_tabs, _spaces))
    return next((way for way in ways if all(way(old) == here for old, here in moves.items())), None)


def _tabs(indent: str, width: int) -> str:
    return "\t" * (len(indent) // width) + " " * (len(indent) % width) if "\t" not in indent else indent


def _spaces(indent: str, width: int) -> str:
    return indent.replace("\t", " " * width)


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

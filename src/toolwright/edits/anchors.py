"""Uniqueness of the lines that a change concerns, where an old text has forgotten lines between them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from toolwright.edits.alignment import align
from toolwright.edits.blanks import BLANKS, strip
from toolwright.edits.merge import twins
from toolwright.edits.views import TextForms


def is_anchored(view: TextForms, old: Sequence[str], new: Sequence[str], here: Sequence[str]) -> bool:
    """Tell whether every run of lines that is changed, or added to, stands in the file just once.

    Lines remembered without those between them may as well be others that read the same. What is only kept may be
    any of them.
    """
    runs = list(_runs(old, here))
    if len(runs) < 2:
        return True
    heirs = {pair.line: pair.other for pair in align(old, new)}
    return all(
        _is_kept(first, last, old, new, heirs) or _is_single(view, here[start:end]) for first, last, start, end in runs
    )


def _runs(old: Sequence[str], here: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Lines of the old text, from first to last, that stand together in the file, from start up to end."""
    run: tuple[int, int, int, int] | None = None
    for number, twin in sorted(twins(old, here).items()):
        if run and twin.kind != "elided" and twin.start == run[3]:
            run = run[0], number, run[2], twin.end
            continue
        if run:
            yield run
        run = None if twin.kind == "elided" else (number, number, twin.start, twin.end)
    if run:
        yield run


def _is_kept(first: int, last: int, old: Sequence[str], new: Sequence[str], heirs: Mapping[int, int]) -> bool:
    """Tell whether the new text has these lines as they are, and nothing new between, before or after them."""
    places = [heirs.get(number) for number in range(first, last + 1)]
    above = heirs.get(first - 1) if first else -1
    below = heirs.get(last + 1) if last + 1 < len(old) else len(new)
    if above is None or below is None or places != list(range(above + 1, below)):
        return False
    mine = [line.rstrip(BLANKS) for line in old[first : last + 1]]
    return mine == [line.rstrip(BLANKS) for line in new[above + 1 : below]]


def _is_single(view: TextForms, lines: Sequence[str]) -> bool:
    return len(list(islice(view.find_lines("\n".join(map(strip, lines))), 2))) == 1

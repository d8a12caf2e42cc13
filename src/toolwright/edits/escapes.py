"""Backslash escapes that a text has too many of: which of them stand for what they mean, told by the file."""

import re
from collections.abc import Collection, Iterator, Sequence

from toolwright.edits.blanks import strip
from toolwright.edits.views import ESCAPE, TextForms, TextSpan, meaning_of
from toolwright.text.diff import changed_lines

MOST = 500
"""Escapes that an old text may have."""
_DOUBTFUL = 12
"""Escaped backslashes it may have: each may stand for one or for two."""
_NO_QUOTES = re.compile(r"\"\"\"|'''|(?<=\w)'(?=\w)|\\.", re.DOTALL)
"""Quotes that begin and end nothing within a line."""


def resolved(old: str, new: str, here: str) -> tuple[str, str] | None:
    """Old and new text with those escapes resolved that the lines of the file do not have; None where that is unclear.

    An escape of the new text that the old one has as well is treated as there; any other as all of its kind are there,
    unless it would break off a string.
    """
    mine, theirs = ESCAPE.split(old), ESCAPE.split(new)
    ways = _ways(mine, here)
    if ways is None:
        return None
    kinds = {
        letter: {way for other, way in zip(mine[1::2], ways, strict=True) if other == letter} for letter in mine[1::2]
    }
    kept = _kept(mine, theirs)
    chosen: list[bool] = []
    for number, letter in enumerate(theirs[1::2]):
        known = {ways[kept[number]]} if number in kept else kinds.get(letter, {False})
        if len(known) > 1:
            return None
        chosen += known
    added = [number for number, way in enumerate(chosen) if way and number not in kept]
    if any(_breaks_string(theirs, chosen, number) or _is_within_quotes(theirs, kept, number) for number in added):
        return None
    return _joined(mine, ways), _joined(theirs, chosen)


def partly_escaped(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """The text with some of its escapes resolved and others not."""
    pattern = _pattern(ESCAPE.split(wanted))
    if pattern is not None:
        yield from (TextSpan(*match.span()) for match in re.finditer(pattern, view.text))


def _ways(mine: Sequence[str], here: str) -> list[bool] | None:
    """For each escape of the old text, whether the file has what it means rather than the escape itself."""
    pattern = _pattern(mine)
    match = re.fullmatch(pattern, here) or re.fullmatch(pattern, strip(here)) if pattern else None
    return None if match is None else [group is not None for group in match.groups()]


def _pattern(pieces: Sequence[str]) -> str | None:
    """Return a pattern for the text with each escape resolved or not; None if there are none, or too many to try."""
    letters = pieces[1::2]
    if not letters or len(letters) > MOST or letters.count("\\") > _DOUBTFUL:
        return None
    parts = [re.escape(pieces[0])]
    for letter, text in zip(letters, pieces[2::2], strict=True):
        parts.append(f"(?:({re.escape(meaning_of(letter))})|{re.escape(chr(92) + letter)}){re.escape(text)}")
    return "".join(parts)


def _kept(mine: Sequence[str], theirs: Sequence[str]) -> dict[int, int]:
    """Return the escapes of the new text that are ones of the old text, by their numbers."""
    tokens, other = (_tokens(pieces) for pieces in (mine, theirs))
    kept: dict[int, int] = {}
    before = after = 0
    for change in [*changed_lines(tokens, other), (len(tokens), len(tokens), len(other), len(other))]:
        for step in range(change[0] - before):
            if (before + step) % 2:
                kept[(after + step) // 2] = (before + step) // 2
        before, after = change[1], change[3]
    return kept


def _tokens(pieces: Sequence[str]) -> list[str]:
    return [f"\\{piece}" if number % 2 else f" {piece}" for number, piece in enumerate(pieces)]


def _joined(pieces: Sequence[str], ways: Sequence[bool]) -> str:
    resolved_pieces = [pieces[0]]
    for letter, text, way in zip(pieces[1::2], pieces[2::2], ways, strict=True):
        resolved_pieces += [meaning_of(letter) if way else f"\\{letter}", text]
    return "".join(resolved_pieces)


def _breaks_string(pieces: Sequence[str], ways: Sequence[bool], number: int) -> bool:
    """Tell whether a line end, or a tab, that this escape stands for would come to lie within quotes."""
    if pieces[2 * number + 1] not in "ntr":
        return False
    head = _joined(pieces[: 2 * number + 1], ways[:number]).rpartition("\n")[2]
    tail = _joined(pieces[2 * number + 2 :], ways[number + 1 :]).partition("\n")[0]
    sides = [_NO_QUOTES.sub("", side) for side in (head, tail)]
    return any(all(side.count(quote) % 2 for side in sides) for quote in "\"'`")


def _is_within_quotes(pieces: Sequence[str], kept: Collection[int], number: int) -> bool:
    """Tell if an escape is between double quotes, in the text between the escapes that the old text has too."""
    if pieces[2 * number + 1] not in "ntr":
        return False
    before = max((other + 1 for other in kept if other < number), default=0)
    after = min((other for other in kept if other > number), default=len(pieces) // 2)
    sides = (pieces[2 * before : 2 * number + 1], pieces[2 * number + 2 : 2 * after + 1])
    return all(_NO_QUOTES.sub("", "".join(side[::2])).count('"') % 2 for side in sides)

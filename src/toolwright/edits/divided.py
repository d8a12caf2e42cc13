"""Edits whose texts leave lines out by marks: the parts between the marks, each replaced where it stands."""

from collections.abc import Sequence
from typing import NamedTuple

from toolwright.edits.blanks import strip
from toolwright.edits.elisions import is_elision
from toolwright.edits.fitting import Splice, fitted, lines_of
from toolwright.edits.places import find_places
from toolwright.edits.strategies import fills_lines
from toolwright.edits.views import TextForms, TextSpan


class _Part(NamedTuple):
    """Lines between two marks, before and after the change."""

    old: Sequence[str]
    new: Sequence[str]

    @property
    def is_changed(self) -> bool:
        return list(self.old) != list(self.new)

    @property
    def _end(self) -> str:
        """A blank line at the end is one only before a line end."""
        return "" if strip(self.old[-1]) else "\n"

    def places(self, view: TextForms) -> list[TextSpan]:
        """Return the places of its lines, as whole lines."""
        spans = find_places(view, "\n".join(self.old) + self._end, everywhere=False)[1]
        return [one for one in spans if fills_lines(view.text, TextSpan(one.start, one.end - _breaks(view.text, one)))]

    def fitted(self, text: str, place: TextSpan) -> list[Splice] | None:
        if not self.new:
            line_end = 0 if _breaks(text, place) else 2 if text.startswith("\r\n", place.end) else 1
            return [Splice(place.start, min(place.end + line_end, len(text)), "")]
        return fitted(text, place, "\n".join(self.old) + self._end, "\n".join(self.new) + self._end)


def splices_of_parts(view: TextForms, old: str, new: str) -> list[Splice] | None:
    """The changes of the parts that both texts have between the same marks; None where that may err.

    Each part that is changed must stand in the file just once, and all of them in their order.
    """
    splices: list[Splice] = []
    at = 0
    for part in _parts(old, new):
        if not any(map(strip, part.old)):
            if part.is_changed:
                return None  # lines that may go anywhere among those left out
            continue
        places = part.places(view)
        place = next((place for place in places if place.start >= at), None)
        if place is None or (part.is_changed and len(places) != 1):
            return None
        at = place.end
        if part.is_changed:
            fit = part.fitted(view.text, place)
            if fit is None:
                return None
            splices += fit
    return splices or None


def _parts(old: str, new: str) -> list[_Part]:
    """The parts that marks divide both texts into, where they have the same ones; none if they do not, or have none."""
    old_lines, new_lines = lines_of(old), lines_of(new)
    marks = [[strip(line) for line in lines if is_elision(line)] for lines in (old_lines, new_lines)]
    if not marks[0] or marks[0] != marks[1]:
        return []
    return [_Part(*sides) for sides in zip(_divided(old_lines), _divided(new_lines), strict=True)]


def _divided(lines: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in lines:
        if is_elision(line):
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def _breaks(text: str, place: TextSpan) -> int:
    """Return how many characters of a line end the place ends with."""
    end = text[place.start : place.end]
    return 2 if end.endswith("\r\n") else 1 if end.endswith("\n") else 0

"""Places of an old text: all that the strictest way of looking finds, if it finds any."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from toolwright.edits.blanks import BLANKS, strip
from toolwright.edits.escapes import partly_escaped
from toolwright.edits.strategies import (
    escape,
    exact,
    fills_lines,
    indentation,
    inside_lines,
    line_trimmed,
    respaced_lines,
    trimmed_boundary,
)
from toolwright.edits.views import TextForms, TextSpan

EVIDENT = 12
"""Characters that are not blank which a text needs to be trusted where it begins or ends inside a word."""
_LISTED = 100


def find_places(view: TextForms, wanted: str, *, everywhere: bool) -> tuple[str, list[TextSpan]]:
    """The strategy that found the text and the places, in order; no places if none did.

    Only blanks, line ends and escapes may differ. All places are told apart even if their text is the same, so more
    than one means that the wanted text is ambiguous. Unless they are all to be replaced, a hundred are enough.
    """
    most = None if everywhere else _LISTED
    places = list(islice(exact(view, wanted), most))
    if places:
        return "exact", _apart(places) if everywhere else places
    if not strip(wanted):
        return "exact", []
    for name, strategy in _TOLERANT.items():
        spans = (_settled(view.text, span) for span in strategy(view, wanted))
        places = _distinct(islice((span for span in spans if _is_evident(view.text, span)), most))
        if places:
            return name, _apart(places) if everywhere else places
    return "none", []


def _whitespace(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    yield from inside_lines(view, wanted, each=True)
    if "\n" in wanted:
        yield from respaced_lines(view, wanted)


def _escape(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    yield from escape(view, wanted)
    yield from partly_escaped(view, wanted)


_TOLERANT = {
    "line_trimmed": line_trimmed,
    "whitespace": _whitespace,
    "indentation": indentation,
    "escape": _escape,
    "trimmed_boundary": trimmed_boundary,
}


def _settled(text: str, span: TextSpan) -> TextSpan:
    """The span, widened to whole lines where only blanks stand beside it, always without a final carriage return."""
    if not fills_lines(text, span):
        return span
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    return TextSpan(start, end - 1 if end > start and text[end - 1] == "\r" else end)


def _is_evident(text: str, span: TextSpan) -> bool:
    """Tell whether a tolerant match may be trusted: it is long, or it does not cut a word in two."""
    if not _joins(text, span.start) and not _joins(text, span.end):
        return True
    return sum(character not in BLANKS for character in text[span.start : span.end]) >= EVIDENT


def _joins(text: str, place: int) -> bool:
    """Tell whether the characters before and after this place belong to one word."""
    return 0 < place < len(text) and _in_word(text[place - 1]) and _in_word(text[place])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _distinct(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """One span for each place: of two that lie in each other the first found stays."""
    places: list[TextSpan] = []
    for span in sorted(set(spans)):
        if places and (span.start == places[-1].start or span.end <= places[-1].end):
            continue
        places.append(span)
    return places


def _apart(spans: Sequence[TextSpan]) -> list[TextSpan]:
    """Those that do not overlap one before them."""
    places: list[TextSpan] = []
    for span in spans:
        if not places or span.start >= places[-1].end:
            places.append(span)
    return places

"""Nine ways an old text may be found, from exact to forgiving. View and wanted text in, candidate spans out.

Each yields what the reference's strategy of that name yields, in its order. Which candidate is taken, and whether
two of them make the text ambiguous, is not decided here.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from toolwright.edits.blanks import BLANKS, WORD, strip, words
from toolwright.edits.similarity import Effort, likeness
from toolwright.edits.views import TextForms, TextSpan, unescape

Strategy = Callable[[TextForms, str], Iterator[TextSpan]]
_BESIDE = frozenset(BLANKS) - {"\n"}

LIKE_ENOUGH = 0.3
"""Likeness that the middle of a block needs to the wanted one, where several blocks have the same ends."""


def exact(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """The text itself, overlapping occurrences too."""
    at = view.text.find(wanted)
    while at >= 0:
        yield TextSpan(at, at + len(wanted))
        at = view.text.find(wanted, at + 1)


def line_trimmed(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """Runs of lines equal to the wanted ones once each is stripped."""
    lines = wanted_lines(wanted)
    for place in view.find_lines("\n".join(map(strip, lines))):
        first = view.line_at(place)
        yield view.span(first, first + len(lines) - 1)


def block_anchor(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """The block between the wanted first and last line: the only one, or else the one with the likest middle."""
    if wanted.count("\n") < 2:
        return
    goal = [strip(line) for line in wanted_lines(wanted)]
    blocks = list(_blocks(view, goal))
    if len(blocks) == 1:
        yield view.span(blocks[0].first, blocks[0].last)
        return
    effort, best, chosen = Effort(), LIKE_ENOUGH, None
    for block in blocks:
        size = min(len(goal), block.last - block.first + 1)
        score = likeness(view.flat_lines(block.place, size)[1:-1], goal[1:-1], at_least=best, effort=effort)
        if score > best or (chosen is None and score >= best):
            best, chosen = score, block
    if chosen is not None:
        yield view.span(chosen.first, chosen.last)


def whitespace(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """Single lines, or parts of them, and runs of lines that differ from the wanted text only in their blanks."""
    yield from inside_lines(view, wanted, each=False)
    if "\n" in wanted:
        yield from respaced_lines(view, wanted)


def indentation(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """Runs of lines that equal the wanted ones when both are moved to the left margin."""
    lines = wanted.split("\n")
    goal = _to_margin(lines)
    for place in view.find_lines("\n".join(map(strip, lines))):
        first = view.line_at(place)
        span = view.span(first, first + len(lines) - 1)
        if _to_margin(view.text[span.start : span.end].split("\n")) == goal:
            yield span


def escape(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """The text that the wanted one stands for when its backslash escapes are resolved, or that resolves to it."""
    goal = unescape(wanted)
    yield from exact(view, goal)
    if "\\" in view.text:
        yield from _escaped_lines(view, goal)


def trimmed_boundary(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """The wanted text without the blanks around it, alone or as whole lines with blanks around."""
    core = strip(wanted)
    if core == wanted:
        return
    yield from exact(view, core)
    count = wanted.count("\n") + 1
    if not core:
        for place in view.find_lines("\n" * (count - 1)):
            first = view.line_at(place)
            yield view.span(first, first + count - 1)
        return
    for span in exact(view, core):
        if fills_lines(view.text, span):
            yield from _padded(view, view.line_of(span.start), view.line_of(span.end), count)


def context(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """Blocks of the same size between the same ends, with at least half of the lines between equal."""
    if wanted.count("\n") < 2:
        return
    goal = [strip(line) for line in wanted_lines(wanted)]
    for block in _blocks(view, goal):
        if block.last - block.first + 1 != len(goal):
            continue
        middle = zip(view.flat_lines(block.place, len(goal))[1:-1], goal[1:-1], strict=True)
        filled = [here == there for here, there in middle if here or there]
        if sum(filled) * 2 >= len(filled):
            yield view.span(block.first, block.last)


def multi_occurrence(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """The text itself, once for each place."""
    end = 0
    for span in exact(view, wanted):
        if span.start >= end:
            yield span
            end = span.end


STRATEGIES: Mapping[str, Strategy] = {
    function.__name__: function
    for function in (
        exact,
        line_trimmed,
        block_anchor,
        whitespace,
        indentation,
        escape,
        trimmed_boundary,
        context,
        multi_occurrence,
    )
}


def wanted_lines(wanted: str) -> list[str]:
    """The lines asked for; a final line break does not ask for an empty line after it."""
    lines = wanted.split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def inside_lines(view: TextForms, wanted: str, *, each: bool) -> Iterator[TextSpan]:
    """Parts of single lines that have the wanted words with other blanks between; whole lines where they fill one.

    The first part of a line, or each, overlapping ones too.
    """
    goal = words(wanted)
    if not goal:
        yield from _blank_lines(view)
        return
    if not view.may_have(goal):
        return
    line, counted = 0, 1
    part = _Part(view, goal)
    at = view.squeezed.find(goal)
    while at >= 0:
        line += view.squeezed.count("\n", counted, at)
        counted = at
        yield part.span(line, at)
        at = view.squeezed.find(goal, at + 1 if each else view.squeezed.index("\n", at))


def respaced_lines(view: TextForms, wanted: str) -> Iterator[TextSpan]:
    """Runs of as many lines as wanted that have the wanted words, however these are spread over the lines."""
    goal, count = words(wanted), wanted.count("\n") + 1
    if not goal:
        for place in view.find_lines("\n" * (count - 1)):
            first = view.line_at(place)
            yield view.span(first, first + count - 1)
        return
    if not view.may_have(goal):
        return
    size = goal.count(" ") + 1
    word = counted = 0
    at = view.words.find(f" {goal} ")
    while at >= 0:
        word += view.words.count(" ", counted, at)
        counted = at
        if view.begins_line(word) and view.begins_line(word + size):
            yield from _padded(view, view.line_of_word(word), view.line_of_word(word + size - 1), count)
        at = view.words.find(f" {goal} ", at + 1)


def fills_lines(text: str, span: TextSpan) -> bool:
    """Tell whether nothing but blanks stands beside the span on its first and last line."""
    start, end = span
    while start > 0 and text[start - 1] in _BESIDE:
        start -= 1
    while end < len(text) and text[end] in _BESIDE:
        end += 1
    return (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")


class _Block:
    """Lines between two that equal the wanted first and last."""

    __slots__ = ("first", "last", "place")

    def __init__(self, first: int, last: int, place: int) -> None:
        self.first = first
        self.last = last
        self.place = place
        """Of the first line, in the view's `flat`."""


def _blocks(view: TextForms, goal: list[str]) -> Iterator[_Block]:
    """For each line like the wanted first one, the block to the nearest line like the last, one or more between."""
    ends = view.lines_like(goal[-1])
    last = next(ends, None)
    for first, place in view.lines_like(goal[0]):
        while last is not None and last[0] < first + 2:
            last = next(ends, None)
        if last is None:
            return
        yield _Block(first, last[0], place)


def _blank_lines(view: TextForms) -> Iterator[TextSpan]:
    """Blank lines, and, for every other line, the empty text that a blank one is found in it as."""
    for line, _ in view.lines_like(""):
        yield view.span(line, line)
    yield TextSpan(0, 0)


class _Part:
    """The words found in the squeezed text, located in the text itself, place after place from left to right.

    The words of a line are counted once, however many places there are in it.
    """

    def __init__(self, view: TextForms, goal: str) -> None:
        self.view = view
        self.goal = goal
        *self.rest, self.tail = goal.split(" ")
        self.line: _Line | None = None

    def span(self, number: int, at: int) -> TextSpan:
        """The part of the line with this number that lies at a place of the squeezed text."""
        if self.line is None or self.line.number != number:
            self.line = _Line(self.view, number, at)
        line, squeezed = self.line, self.view.squeezed
        if line.size == len(self.goal):
            return line.whole
        line.skipped += squeezed.count(" ", line.counted, at)
        line.counted = at
        inside = at - max(squeezed.rfind(" ", line.begin, at) + 1, line.begin)
        start = line.first.start_of(line.skipped) + inside
        end = line.last.start_of(line.skipped + len(self.rest)) + len(self.tail) + (0 if self.rest else inside)
        return TextSpan(start, end)


class _Line:
    """A line, and how far its words have been counted."""

    def __init__(self, view: TextForms, number: int, at: int) -> None:
        self.number = number
        self.whole = view.span(number, number)
        self.begin = self.counted = view.squeezed.rfind("\n", 0, at) + 1
        self.size = view.squeezed.index("\n", at) - self.begin
        self.skipped = 0
        self.first, self.last = _Words(view.text, self.whole), _Words(view.text, self.whole)


class _Words:
    """The words of a part of a text, asked for in ascending order."""

    def __init__(self, text: str, span: TextSpan) -> None:
        self.found = WORD.finditer(text, span.start, span.end)
        self.number, self.start = -1, span.start

    def start_of(self, number: int) -> int:
        """Return where the word with this number, from 0, begins."""
        if number > self.number:
            self.start = next(islice(self.found, number - self.number - 1, None)).start()
            self.number = number
        return self.start


def _padded(view: TextForms, first: int, last: int, count: int) -> Iterator[TextSpan]:
    """Windows of this many lines that hold the given lines and otherwise only blank ones."""
    spare = count - (last - first + 1)
    if spare < 0:
        return
    above = below = 0
    while above < spare and first - above > 0 and view.is_blank(first - above - 1):
        above += 1
    while below < spare and last + below + 1 < view.line_count and view.is_blank(last + below + 1):
        below += 1
    for used in range(above, spare - below - 1, -1):
        yield view.span(first - used, first - used + count - 1)


def _escaped_lines(view: TextForms, goal: str) -> Iterator[TextSpan]:
    """Whole lines whose escapes resolve to the goal. A backslash that ends them stays what it is."""
    count = goal.count("\n") + 1
    for needle in (goal, goal[:-1]) if goal.endswith("\\") else (goal,):
        at = view.unescaped.find(needle)
        while at >= 0:
            first = view.line_of(view.source_of_unescaped(at))
            if first + count <= view.line_count:
                span = view.span(first, first + count - 1)
                if unescape(view.text[span.start : span.end]) == goal:
                    yield span
            at = view.unescaped.find(needle, at + 1)


def _to_margin(lines: list[str]) -> list[str]:
    """The lines moved left together as far as they go. Blank lines stay."""
    depths = [len(line) - len(line.lstrip(BLANKS)) for line in lines if strip(line)]
    depth = min(depths, default=0)
    return [line[depth:] if strip(line) else line for line in lines]

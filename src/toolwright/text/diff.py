"""Differences of two texts: unified for people, short for models, counted; in bounded time.

The equal head and tail are cut off first, so a small change in a large text costs what the change costs. The rest
is compared exactly while that is cheap, then between lines that occur once in both, then not at all.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from toolwright.record import record

CONTEXT = 4
"""Unchanged lines shown around a change."""
SHORT_CONTEXT = 2
SHORT_LINES = 40
SHORT_WIDTH = 200
_EXACT = 100_000_000
"""Pairs of lines up to which two lists are compared exactly. It takes an eighth as many bytes, and about 30 ms."""


class Changed(NamedTuple):
    """Lines that differ: those from `before_start` up to `before_end` became those from `after_start` on."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int


def unified(path: str, before: str, after: str) -> str:
    """A unified diff with the header that patch tools and the reference's clients expect; empty if nothing changed."""
    return compare(before, after).unified(path)


def counts(before: str, after: str) -> tuple[int, int]:
    """Return the numbers of lines added and removed."""
    diff = compare(before, after)
    return diff.additions, diff.deletions


def short(before: str, after: str) -> str:
    """The changed lines with their numbers and a little around them, cut to what is worth a model's attention."""
    return compare(before, after).short()


@record(frozen=True, slots=True, kw_only=True)
class Diff:
    """The part of two texts that differs, with some equal lines on both sides, and where in it the changes are."""

    first_line: int
    """Number, from 1, of the first line of the part, the same in both texts."""
    before: Sequence[str]
    after: Sequence[str]
    """The lines of the part with their line breaks."""
    changes: Sequence[Changed]

    @property
    def additions(self) -> int:
        return sum(change.after_end - change.after_start for change in self.changes)

    @property
    def deletions(self) -> int:
        return sum(change.before_end - change.before_start for change in self.changes)

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and last changed line of the new text, from 1; where lines were only removed, those around."""
        if not self.changes:
            return None
        start = self.first_line + self.changes[0].after_start
        return start, max(start, self.first_line + self.changes[-1].after_end - 1)

    def unified(self, path: str) -> str:
        if not self.changes:
            return ""
        parts = [f"Index: {path}\n", "=" * 67 + "\n", f"--- {path}\n", f"+++ {path}\n"]
        parts += (text for text, _ in self.hunks())
        return "".join(parts)

    def hunks(self) -> Iterator[tuple[str, Sequence[Changed]]]:
        """The pieces of the unified form: each as its text, and the changes in it."""
        for hunk in self._hunks(CONTEXT):
            text = "".join(_printed(mark, line) for mark, _, line in self._marked(hunk))
            yield self._header(hunk) + text, hunk

    def short(self) -> str:
        hunks = list(self._hunks(SHORT_CONTEXT))
        lines = list(islice(self._numbered(hunks), SHORT_LINES))
        length = sum(hunk[-1].before_end - hunk[0].before_start for hunk in hunks) + self.additions + len(hunks) - 1
        if length > SHORT_LINES:
            lines.append(f"({length - SHORT_LINES} more lines of the difference are left out)")
        return "\n".join(lines)

    def _numbered(self, hunks: Sequence[Sequence[Changed]]) -> Iterator[str]:
        for number, hunk in enumerate(hunks):
            if number:
                yield "..."
            for mark, line, text in self._marked(hunk):
                yield f"{line:>5} {mark} {_cut(text)}"

    def _hunks(self, context: int) -> Iterator[Sequence[Changed]]:
        """Changes that stand so near to each other that the lines shown around them would meet."""
        hunk: list[Changed] = []
        for change in self.changes:
            if hunk and change.before_start - hunk[-1].before_end > 2 * context:
                yield _widened(hunk, context, len(self.before))
                hunk = []
            hunk.append(change)
        if hunk:
            yield _widened(hunk, context, len(self.before))

    def _header(self, hunk: Sequence[Changed]) -> str:
        top, bottom = hunk[0], hunk[-1]
        before = _range(self.first_line + top.before_start, bottom.before_end - top.before_start)
        after = _range(self.first_line + top.after_start, bottom.after_end - top.after_start)
        return f"@@ -{before} +{after} @@\n"

    def _marked(self, hunk: Sequence[Changed]) -> Iterator[tuple[str, int, str]]:
        """The lines of a hunk: mark, number (in the new text, for removed lines in the old one), text."""
        at = hunk[0]
        before, after = at.before_start, at.after_start
        for change in hunk:
            for offset in range(change.before_start - before):
                yield " ", self.first_line + after + offset, self.before[before + offset]
            for number in range(change.before_start, change.before_end):
                yield "-", self.first_line + number, self.before[number]
            for number in range(change.after_start, change.after_end):
                yield "+", self.first_line + number, self.after[number]
            before, after = change.before_end, change.after_end


def compare(before: str, after: str, *, head: int | None = None, tail: int | None = None) -> Diff:
    """Return the differences. A caller who knows the length of the equal ends may give it and save the search."""
    if head is None:
        head = _equal_head(before, after)
    if tail is None:
        tail = _equal_tail(before, after, min(len(before), len(after)) - head)
    start = _lines_back(before, before.rfind("\n", 0, head) + 1, CONTEXT)
    at_line_start = _starts_line(before, len(before) - tail) and _starts_line(after, len(after) - tail)
    before_end = _lines_on(before, len(before) - tail, CONTEXT if at_line_start else CONTEXT + 1)
    after_end = len(after) - (len(before) - before_end)
    old, new = split_lines(before[start:before_end]), split_lines(after[start:after_end])
    return Diff(first_line=before.count("\n", 0, start) + 1, before=old, after=new, changes=changed_lines(old, new))


def split_lines(text: str) -> list[str]:
    """The lines with their line breaks, broken at line feeds only."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def changed_lines(before: Sequence[str], after: Sequence[str]) -> list[Changed]:
    """Where two lists of lines differ; the fewest lines possible unless the lists are very large."""
    head, most = 0, min(len(before), len(after))
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    inner = _changes(before[head : len(before) - tail], after[head : len(after) - tail])
    return [Changed(a + head, b + head, c + head, d + head) for a, b, c, d in inner]


def _changes(before: Sequence[str], after: Sequence[str]) -> list[Changed]:
    size = len(before) * len(after)
    if not size:
        return [Changed(0, len(before), 0, len(after))] if before or after else []
    if size <= _EXACT:
        return _joined(_kept_by_shorter(before, after), len(before), len(after))
    return _between_anchors(before, after)


def _kept_by_shorter(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """The same either way round; but the numbers are as long as the first list, and cost grows with its square."""
    if len(before) <= 4 * len(after):
        return _kept(before, after)
    return [(i, j) for j, i in _kept(after, before)]


def _kept(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal lines in order, as many as there can be.

    The table of longest common subsequences, one row for each line of `after`, with a bit for each line of `before`
    that is 0 where the row grows by one. A whole row is worked out by a few operations on one large number.
    """
    matches: dict[str, int] = {}
    for number, line in enumerate(before):
        matches[line] = matches.get(line, 0) | 1 << number
    row = every = (1 << len(before)) - 1
    rows = []
    for line in after:
        both = row & matches.get(line, 0)
        row = (row + both | row - both) & every
        rows.append(row)
    kept = []
    i, j = len(before), len(after)
    while i and j:
        if rows[j - 1] >> i - 1 & 1:
            i -= 1
            continue
        j -= 1
        if not j or rows[j - 1] >> i - 1 & 1:
            i -= 1
            kept.append((i, j))
    return kept[::-1]


def _between_anchors(before: Sequence[str], after: Sequence[str]) -> list[Changed]:
    """Compare piece by piece between lines that occur once on both sides; a piece still too large is one change."""
    changes: list[Changed] = []
    start, other = 0, 0
    for anchor, match in [*_anchors(before, after), (len(before), len(after))]:
        piece, counterpart = before[start:anchor], after[other:match]
        if len(piece) * len(counterpart) <= _EXACT:
            pieces = changed_lines(piece, counterpart)
        else:
            pieces = [Changed(0, len(piece), 0, len(counterpart))]
        changes.extend(Changed(a + start, b + start, c + other, d + other) for a, b, c, d in pieces)
        start, other = anchor + 1, match + 1
    return changes


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once on each side, in the longest row that has the same order on both."""
    from bisect import bisect_left
    from collections import Counter

    once = {line for line, count in Counter(before).items() if count == 1}
    twins = {line for line, count in Counter(after).items() if count == 1} & once
    places = {line: number for number, line in enumerate(after) if line in twins}
    ends: list[int] = []
    tops: list[int] = []
    links: list[tuple[int, int, int]] = []
    for number, line in enumerate(before):
        if line not in places:
            continue
        place = places[line]
        pile = bisect_left(ends, place)
        links.append((number, place, tops[pile - 1] if pile else -1))
        ends[pile : pile + 1] = [place]
        tops[pile : pile + 1] = [len(links) - 1]
    row: list[tuple[int, int]] = []
    link = tops[-1] if tops else -1
    while link >= 0:
        number, place, link = links[link]
        row.append((number, place))
    return row[::-1]


def _joined(kept: Sequence[tuple[int, int]], before: int, after: int) -> list[Changed]:
    """Return the text between the lines kept."""
    changes, i, j = [], 0, 0
    for keep, twin in [*kept, (before, after)]:
        if keep > i or twin > j:
            changes.append(Changed(i, keep, j, twin))
        i, j = keep + 1, twin + 1
    return changes


def _widened(hunk: list[Changed], context: int, last: int) -> Sequence[Changed]:
    """The hunk with empty changes at its two ends that bring in the lines around."""
    top, bottom = hunk[0], hunk[-1]
    above = min(context, top.before_start)
    below = min(context, last - bottom.before_end)
    start = Changed(
        top.before_start - above, top.before_start - above, top.after_start - above, top.after_start - above
    )
    end = Changed(
        bottom.before_end + below, bottom.before_end + below, bottom.after_end + below, bottom.after_end + below
    )
    return [start, *hunk, end]


def _range(start: int, count: int) -> str:
    """Lines as a hunk header writes them; an empty range names the line before it."""
    start = start if count else start - 1
    return f"{start},{count}" if count != 1 else str(start)


def _printed(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _cut(line: str) -> str:
    line = line.rstrip("\r\n")
    return line if len(line) <= SHORT_WIDTH else f"{line[:SHORT_WIDTH]}..."


def _equal_head(before: str, after: str) -> int:
    """Return the length of the common beginning, by comparing ever larger pieces, then ever smaller ones."""
    end = min(len(before), len(after))
    start, step = 0, 1024
    while start < end and before[start : start + step] == after[start : start + step]:
        start += step
        step *= 2
    start = min(start, end)
    while step and start < end:
        size = min(step, end - start)
        if before[start : start + size] == after[start : start + size]:
            start += size
        step //= 2
    return start


def _equal_tail(before: str, after: str, most: int) -> int:
    """Return the length of the common end, at most so much."""
    length, step = 0, 1024

    def equal(count: int) -> bool:
        size = min(count, most - length)
        left, right = len(before) - length, len(after) - length
        return before[left - size : left] == after[right - size : right]

    while length < most and equal(step):
        length += step
        step *= 2
    length = min(length, most)
    while step and length < most:
        if equal(step):
            length = min(length + step, most)
        step //= 2
    return length


def _lines_back(text: str, start: int, count: int) -> int:
    """The start of the line so many lines above the one that starts here."""
    for _ in range(count):
        if start == 0:
            break
        start = text.rfind("\n", 0, start - 1) + 1
    return start


def _lines_on(text: str, place: int, count: int) -> int:
    """The end of the last of so many lines, the one that holds this place being the first."""
    for _ in range(count):
        end = text.find("\n", place)
        if end < 0:
            return len(text)
        place = end + 1
    return place


def _starts_line(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == "\n"

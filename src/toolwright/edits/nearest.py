"""For an old text that was not found: what in the file comes nearest, and in which characters it differs."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from toolwright.edits.blanks import strip
from toolwright.edits.folding import plain
from toolwright.edits.strategies import wanted_lines
from toolwright.edits.views import TextForms
from toolwright.text.diff import changed_lines

TRIED = (
    "exactly; with each line stripped; with other blanks, line ends or indentation; with escapes resolved; without the "
    "blanks around it; as a block with the same first and last line"
)
_REGIONS = 3
_SHOWN = 12
_NOTES = 6
_WIDTH = 160
_PIECE = 60
_HITS = 30
_COMPARED = 2_000
_LIKE_ENOUGH = 50.0
_NAME = re.compile(r"\w{4,}")


def describe_miss(view: TextForms, wanted: str) -> str:
    """Describe what was tried, and up to three regions like the wanted text with what differs in them."""
    regions = _nearest(view, wanted)
    if not regions:
        return f"oldString is not in the file, and nothing is like it. Tried {TRIED}. Read the file and copy from it."
    nearest = "\n".join(_render_region(view, wanted, first, last) for first, last in regions)
    return (
        f"oldString is not in the file. Tried {TRIED}.\nNearest:\n{nearest}\n"
        "Copy oldString from these lines (without the numbers) and try again."
    )


def describe_collision(view: TextForms, wanted: str, first: int, last: int) -> str:
    """Why a change could not be carried over to the block that is meant."""
    return (
        "oldString is not in the file as given, and the lines that differ are those newString changes, or beside "
        f"them, so they were left alone.\nNearest:\n{_render_region(view, wanted, first, last)}\n"
        "Copy oldString from these lines (without the numbers) and try again."
    )


def listed_lines(lines: Sequence[int]) -> str:
    """Line numbers from 1, the first twenty of them."""
    numbers = ", ".join(str(line + 1) for line in lines[:20])
    return f"{numbers} and more" if len(lines) > 20 else numbers


def _nearest(view: TextForms, wanted: str) -> list[tuple[int, int]]:
    """First and last line of the regions most like the wanted text, the likest first."""
    from rapidfuzz.fuzz import ratio

    goal = [strip(line) for line in wanted_lines(wanted)]
    joined = "\n".join(goal)[:_COMPARED]
    scored: dict[int, float] = {}
    for start in _starts(view, goal):
        first = min(max(start, 0), view.line_count - 1)
        if any(abs(first - other) < len(goal) for other in scored):
            continue
        size = min(len(goal), view.line_count - first)
        block = "\n".join(view.flat_lines(view.flat_start(first), size))[:_COMPARED]
        score = ratio(joined, block, score_cutoff=_LIKE_ENOUGH)
        if score:
            scored[first] = score
    best = sorted(scored, key=lambda first: (-scored[first], first))[:_REGIONS]
    return [(first, min(first + len(goal), view.line_count) - 1) for first in best]


def _starts(view: TextForms, goal: Sequence[str]) -> Iterator[int]:
    """Lines where a region may begin: first by lines that are in the file, most telling first, then by likeness."""
    votes: Counter[int] = Counter()
    telling = sorted(range(len(goal)), key=lambda number: -len(goal[number]))
    for number in telling[:_HITS]:
        if len(goal[number]) > 3:
            for line, _ in islice(view.lines_like(goal[number]), _HITS):
                votes[line - number] += len(goal[number])
    yield from (start for start, _ in votes.most_common(2 * _REGIONS))
    for number in telling[:_REGIONS]:
        yield from (line - number for line in _like(view, goal[number]))


def _like(view: TextForms, wanted: str) -> list[int]:
    """Lines like this one, among those that share one of its longest words."""
    from rapidfuzz.fuzz import ratio

    scored: dict[int, float] = {}
    for word in sorted(set(_NAME.findall(wanted)), key=lambda word: (-len(word), word))[:6]:
        at, hits = view.flat.find(word), 0
        while at >= 0 and hits < _HITS:
            line, hits = view.line_at(at), hits + 1
            start = view.flat.rfind("\n", 0, at) + 1
            end = view.flat.index("\n", at)
            if line not in scored:
                scored[line] = ratio(wanted[:_COMPARED], view.flat[start : min(end, start + _COMPARED)])
            at = view.flat.find(word, end)
    return sorted(scored, key=lambda line: -scored[line])[:_REGIONS]


def _render_region(view: TextForms, wanted: str, first: int, last: int) -> str:
    """The region with line numbers, and below it what differs, line by line."""
    span = view.span(first, last)
    here = [line.removesuffix("\r") for line in view.text[span.start : span.end].split("\n")]
    asked = [line.removesuffix("\r") for line in wanted_lines(wanted)]
    notes = list(islice(_differences(asked, here, first), _NOTES + 1))
    lines = [f"{number:>5}  {_cut(line)}" for number, line in enumerate(here[:_SHOWN], first + 1)]
    if len(here) > _SHOWN:
        lines.append(f"       (and on to line {last + 1})")
    lines += [f"  - {note}" for note in notes[:_NOTES]]
    if len(notes) > _NOTES:
        lines.append("  - and more")
    return "\n".join(lines)


def _differences(asked: Sequence[str], here: Sequence[str], first: int) -> Iterator[str]:
    for change in changed_lines([strip(line) for line in asked], [strip(line) for line in here]):
        old = asked[change.before_start : change.before_end]
        new = here[change.after_start : change.after_end]
        number = first + change.after_start + 1
        for offset, (mine, its) in enumerate(zip(old, new, strict=False)):
            yield f"line {number + offset}: {_difference(strip(mine), strip(its))}"
        for mine in old[len(new) :]:
            yield f"before line {number + len(new)}: oldString has {_line(strip(mine))}, the file does not"
        for offset, its in enumerate(new[len(old) :], len(old)):
            yield f"line {number + offset}: oldString lacks {_line(strip(its))}"


def _difference(mine: str, its: str) -> str:
    """Say where two lines part, and what each has there."""
    start = _equal(mine, its)
    end = _equal(mine[start:][::-1], its[start:][::-1])
    old, new = mine[start : len(mine) - end], its[start : len(its) - end]
    if plain(mine) == plain(its):
        return f"only look-alike characters differ: oldString has {_points(old)}, the file {_points(new)}"
    around = its[max(0, start - 10) : start]
    after = f" after {_quoted(around)}" if around else ""
    return f"{after.strip() or 'at its start'} oldString has {_quoted(old)}, the file {_quoted(new)}"


def _equal(mine: str, its: str) -> int:
    most = min(len(mine), len(its))
    return next((number for number in range(most) if mine[number] != its[number]), most)


def _points(text: str) -> str:
    named = ", ".join(f"U+{ord(character):04X}" for character in text[:4])
    return f"{_quoted(text)} ({named})" if text else "nothing"


def _line(text: str) -> str:
    return _quoted(text) if text else "a blank line"


def _quoted(text: str) -> str:
    if not text:
        return "nothing"
    return json.dumps(text if len(text) <= _PIECE else f"{text[:_PIECE]}...", ensure_ascii=False)


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}..."

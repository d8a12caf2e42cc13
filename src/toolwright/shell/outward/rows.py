"""The row of a program's data that fits a call best, and the meaning of its verbs where none does."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from toolwright.calls.acts import RANKS, ActClass
from toolwright.record import record
from toolwright.shell.outward.table import ProgramRow, ProgramSection, verbs
from toolwright.shell.outward.words import GivenOption, Words

REMOTE = re.compile(r"[^/\s]+:(?!$)|[a-z][a-z0-9+.-]*://|[^/\s]+:$")
"""A place elsewhere, as programs that copy write it."""
_DEEPEST = 6
"""Among how many operands a verb is looked for."""
_OPTION = 2
"""The weight of an option, in words: `rsync -d` is more than where to."""
_VERSION = ("--version",)
_PARTS = re.compile(r"[-_.]|(?<=[a-z])(?=[A-Z])")


@record(frozen=True, slots=True, kw_only=True)
class Fit:
    """The class of a call by its words, and those words."""

    kind: ActClass
    words: tuple[str, ...] = ()


def by_rows(program: ProgramSection, words: Words, *, fed: bool) -> Fit | None:
    """The row that says most, the strictest of equals; over all ways to read the options, the strictest."""
    fits = [fit for reading in words.readings() if (fit := _best(program, reading, fed=fed)) is not None]
    return max(fits, key=lambda fit: RANKS[fit.kind], default=None)


def by_verbs(program: ProgramSection, words: Words) -> Fit | None:
    """Judge by the subcommand's own words; None where they say nothing."""
    fits = [fit for reading in words.readings() if (fit := _verb(program, reading)) is not None]
    return max(fits, key=lambda fit: RANKS[fit.kind], default=None)


def _best(program: ProgramSection, words: Words, *, fed: bool) -> Fit | None:
    best, key = None, (-1.0, 0)
    for row in program.rows:
        if row.options == _VERSION and not row.operands and words.operands:
            # Behind a subcommand it says which version that is about.
            continue
        if (row.fed and not fed) or not all(fits_option(one, words.options) for one in row.options):
            continue
        end = _end(row.operands, words.operands, any_case=program.has("any-case"))
        if end < 0:
            continue
        score = _OPTION * len(row.options) + row.fed + sum(map(_weight, row.operands))
        this = (score, RANKS[row.kind])
        if this > key:
            best, key = Fit(kind=row.kind, words=(*words.operands[:end], *_named(row, words.options))), this
    return best


def _named(row: ProgramRow, options: Sequence[GivenOption]) -> Iterator[str]:
    """The options that the row is about, as they were given."""
    for part in row.options:
        yield from [one.name for one in options if fits_option(part, [one])][:1]


def _weight(part: str) -> float:
    """Return the weight of a part: a word more than a wildcard."""
    return 0.0 if part in ("*", "..") else 0.5 if part == "$" else 0.9 if "*" in part else 1.0


def _end(parts: Sequence[str], operands: Sequence[str], *, any_case: bool) -> int:
    """Count the operands that the parts take up; -1 if they do not fit."""
    if parts == ("*",):
        return 0
    place = 0
    for number, part in enumerate(parts):
        if part == "$":
            return place if place == len(operands) else -1
        if part == "..":
            rest = parts[number + 1 :]
            ends = (_end(rest, operands[start:], any_case=any_case) for start in range(place, len(operands)))
            return next((start + end for start, end in enumerate(ends, place) if end >= 0), -1)
        if place == len(operands) or not _fits(part, operands[place], any_case=any_case):
            return -1
        place += 1
    return place


def _fits(part: str, operand: str, *, any_case: bool) -> bool:
    if part == "@remote":
        return REMOTE.match(operand) is not None
    text = operand.lower() if any_case else operand
    return any(fnmatchcase(text, one) for one in part.split("|"))


def fits_option(part: str, options: Sequence[GivenOption]) -> bool:
    """Tell whether one of the options is meant: `-a|--all`, or with a value, `-m=ping|setup`."""
    name, equals, values = part.partition("=")
    if equals and "|" not in name:
        return any(
            fnmatchcase(one.name, name) and any(fnmatchcase(one.value or "", value) for value in values.split("|"))
            for one in options
        )
    return any(fnmatchcase(one.name, name) for name in part.split("|") for one in options)


def _verb(program: ProgramSection, words: Words) -> Fit | None:
    table = verbs()
    path = program.listed("path")
    limit = _DEEPEST if not path else words.leading if path[0] == "leading" else int(path[0])
    operands = words.operands[: min(limit or _DEEPEST, _DEEPEST)]
    if operands and (kind := table.first.get(operands[0])):
        return Fit(kind=kind, words=operands[:1])
    for place, operand in enumerate(operands, 1):
        verb = operand.rpartition(":")[2]
        parts = _PARTS.split(verb.lower() if "-" in verb or "_" in verb else verb)
        for word in (verb, parts[0].lower(), parts[-1].lower()):
            if kind := table.any.get(word):
                return Fit(kind=kind, words=operands[:place])
    named = next((kind for one in operands if (kind := table.last.get(one))), None)
    return Fit(kind=named, words=operands[:1]) if named is not None else None
